#include "cascades.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/mat4x4.hpp>
#include <glm/matrix.hpp>
#include <glm/trigonometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quadtile::shadow {

namespace {

constexpr std::uint32_t ROTATIONS = 18;

glm::dmat3 light_from_world(const glm::dvec3& direction, double turn) {
    const glm::dvec3 along = glm::normalize(direction);
    const glm::dvec3 helper = std::abs(along.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
    const glm::dvec3 right = glm::normalize(glm::cross(helper, along));
    const glm::dvec3 up = glm::cross(along, right);
    return glm::transpose(glm::dmat3(right * std::cos(turn) + up * std::sin(turn),
                                     up * std::cos(turn) - right * std::sin(turn), along));
}

ParallelMap map_around(std::span<const glm::dvec3> points, const glm::dmat3& light) {
    glm::dvec2 low(std::numeric_limits<double>::max());
    glm::dvec2 high(std::numeric_limits<double>::lowest());
    for (const glm::dvec3& point : points) {
        const glm::dvec2 place(light * point);
        low = glm::min(low, place);
        high = glm::max(high, place);
    }
    return {light, 0.5 * (low + high), high - low};
}

}  // namespace

ParallelMap smallest_map(const glm::vec3& direction, std::span<const glm::dvec3> points) {
    ParallelMap best = map_around(points, light_from_world(direction, 0.0));
    for (std::uint32_t i = 1; i < ROTATIONS; ++i) {
        const ParallelMap turned = map_around(
            points, light_from_world(direction, i * (0.5 * std::numbers::pi / ROTATIONS)));
        if (turned.size.x * turned.size.y < best.size.x * best.size.y) {
            best = turned;
        }
    }
    return best;
}

void set_parallel(FixedView& view, const ParallelMap& map, const Corners& scene) {
    const glm::dmat3& light = map.light_from_world;
    double nearest = std::numeric_limits<double>::max();
    double farthest = std::numeric_limits<double>::lowest();
    for (const glm::dvec3& corner : scene) {
        const double depth = (light * corner).z;
        nearest = std::min(nearest, depth);
        farthest = std::max(farthest, depth);
    }
    const double margin = 1e-3 * (farthest - nearest) + 1e-6;
    nearest -= margin;
    farthest += margin;

    const glm::dvec2 texels(view.width, view.height);
    const glm::dvec2 size =
        glm::max(map.size, glm::dvec2(margin)) * texels / (texels - 2.0 * EDGE_TEXELS);
    const glm::dvec3 scale(2.0 / size, 1.0 / (farthest - nearest));
    const glm::dvec3 origin(map.middle, nearest);
    glm::dmat4 clip(1.0);
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            clip[column][row] = scale[row] * light[column][row];
        }
        clip[3][row] = -scale[row] * origin[row];
    }
    view.clip_from_world = glm::mat4(clip);
    view.texel_extent = static_cast<float>(std::max(size.x / texels.x, size.y / texels.y));
}

Splits practical_splits(double nearest, double farthest) {
    constexpr double LAMBDA = 0.7;  // 1: logarithmic, 0: even
    Splits splits{};
    for (std::uint32_t i = 0; i <= CASCADES; ++i) {
        const double part = static_cast<double>(i) / CASCADES;
        splits[i] = LAMBDA * nearest * std::pow(farthest / nearest, part) +
                    (1.0 - LAMBDA) * (nearest + (farthest - nearest) * part);
    }
    return splits;
}

// ---- Tight ones

namespace {

Corners corners_of(const Slice& slice) {
    const glm::dmat3 direction_from_clip = [&] {
        const glm::dmat4 clip(slice.camera.clip_from_world(static_cast<float>(slice.aspect), 1.0F));
        glm::dmat3 rows;  // x, y and w
        for (int column = 0; column < 3; ++column) {
            rows[column] = {clip[column][0], clip[column][1], clip[column][3]};
        }
        return glm::inverse(rows);
    }();
    Corners corners;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const glm::dvec3 ray = direction_from_clip * glm::dvec3((i & 1U) != 0 ? 1.0 : -1.0,
                                                                (i & 2U) != 0 ? 1.0 : -1.0, 1.0);
        corners[i] =
            glm::dvec3(slice.camera.position) + ray * ((i & 4U) != 0 ? slice.to : slice.from);
    }
    return corners;
}

}  // namespace

Splits tight_splits(const Camera& camera, double aspect, const Corners& scene) {
    const glm::dvec3 forward(camera.forward());
    double farthest = CAMERA_NEAREST;
    for (const glm::dvec3& corner : scene) {
        farthest = std::max(farthest, glm::dot(corner - glm::dvec3(camera.position), forward));
    }
    double nearest = farthest;
    const Corners seen = corners_of({camera, aspect, CAMERA_NEAREST, 1.001 * farthest});
    const Points points = shared_corners(seen, scene);
    farthest = 0.0;
    for (const glm::dvec3& point : points) {
        const double distance = glm::dot(point - glm::dvec3(camera.position), forward);
        nearest = std::min(nearest, distance);
        farthest = std::max(farthest, distance);
    }
    // Nothing in view: any will do.
    farthest = std::max(1.001 * farthest, 2.0 * CAMERA_NEAREST);
    nearest = std::clamp<double>(nearest, CAMERA_NEAREST, 0.5 * farthest);
    return practical_splits(nearest, farthest);
}

ParallelMap tight_map(const glm::vec3& direction, const Slice& slice, const Corners& scene) {
    const Points points = shared_corners(corners_of(slice), scene);
    return points.empty() ? smallest_map(direction, scene) : smallest_map(direction, points);
}

// ---- Stable ones

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
