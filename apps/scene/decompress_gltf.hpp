// Decompression of glTF meshes: EXT_meshopt_compression and KHR_draco_mesh_compression.

#pragma once

#include "parse_gltf.hpp"

#include <nlohmann/json.hpp>

namespace quadtile::baker {

// Returns the file with bytes for the buffers that only programs without EXT_meshopt_compression
// read, and with buffer views for indices that Draco compresses, because tinygltf refuses files
// without them.
[[nodiscard]] std::string with_placeholders(std::string file);

// Decompresses the meshes. The model then has one buffer, and no compressed views or primitives.
// Throws std::runtime_error.
void decompress(const std::filesystem::path& path, tinygltf::Model& model);

// Updates the file's JSON to the decompressed model.
void drop_compression(nlohmann::ordered_json& json, const tinygltf::Model& model);

}  // namespace quadtile::baker
