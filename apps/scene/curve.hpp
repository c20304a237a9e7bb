// Triangles along the Z-order curve.

#pragma once

#include "scene.hpp"

#include <cstdint>
#include <vector>

namespace quadtile::baker {

struct PlaceOnCurve {
    std::uint64_t code;  // 21 bits of each coordinate, interleaved, x lowest
    std::uint32_t triangle;
};

// In order, by the middles of their corners; codes that are equal by the triangles' indices. The
// curve fills the box from `lower` on; no extent is negative.
[[nodiscard]] std::vector<PlaceOnCurve> sort_along_curve(const Scene& scene,
                                                         const glm::dvec3& lower,
                                                         const glm::dvec3& extent);

}  // namespace quadtile::baker
