// Charts of a scene's surface: parts of it that are flattened together.

#pragma once

#include "flatten.hpp"
#include "scene.hpp"

namespace quadtile::baker {

struct Chart {
    std::vector<std::uint32_t> triangles;
    // Of these, in units times the density of their part: from (0, 0), y down.
    std::vector<FlatTriangle> corners;
    glm::dvec2 size{};
};

// No direction of any triangle has more or fewer texels per unit than its chart by more than this
// factor; but slivers, whose height is less than a hundredth of their longest edge.
constexpr double LARGEST_STRETCH = 1.3;

// Charts are segments of smooth surfaces: triangles that share an edge, by position and in opposite
// directions, across which the surface turns by 30 degrees at most. An edge that more than two
// triangles of one smooth surface share connects none of them. What lies in one plane (up to 1
// degree) is projected; the rest is cut where it must be and gets a least squares conformal map. A
// segment that would be stretched more than LARGEST_STRETCH, flip a triangle, overlap itself or be
// too large is halved.
//
// Charts of the triangles for which `takes` is true: all or none of an object's. Those that have
// more than one triangle are not larger than `max_size`.
[[nodiscard]] std::vector<Chart> make_charts(const Scene& scene, const std::vector<bool>& takes,
                                             double max_size);

}  // namespace quadtile::baker
