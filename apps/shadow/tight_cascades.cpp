#include "cascades.hpp"
#include "renderer.hpp"

#include <glm/geometric.hpp>
#include <glm/mat3x3.hpp>
#include <glm/matrix.hpp>

#include <algorithm>

namespace quadtile::shadow {

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

}  // namespace quadtile::shadow
