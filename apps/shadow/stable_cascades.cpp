#include "cascades.hpp"
#include "renderer.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadtile::shadow {

namespace {

// Of lambdas of 0.6 to 1 and shares of 0.002 to 0.05 and 0.3 to 1 these had the fewest wrong pixels
// over flights through a level and a city; around them little changes. The farthest split is less
// than all of the scene, since the last map has that anyway: so the three before it are finer.
constexpr double NEAREST_SHARE = 0.005;  // of the diagonal of the scene's bounds
constexpr double FARTHEST_SHARE = 0.4;

struct Sphere {
    glm::dvec3 middle{0.0};
    double radius = 0.0;
};

// The smallest around a slice: from the camera's angles alone, so that its radius does not change
// with where it is and looks, by not a bit.
Sphere sphere_around(const Slice& slice) {
    const double tangent = std::tan(glm::radians(0.5 * slice.camera.vertical_field_degrees));
    // Of a corner, from the middle, squared, at a distance of 1.
    const double spread = tangent * tangent * (1.0 + slice.aspect * slice.aspect);
    // As far from the nearest corners as from the farthest; of wide slices the farthest alone
    // count.
    const double distance = std::min(0.5 * (slice.from + slice.to) * (1.0 + spread), slice.to);
    const double behind = slice.to - distance;
    return {glm::dvec3(slice.camera.position) + distance * glm::dvec3(slice.camera.forward()),
            std::sqrt(behind * behind + spread * slice.to * slice.to)};
}

}  // namespace

Splits stable_splits(const Corners& scene) {
    const double diagonal = glm::distance(scene.front(), scene.back());
    const double farthest = std::max(FARTHEST_SHARE * diagonal, 2.0 * CAMERA_NEAREST);
    const double nearest = std::max<double>(NEAREST_SHARE * diagonal, CAMERA_NEAREST);
    Splits splits = practical_splits(nearest, farthest);
    splits.front() = CAMERA_NEAREST;
    // The camera may be anywhere, so what it sees may be as far.
    splits.back() = std::numeric_limits<double>::infinity();
    return splits;
}

ParallelMap stable_map(const ParallelMap& scene, const Slice& slice, const glm::dvec2& texels) {
    ParallelMap map = scene;
    if (std::isinf(slice.to)) {
        return map;
    }
    const Sphere sphere = sphere_around(slice);
    const glm::dvec2 middle(scene.light_from_world * sphere.middle);
    for (int axis = 0; axis < 2; ++axis) {
        // Two texels are lost: the middle moves by half a texel at most, and there is rounding.
        const double inside = texels[axis] - 2.0 * EDGE_TEXELS;
        const double texel = 2.0 * sphere.radius / (inside - 2.0);
        if (inside * texel < scene.size[axis]) {
            map.middle[axis] = std::round(middle[axis] / texel) * texel;
            map.size[axis] = inside * texel;
        }
    }
    return map;
}

}  // namespace quadtile::shadow
