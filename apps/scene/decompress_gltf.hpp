// glTF files whose meshes are compressed: EXT_meshopt_compression and KHR_draco_mesh_compression.

#pragma once

#include "parse_gltf.hpp"

#include <nlohmann/json.hpp>

namespace quadtile::baker {

// The file with bytes for the buffers that only programs without EXT_meshopt_compression read, and
// with buffer views for indices that Draco compresses: tinygltf refuses files without.
[[nodiscard]] std::string with_placeholders(std::string file);

// Decompresses the meshes: the model has one buffer then, and no compressed views or primitives.
// Throws std::runtime_error.
void decompress(const std::filesystem::path& path, tinygltf::Model& model);

// Makes the file's JSON that of the model, which has been decompressed.
void drop_compression(nlohmann::ordered_json& json, const tinygltf::Model& model);

}  // namespace quadtile::baker
