// Cameras of all kinds and what they see of planes, in 64-bit floats and without a GPU.

#pragma once

#include <quadtile/shadow.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace quadtile::test {

using Point = std::array<double, 3>;

inline Point operator+(const Point& a, const Point& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Point operator-(const Point& a, const Point& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Point operator*(double s, const Point& a) {
    return {s * a[0], s * a[1], s * a[2]};
}
inline double dot(const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Point cross(const Point& a, const Point& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Point unit(const Point& a) {
    return (1.0 / std::sqrt(dot(a, a))) * a;
}

using Row = std::array<double, 4>;
using Rows = std::array<Row, 4>;

inline double apply(const Row& row, const Row& point) {
    return row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3] * point[3];
}

inline Rows rows_of(const ShadowMatrix& matrix) {
    Rows rows{};
    for (std::size_t i = 0; i < 16; ++i) {
        rows[i % 4][i / 4] = matrix[i];
    }
    return rows;
}

inline ShadowMatrix matrix_of(const Rows& rows) {
    ShadowMatrix matrix{};
    for (std::size_t i = 0; i < 16; ++i) {
        matrix[i] = static_cast<float>(rows[i % 4][i / 4]);
    }
    return matrix;
}

// Returns the point on all three planes, by Cramer's rule.
inline Point on_planes(const Row& a, const Row& b, const Row& c) {
    const Point na{a[0], a[1], a[2]};
    const Point nb{b[0], b[1], b[2]};
    const Point nc{c[0], c[1], c[2]};
    const Point bc = cross(nb, nc);
    const Point ca = cross(nc, na);
    const Point ab = cross(na, nb);
    const double volume = dot(na, bc);
    Point point{};
    for (std::size_t i = 0; i < 3; ++i) {
        point[i] = -(a[3] * bc[i] + b[3] * ca[i] + c[3] * ab[i]) / volume;
    }
    return point;
}

// The row that measures along an axis from a point.
inline Row along(const Point& axis, const Point& origin, double scale) {
    return {axis[0] * scale, axis[1] * scale, axis[2] * scale, -scale * dot(axis, origin)};
}

// scale * row + offset * other
inline Row combined(const Row& row, double scale, const Row& other, double offset) {
    Row result{};
    for (std::size_t i = 0; i < 4; ++i) {
        result[i] = scale * row[i] + offset * other[i];
    }
    return result;
}

constexpr double NEAREST = 0.1;  // of all cameras

enum class Depths { standard, reversed, infinite_reversed };

inline Row depth_row(const Row& distance, const Row& w, Depths depths, bool is_parallel) {
    constexpr double FARTHEST = 100.0;
    const double range = FARTHEST - NEAREST;
    if (is_parallel) {
        return depths == Depths::standard ? combined(distance, 1.0 / range, w, -NEAREST / range)
                                          : combined(distance, -1.0 / range, w, FARTHEST / range);
    }
    const Row one{0.0, 0.0, 0.0, 1.0};
    switch (depths) {
        case Depths::standard:
            return combined(distance, FARTHEST / range, one, -NEAREST * FARTHEST / range);
        case Depths::reversed:
            return combined(distance, -NEAREST / range, one, NEAREST * FARTHEST / range);
        case Depths::infinite_reversed:
            break;
    }
    return {0.0, 0.0, 0.0, NEAREST};
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
    camera.forward = unit(target - eye);
    const Point up =
        std::abs(camera.forward[1]) > 0.99 ? Point{0.0, 0.0, 1.0} : Point{0.0, 1.0, 0.0};
    const double side = is_mirrored ? -1.0 : 1.0;
    const Point right = unit(cross(camera.forward, up));
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
    return on_planes(combined(x, 1.0, w, 1.0 - 2.0 * column / extent.width),
                     combined(y, 1.0, w, 1.0 - 2.0 * row / extent.height), plane);
}

// Texels of a light's map.
inline std::array<double, 2> on_map(const ShadowMatrix& clip_from_world, std::uint32_t map_extent,
                                    const Point& point) {
    const auto [x, y, z, w] = rows_of(clip_from_world);
    const Row p{point[0], point[1], point[2], 1.0};
    return {(apply(x, p) / apply(w, p) + 1.0) * 0.5 * map_extent,
            (apply(y, p) / apply(w, p) + 1.0) * 0.5 * map_extent};
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

}  // namespace quadtile::test
