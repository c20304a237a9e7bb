// Triangles in a plane: conformal maps, overlap, and the rectangles around them.

#pragma once

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile::baker {

// Counter-clockwise, unless they are flipped.
using FlatTriangle = std::array<glm::dvec2, 3>;

[[nodiscard]] inline double doubled_area(const FlatTriangle& p) {
    const glm::dvec2 a = p[1] - p[0];
    const glm::dvec2 b = p[2] - p[0];
    return a.x * b.y - a.y * b.x;
}

[[nodiscard]] double longest_edge(const auto& p) {
    return std::max(
        {glm::distance(p[0], p[1]), glm::distance(p[1], p[2]), glm::distance(p[2], p[0])});
}

// The least squares conformal map of a surface (Levy et al. 2002): where in a plane its points lie,
// so that angles change least. The surface is connected and has a border; its size is not kept.
// Nothing, if that fails for numerical reasons.
[[nodiscard]] std::optional<std::vector<glm::dvec2>> conformal_map(
    const std::vector<glm::dvec3>& points,
    const std::vector<std::array<std::uint32_t, 3>>& triangles);

// The least and the greatest number of units in the plane along a unit of the surface.
struct Stretch {
    double least;
    double greatest;
};
[[nodiscard]] Stretch stretch_of(const std::array<glm::dvec3, 3>& corners,
                                 const FlatTriangle& flat);

// Whether any of the triangles lies on another one, by more than a thousandth of its size. Of very
// many long triangles only a part is compared.
[[nodiscard]] bool overlap(const std::vector<FlatTriangle>& triangles);

// Turns and moves the triangles so that their rectangle is the least, from (0, 0), with its longer
// side along x. Returns the rectangle's size.
glm::dvec2 fit_rectangle(std::vector<FlatTriangle>& triangles);

}  // namespace quadtile::baker
