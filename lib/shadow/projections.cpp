#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "matrices.hpp"

#include <limits>
#include <numbers>

namespace quadtile {

namespace {

using namespace shadow;

struct Axes {
    Vector x;
    Vector y;
    Vector forward;
};

// Axes of a light; they depend on its direction alone.
Axes axes_along(const std::array<float, 3>& direction) {
    check_finite(direction, "the direction of the light");
    Vector forward = vector(direction);
    const double size = length(forward);
    if (size == 0.0) {
        throw_invalid("the direction of the light has length 0; give it one");
    }
    for (double& component : forward) {
        component /= size;
    }
    // The world axis closest to perpendicular to the direction.
    std::size_t farthest = 0;
    for (std::size_t i = 1; i < 3; ++i) {
        farthest = std::abs(forward[i]) < std::abs(forward[farthest]) ? i : farthest;
    }
    Vector axis{};
    axis[farthest] = 1.0;
    Vector x = cross(axis, forward);
    const double x_size = length(x);
    for (double& component : x) {
        component /= x_size;
    }
    return {x, cross(forward, x), forward};
}

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    [[nodiscard]] double size() const { return high - low; }
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

Range range_along(const Vector& axis, const ShadowBox& box) {
    Range range;
    for (unsigned corner = 0; corner < 8; ++corner) {
        range.add(dot(axis, linear_part(corner_of(box, corner))));
    }
    return range;
}

constexpr double EIGHTH = 1.0 / 8;
constexpr double MARGIN = 1.0 / 64;  // of the extent, at each end

// Least extent that holds `size` from any place in its first eighth, in steps of an eighth of the
// power of two below.
double snapped_extent(double size) {
    const double least = size / (1.0 - EIGHTH - 2.0 * MARGIN);
    const double step = EIGHTH * std::exp2(std::floor(std::log2(least)));
    return std::ceil(least / step) * step;
}

// Begin of an extent that holds a range from `low` on, in eighths of the extent.
double snapped_origin(double low, double extent) {
    return std::floor((low - extent * MARGIN) / (extent * EIGHTH));
}

void check_box(const ShadowBox& box) {
    check_finite(box.low, "the low corner of the box");
    check_finite(box.high, "the high corner of the box");
    for (std::size_t i = 0; i < 3; ++i) {
        if (box.low[i] > box.high[i]) {
            throw_invalid("the box is inside out: its ", "xyz"[i], " begins at ", box.low[i],
                          " and ends at ", box.high[i], "; swap them");
        }
    }
}

// Least size that a flat box counts as, so that floats distinguish its ends.
double least_size(const ShadowBox& box) {
    double size = 0.0;
    double farthest = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
        size = std::max(size, double{box.high[i]} - box.low[i]);
        farthest =
            std::max({farthest, std::abs(double{box.low[i]}), std::abs(double{box.high[i]})});
    }
    return std::max({size / 1024.0, farthest / 65536.0, 0x1p-60});
}

ShadowProjection projection(const Matrix& clip_from_world) {
    ShadowProjection result{shadow_matrix(clip_from_world)};
    check_finite(result.clip_from_world, "the matrix of the light, as it follows from these,");
    return result;
}

// Row of a matrix: the coordinate of a point along `axis`, times `scale`, plus `offset`. Offsets of
// parallel lights are exact multiples of an eighth: shadow_step finds boxes that have moved by it.
Vector4 row_of(const Vector& axis, double scale, double offset) {
    return {axis[0] * scale, axis[1] * scale, axis[2] * scale, offset};
}

void check_spot(float angle_degrees, float nearest, float farthest) {
    if (!(angle_degrees >= 0.1F && angle_degrees <= 170.0F)) {
        throw_invalid("the angle of the spot light is ", angle_degrees,
                      " degrees; give it 0.1 to 170");
    }
    if (!(nearest > 0.0F && nearest < farthest && std::isfinite(farthest))) {
        throw_invalid(
            "the spot light reaches from ", nearest, " to ", farthest,
            "; give distances that are finite, the first above 0 and the second above it");
    }
}

}  // namespace

ShadowProjection directional_shadow_projection(const std::array<float, 3>& direction,
                                               const ShadowBox& box) {
    const Axes axes = axes_along(direction);
    check_box(box);
    const Range x = range_along(axes.x, box);
    const Range y = range_along(axes.y, box);
    const Range depth = range_along(axes.forward, box);
    const double least = least_size(box);
    const double extent = snapped_extent(std::max({x.size(), y.size(), least}));
    const double depth_extent = snapped_extent(std::max(depth.size(), least));
    const double scale = 2.0 / extent;
    return projection({row_of(axes.x, scale, -1.0 - 2.0 * EIGHTH * snapped_origin(x.low, extent)),
                       row_of(axes.y, scale, -1.0 - 2.0 * EIGHTH * snapped_origin(y.low, extent)),
                       row_of(axes.forward, 1.0 / depth_extent,
                              -EIGHTH * snapped_origin(depth.low, depth_extent)),
                       Vector4{0.0, 0.0, 0.0, 1.0}});
}

std::vector<ShadowProjection> directional_shadow_levels(const std::array<float, 3>& direction,
                                                        const ShadowBox& world,
                                                        const std::array<float, 3>& eye,
                                                        float nearest_extent,
                                                        std::uint32_t levels) {
    check_finite(eye, "the position of the camera");
    if (!(nearest_extent > 0.0F && std::isfinite(nearest_extent)) || levels == 0 ||
        levels > SHADOW_MAX_LEVELS) {
        throw_invalid(levels, " levels of a parallel light, the first ", nearest_extent,
                      " wide, were asked for; give 1 to ", SHADOW_MAX_LEVELS,
                      " of a finite extent above 0");
    }
    const Matrix of_world = matrix(directional_shadow_projection(direction, world).clip_from_world);
    const Axes axes = axes_along(direction);
    const Vector middle = vector(eye);
    std::vector<ShadowProjection> all;
    double extent = nearest_extent;
    for (std::uint32_t level = 0; level < levels; ++level, extent *= 2.0) {
        const auto row = [&](const Vector& axis) {
            const double place =
                std::round(dot(axis, middle) / (extent * EIGHTH));  // of the middle
            return row_of(axis, 2.0 / extent, -2.0 * EIGHTH * place);
        };
        all.push_back(projection({row(axes.x), row(axes.y), of_world[2], of_world[3]}));
        all.back().layers = level == 0 ? levels : 0;
    }
    return all;
}

ShadowProjection spot_shadow_projection(const std::array<float, 3>& position,
                                        const std::array<float, 3>& direction, float angle_degrees,
                                        float nearest, float farthest) {
    check_finite(position, "the position of the spot light");
    const Axes axes = axes_along(direction);
    check_spot(angle_degrees, nearest, farthest);
    const Vector eye = vector(position);
    const double scale = 1.0 / std::tan(0.5 * angle_degrees * (std::numbers::pi / 180.0));
    const double depth_scale = farthest / (double{farthest} - nearest);
    const double distance = dot(axes.forward, eye);  // along the direction
    return projection({row_of(axes.x, scale, -scale * dot(axes.x, eye)),
                       row_of(axes.y, scale, -scale * dot(axes.y, eye)),
                       row_of(axes.forward, depth_scale, -depth_scale * (distance + nearest)),
                       row_of(axes.forward, 1.0, -distance)});
}

std::array<ShadowProjection, SHADOW_FACES> point_shadow_projections(
    const std::array<float, 3>& position, float nearest, float farthest) {
    std::array<ShadowProjection, SHADOW_FACES> faces;
    for (std::size_t i = 0; i < faces.size(); ++i) {
        std::array<float, 3> direction{};
        direction[i / 2] = i % 2 == 0 ? 1.0F : -1.0F;
        faces[i] = spot_shadow_projection(position, direction, 90.0F, nearest, farthest);
        faces[i].layers = i == 0 ? SHADOW_FACES : 0;
    }
    return faces;
}

}  // namespace quadtile
