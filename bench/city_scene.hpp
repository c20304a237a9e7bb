// A large scene that is made, not loaded.

#pragma once

#include "scene.hpp"

#include <cstdint>
#include <filesystem>

namespace quadtile::baker {

// Returns a city of about so many triangles, at least 2,000, on both sides of a street grid,
// unwrapped so that it fills a lightmap of `extent` well. Bit-identical on every machine. Throws
// std::runtime_error if `extent` has no room for so many triangles.
[[nodiscard]] Scene city_scene(std::uint64_t triangles, const Extent& extent);

// Writes the triangles, materials and suns of a scene as a .glb file.
void write_scene(const Scene& scene, const std::filesystem::path& path);

}  // namespace quadtile::baker
