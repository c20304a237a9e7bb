// What the readers of scene files share.

#pragma once

#include "load_scene.hpp"

#include <span>

namespace quadtile::baker {

// A scene as its file has it. All indices are in range; nothing else is checked.
struct FileScene {
    // Of one length by vertex: positions, normals (0: none), texture_coordinates; and
    // light_map_coordinates, unless there are none.
    Scene scene;

    std::vector<std::string> warnings;
    std::vector<std::filesystem::path> files;  // as LoadedScene has them
    std::string generator;                     // as LoadedScene has it

    // The number of a picture among the textures; none, and a warning, where it was not decoded.
    std::optional<std::uint32_t> add_texture(std::optional<Texture> decoded,
                                             const std::string& name);
    // "2 triangles left out", unless there are none.
    void warn(std::size_t count, const std::string& thing, const std::string& rest);
};

// `path` is for messages, and for the files that the file names.
[[nodiscard]] FileScene read_gltf(const std::filesystem::path& path, std::string bytes,
                                  LightMapCoordinates coordinates);
[[nodiscard]] FileScene read_obj(const std::filesystem::path& path, const std::string& bytes,
                                 LightMapCoordinates coordinates);

// PNG, JPEG and what else stb reads; nothing, if it is none of them or damaged.
[[nodiscard]] std::optional<Texture> decode_picture(std::span<const unsigned char> bytes);

// Nothing, if it cannot be read.
[[nodiscard]] std::optional<std::string> read_bytes(const std::filesystem::path& path);

// Throws std::runtime_error.
[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why);

// "1 triangle", "2 triangles"
[[nodiscard]] std::string counted(std::size_t count, const std::string& thing);

}  // namespace quadtile::baker
