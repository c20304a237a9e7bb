// Cameras of all kinds and what they see of planes, in 64-bit floats and without a GPU.

#pragma once

#include "spheres.hpp"

namespace quadtile::test {

using Point = Vector;
using Row = std::array<double, 4>;
using Rows = std::array<Row, 4>;

[[nodiscard]] double apply(const Row& row, const Row& point);
[[nodiscard]] Rows rows_of(const ShadowMatrix& matrix);
[[nodiscard]] ShadowMatrix matrix_of(const Rows& rows);

// Returns the point on all three planes, homogeneous with 1 at the end.
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

// Returns how map coordinates change per pixel on a plane, by central differences: x by column, x
// by row, y by column, y by row.
[[nodiscard]] std::array<double, 4> jacobian(const ShadowView& view, VkExtent2D extent,
                                             const ShadowMatrix& clip_from_world,
                                             std::uint32_t map_extent, double column, double row,
                                             const Row& plane);

}  // namespace quadtile::test
