// Materials of glTF files.

#pragma once

#include "parse_gltf.hpp"

#include <map>
#include <string>
#include <utility>

namespace quadtile::baker {

// Reads the materials of a file, with their textures, into the scene, in their order. Warns of what
// changes light and is not read. Throws std::runtime_error.
class GltfMaterials {
 public:
    GltfMaterials(const std::filesystem::path& path, const tinygltf::Model& model, FileScene& file)
        : path_(path), model_(model), file_(file) {}

    void read();
    // Returns the only set of texture coordinates that a primitive's textures use.
    [[nodiscard]] int texture_set(const tinygltf::Primitive& primitive);
    void warn_of_what_is_ignored();

 private:
    std::optional<std::uint32_t> texture(int index);
    void take_off_metal(const tinygltf::Material& from, Material& material);
    void read_transmission(const tinygltf::Material& from, Material& material);

    const std::filesystem::path& path_;
    const tinygltf::Model& model_;
    FileScene& file_;
    std::map<int, std::optional<std::uint32_t>> pictures_;  // their textures
    // Textures of the base colour without the metal of another one, by these and its factor.
    std::map<std::tuple<std::optional<std::uint32_t>, std::uint32_t, float>, std::uint32_t> metals_;
    std::map<std::string, std::size_t> ignored_;  // extensions: their materials
    std::size_t metallic_ = 0;
    std::size_t mean_metal_ = 0;
    std::size_t transmitting_ = 0;
    std::size_t two_sets_ = 0;
};

}  // namespace quadtile::baker
