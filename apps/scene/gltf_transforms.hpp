// Transforms of a glTF file: of nodes, instances and textures. All functions throw
// std::runtime_error with the file and the place in it.

#pragma once

#include "parse_gltf.hpp"

#include <glm/glm.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::baker {

// Returns the transform from a node's space to its parent's.
[[nodiscard]] glm::dmat4 local_transform(const std::filesystem::path& path,
                                         const tinygltf::Node& node, const std::string& name);

// Returns the transforms of a node's mesh by EXT_mesh_gpu_instancing, in the node's space; default:
// the identity, once.
[[nodiscard]] std::vector<glm::dmat4> instances(const std::filesystem::path& path,
                                                const tinygltf::Model& model,
                                                const tinygltf::Node& node,
                                                const std::string& name);

// Returns KHR_texture_transform as three.js and Cesium read it: coordinates are scaled, then turned
// by an angle that counts from +v (down) to +u, then moved.
[[nodiscard]] glm::mat3x2 texture_transform(const std::filesystem::path& path,
                                            const tinygltf::TextureInfo& info,
                                            const std::string& material);

}  // namespace quadtile::baker
