// Triangles in a plane: conformal maps, overlap, and their bounding rectangles.

#pragma once

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile::baker {

// Corners, counter-clockwise unless the triangle is flipped.
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

// Returns the least squares conformal map of a surface (Levy et al. 2002): the places of its points
// in a plane for which angles change least. The surface must be connected and have a border; its
// size is not kept. Returns nothing if the computation fails numerically.
[[nodiscard]] std::optional<std::vector<glm::dvec2>> conformal_map(
    const std::vector<glm::dvec3>& points,
    const std::vector<std::array<std::uint32_t, 3>>& triangles);

// Least and greatest number of units in the plane along a unit of the surface.
struct Stretch {
    double least;
    double greatest;
};
[[nodiscard]] Stretch stretch_of(const std::array<glm::dvec3, 3>& corners,
                                 const FlatTriangle& flat);

// Returns whether a triangle overlaps another one by more than a thousandth of its size. Of very
// many long triangles only a part is compared.
[[nodiscard]] bool overlap(const std::vector<FlatTriangle>& triangles);

// Turns and moves the triangles so that their bounding rectangle is the smallest, from (0, 0), with
// its longer side along x. Returns the rectangle's size.
glm::dvec2 fit_rectangle(std::vector<FlatTriangle>& triangles);

}  // namespace quadtile::baker
