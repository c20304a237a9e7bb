// Cameras, and depth buffers of a small scene, in 64-bit floats and without a GPU.

#pragma once

#include <quadtile/shadow.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace quadtile::test {

using Point = std::array<double, 3>;
using Row = std::array<double, 4>;
using Rows = std::array<Row, 4>;

[[nodiscard]] inline double dot(const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
[[nodiscard]] Point cross(const Point& a, const Point& b);
[[nodiscard]] Point normalized(const Point& v);
[[nodiscard]] Point difference(const Point& a, const Point& b);

[[nodiscard]] double apply(const Row& row, const Row& point);
[[nodiscard]] Rows rows_of(const ShadowMatrix& matrix);
[[nodiscard]] ShadowMatrix matrix_of(const Rows& rows);

// What is on all three planes, homogeneous with 1 at the end.
[[nodiscard]] Point on_planes(const Row& a, const Row& b, const Row& c);

constexpr VkExtent2D CAMERA_PICTURE{160, 90};  // pixels of the cameras' depth buffers

enum class Depths { standard, reversed, infinite_reversed };

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
[[nodiscard]] Camera camera_at(const Point& eye, const Point& target, double slope, double aspect,
                               Depths depths = Depths::infinite_reversed, bool is_parallel = false,
                               bool is_mirrored = false);

// Where a pixel, of fractions too, sees a plane.
[[nodiscard]] Point seen_on(const ShadowView& view, VkExtent2D extent, double column, double row,
                            const Row& plane);

// Texels of a light's map.
[[nodiscard]] std::array<double, 2> on_map(const ShadowMatrix& clip_from_world,
                                           std::uint32_t map_extent, const Point& point);

// How map coordinates change by pixel on a plane: x by column, x by row, y by column, y by row; by
// central differences.
[[nodiscard]] std::array<double, 4> jacobian(const ShadowView& view, VkExtent2D extent,
                                             const ShadowMatrix& clip_from_world,
                                             std::uint32_t map_extent, double column, double row,
                                             const Row& plane);

// A ground at height 0, and boxes on it within 10 units.
struct Scene {
    std::vector<ShadowBox> boxes;
};
[[nodiscard]] Scene random_scene(std::uint32_t boxes, std::uint32_t seed);
[[nodiscard]] std::vector<float> depth_buffer(const Scene& scene, const Camera& camera,
                                              VkExtent2D extent);

}  // namespace quadtile::test
