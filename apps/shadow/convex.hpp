// What two convex bodies share.

#pragma once

#include <quadtile/shadow.hpp>

#include <glm/vec3.hpp>

#include <array>
#include <vector>

namespace quadtile::shadow {

using Points = std::vector<glm::dvec3>;
// Of a body with six faces: bit 0 of the index is x, bit 1 y, bit 2 z.
using Corners = std::array<glm::dvec3, 8>;

[[nodiscard]] Corners corners_of(const ShadowBox& box);
// The corners of what they share; none where that is nothing.
[[nodiscard]] Points shared_corners(const Corners& a, const Corners& b);

}  // namespace quadtile::shadow
