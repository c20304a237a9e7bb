// A glTF file as tinygltf has it, without its pictures; pictures; and what lies in its buffers.

#pragma once

// The implementation, with that of stb_image, is in tinygltf's library.
#include <tiny_gltf.h>

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::baker {

// Adds to `warnings`, and to `files` the files that the file names. Throws std::runtime_error.
[[nodiscard]] tinygltf::Model parse_gltf(const std::filesystem::path& path, std::string bytes,
                                         std::vector<std::string>& warnings,
                                         std::vector<std::filesystem::path>& files);

// Where an accessor's elements are; in range.
struct Elements {
    const unsigned char* data = nullptr;
    std::size_t stride = 0;
    std::size_t count = 0;
    int component_type = 0;
    bool normalized = false;
};

// A component of an element; 0 to 1, or -1 to 1, if they are normalized.
[[nodiscard]] double component(const Elements& from, std::size_t element, std::size_t index);

}  // namespace quadtile::baker
