// Charts of a scene's surface: parts that are flattened together.

#pragma once

#include "flatten.hpp"
#include "scene.hpp"

namespace quadtile::baker {

struct Chart {
    std::vector<std::uint32_t> triangles;
    // Corners of the triangles, in units times the density of their part: from (0, 0), y down.
    std::vector<FlatTriangle> corners;
    glm::dvec2 size{};
};

// Largest factor between the texels per unit of a triangle, in any direction, and of its chart.
// Slivers, whose height is less than a hundredth of their longest edge, may exceed it.
constexpr double LARGEST_STRETCH = 1.3;

// Returns charts of the triangles for which `takes` is true: all or none of an object's. Charts of
// more than one triangle are not larger than `max_size`.
//
// Charts are segments of smooth surfaces: triangles that share an edge, by position and in opposite
// directions, across which the surface turns by at most 30 degrees. An edge that more than two
// triangles of one smooth surface share connects none of them. Segments in one plane (up to 1
// degree) are projected. The others are cut where necessary and get a least squares conformal map.
// A segment is halved if it would be stretched more than LARGEST_STRETCH, flip a triangle, overlap
// itself or be too large. Objects of one mesh that differ by their places, turns and sizes get the
// charts of the largest one.
[[nodiscard]] std::vector<Chart> make_charts(const Scene& scene, std::vector<bool> takes,
                                             double max_size);

}  // namespace quadtile::baker
