#include "parallel_map.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/mat4x4.hpp>
#include <glm/matrix.hpp>

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

}  // namespace quadtile::shadow
