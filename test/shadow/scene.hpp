// Cameras of all kinds and what they see of planes, in 64-bit floats and without a GPU. A scene
// whose depth buffers are made by formula: spheres on a plane, seen by a camera that wanders.

#pragma once

#include <quadtile/shadow.hpp>

#include <glm/glm.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace quadtile::test {

using Point = glm::dvec3;
using Row = glm::dvec4;
using Rows = std::array<Row, 4>;

inline Rows rows_of(const ShadowMatrix& matrix) {
    Rows rows{};
    for (std::size_t i = 0; i < 16; ++i) {
        rows[i % 4][static_cast<int>(i / 4)] = matrix[i];
    }
    return rows;
}

inline ShadowMatrix matrix_of(const Rows& rows) {
    ShadowMatrix matrix{};
    for (std::size_t i = 0; i < 16; ++i) {
        matrix[i] = static_cast<float>(rows[i % 4][static_cast<int>(i / 4)]);
    }
    return matrix;
}

// Returns the point on all three planes.
inline Point on_planes(const Row& a, const Row& b, const Row& c) {
    return -Point(a.w, b.w, c.w) * glm::inverse(glm::dmat3(Point(a), Point(b), Point(c)));
}

// The row that measures along an axis from a point.
inline Row along(const Point& axis, const Point& origin, double scale) {
    return scale * Row(axis, -dot(axis, origin));
}

constexpr double NEAREST = 0.1;  // of all cameras

enum class Depths { standard, reversed, infinite_reversed };

inline Row depth_row(const Row& distance, const Row& w, Depths depths, bool is_parallel) {
    constexpr double FARTHEST = 100.0;
    const double range = FARTHEST - NEAREST;
    if (is_parallel) {
        return (depths == Depths::standard ? distance - NEAREST * w : FARTHEST * w - distance) /
               range;
    }
    const Row one{0.0, 0.0, 0.0, 1.0};
    return depths == Depths::standard   ? FARTHEST / range * (distance - NEAREST * one)
           : depths == Depths::reversed ? NEAREST / range * (FARTHEST * one - distance)
                                        : NEAREST * one;
}

constexpr VkExtent2D CAMERA_PICTURE{160, 90};  // pixels of the cameras' depth buffers

struct Camera {
    ShadowView view;
    Point eye;
    Point forward;
    Point right;
    Point down;
    bool is_parallel;
};

// Sees tan(half the angle) = slope upwards, slope * aspect sidewards; parallel: so many units of
// the world. Mirrored: columns run to the left.
inline Camera camera_at(const Point& eye, const Point& target, double slope, double aspect,
                        Depths depths = Depths::infinite_reversed, bool is_parallel = false,
                        bool is_mirrored = false) {
    Camera camera{};
    camera.eye = eye;
    camera.is_parallel = is_parallel;
    camera.forward = normalize(target - eye);
    const Point up =
        std::abs(camera.forward[1]) > 0.99 ? Point{0.0, 0.0, 1.0} : Point{0.0, 1.0, 0.0};
    const double side = is_mirrored ? -1.0 : 1.0;
    const Point right = normalize(cross(camera.forward, up));
    camera.right = side * right;
    camera.down = cross(camera.forward, right);
    const Row distance = along(camera.forward, eye, 1.0);
    const Row w = is_parallel ? Row{0.0, 0.0, 0.0, 1.0} : distance;
    camera.view.clip_from_world = matrix_of({along(camera.right, eye, 1.0 / (slope * aspect)),
                                             along(camera.down, eye, 1.0 / slope),
                                             depth_row(distance, w, depths, is_parallel), w});
    camera.view.background_depth = depths == Depths::standard ? 1.0F : 0.0F;
    return camera;
}

// Where a pixel, of fractions too, sees a plane.
inline Point seen_on(const ShadowView& view, VkExtent2D extent, double column, double row,
                     const Row& plane) {
    const auto [x, y, z, w] = rows_of(view.clip_from_world);
    return on_planes(x + (1.0 - 2.0 * column / extent.width) * w,
                     y + (1.0 - 2.0 * row / extent.height) * w, plane);
}

// Texels of a light's map.
inline std::array<double, 2> on_map(const ShadowMatrix& clip_from_world, std::uint32_t map_extent,
                                    const Point& point) {
    const auto [x, y, z, w] = rows_of(clip_from_world);
    const Row p(point, 1.0);
    return {(dot(x, p) / dot(w, p) + 1.0) * 0.5 * map_extent,
            (dot(y, p) / dot(w, p) + 1.0) * 0.5 * map_extent};
}

// Returns how map coordinates change per pixel on a plane, by central differences: x by column, x
// by row, y by column, y by row.
inline std::array<double, 4> jacobian(const ShadowView& view, VkExtent2D extent,
                                      const ShadowMatrix& clip_from_world, std::uint32_t map_extent,
                                      double column, double row, const Row& plane) {
    constexpr double STEP = 1e-4;  // pixels
    const auto map = [&](double c, double r) {
        return on_map(clip_from_world, map_extent, seen_on(view, extent, c, r, plane));
    };
    const auto left = map(column - STEP, row);
    const auto right = map(column + STEP, row);
    const auto above = map(column, row - STEP);
    const auto below = map(column, row + STEP);
    const double scale = 0.5 / STEP;
    return {(right[0] - left[0]) * scale, (below[0] - above[0]) * scale,
            (right[1] - left[1]) * scale, (below[1] - above[1]) * scale};
}

constexpr VkExtent2D DEPTH_EXTENT{96, 54};  // of pinholes' depth buffers
constexpr double TANGENT = 0.7;             // of half their horizontal field

// Reversed depths, 1 at NEAREST, 0 at infinity.
inline Camera pinhole(const Point& eye, const Point& target) {
    constexpr double ASPECT = 16.0 / 9;
    return camera_at(eye, target, TANGENT / ASPECT, ASPECT);
}

// The plane y = 0 as far as 60, and balls on it.
inline double distance_along(const Point& eye, const Point& ray) {
    double nearest = std::numeric_limits<double>::infinity();
    if (ray[1] < 0.0) {
        const double t = -eye[1] / ray[1];
        const Point at = eye + t * ray;
        if (dot(at, at) < 60.0 * 60.0) {
            nearest = t;
        }
    }
    for (int i = 0; i < 12; ++i) {
        const double radius = 0.5 + 0.3 * (i % 4);
        const Point centre{8.0 * std::cos(2.3 * i), radius, 8.0 * std::sin(1.7 * i) - 2.0};
        const Point to = centre - eye;
        const double b = dot(ray, to);
        const double a = dot(ray, ray);
        const double root = b * b - a * (dot(to, to) - radius * radius);
        if (root > 0.0) {
            const double t = (b - std::sqrt(root)) / a;
            nearest = t > 0.0 && t < nearest ? t : nearest;
        }
    }
    return nearest;
}

// Row by row; 0 where there is nothing.
inline std::vector<float> depth_buffer(const Camera& camera) {
    const auto [width, height] = DEPTH_EXTENT;
    std::vector<float> depth;
    for (std::uint32_t i = 0; i < width * height; ++i) {
        // Through the centre of a pixel; its part forward is 1.
        const double across = TANGENT * (2.0 * (i % width + 0.5) / width - 1.0);
        const double downwards = TANGENT * (2.0 * (i / width + 0.5) - height) / width;
        const Point ray = camera.forward + across * camera.right + downwards * camera.down;
        depth.push_back(static_cast<float>(NEAREST / distance_along(camera.eye, ray)));
    }
    return depth;
}

// The camera in a frame: it walks in a circle and looks ahead.
inline Camera camera_of_frame(int frame) {
    const double angle = 0.02 * frame;
    return pinhole({6.0 * std::cos(angle), 1.7, 6.0 * std::sin(angle)},
                   {4.0 * std::cos(angle + 1.0), 0.8, 4.0 * std::sin(angle + 1.0)});
}

inline ShadowBox spheres_box() {
    return {{-60.0F, 0.0F, -60.0F}, {60.0F, 3.0F, 60.0F}};
}

// An atlas without casters of shadows.
inline std::vector<float> empty_atlas(const ShadowOptions& options) {
    return std::vector<float>(std::size_t{options.atlas_extent} * options.atlas_extent,
                              std::numeric_limits<float>::max());
}

// Tiles for depth buffers as small: the least that there are.
inline ShadowOptions with_small_tiles(ShadowOptions options) {
    options.tile_extent = 64;
    options.gutter = 1;
    return options;
}

}  // namespace quadtile::test
