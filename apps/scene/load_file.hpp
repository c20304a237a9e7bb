// Common parts of the readers of scene files.

#pragma once

#include "load_scene.hpp"

#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace quadtile::baker {

using app::counted;

// A scene as its file has it. All indices are in range; nothing else is checked. Arrays by vertex
// have one length: positions (not those of the scene), normals (0: none), texture_coordinates, and
// light_map_coordinates unless they are empty.
struct FileScene : LoadedScene {
    // Places before they are rounded to floats: of vertices, of point lights, and of the camera and
    // its target. Those of the scene are not set.
    std::vector<glm::dvec3> positions;
    std::vector<glm::dvec3> light_positions;
    std::array<glm::dvec3, 2> camera{};
    double grid = 0.0;  // greatest distance of neighbouring coordinates that the file can express

    // Adds the texture of a picture. Returns its number; nothing, with a warning, for one that
    // cannot be decoded.
    std::optional<std::uint32_t> add_texture(std::string_view picture, const std::string& name);
    // Returns the number of the material of what has none.
    std::uint32_t default_material();
    // Warns "2 triangles left out", unless the count is 0.
    void warn(std::size_t count, const std::string& thing, const std::string& rest);

 private:
    std::optional<std::uint32_t> default_material_;
};

// Returns the distance of floats as large as the greatest coordinate; 0 if it is not finite.
[[nodiscard]] inline double float_grid(const glm::dvec3& point) {
    const double size = std::max({std::abs(point.x), std::abs(point.y), std::abs(point.z)});
    return std::isfinite(size) ? size * 0x1p-24 : 0.0;
}

// Reads a file. `path` is for messages, and for the files that the file names.
[[nodiscard]] FileScene read_gltf(const std::filesystem::path& path, std::string bytes,
                                  LightMapCoordinates coordinates, bool keeps_file);
[[nodiscard]] FileScene read_obj(const std::filesystem::path& path, const std::string& bytes,
                                 LightMapCoordinates coordinates);

// Returns the text without space at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Decodes % with two hexadecimal digits. Everything else stays.
[[nodiscard]] std::string percent_decoded(std::string_view text);

// Returns the file beside the scene with this name as it is written, else with the decoded one.
[[nodiscard]] std::filesystem::path named_file(const std::filesystem::path& scene,
                                               const std::string& name);

// Returns a file's bytes; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_bytes(const std::filesystem::path& path);

// Throws std::runtime_error.
[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why);

}  // namespace quadtile::baker
