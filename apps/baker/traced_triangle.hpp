// A triangle in the pixels of a tile: the CPU twin of shaders/triangle.glsl, which has the reasons.
// Same names, same arithmetic, same bits; it must be compiled without contraction of floats.

#pragma once

#include "shaders/bake.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace quadtile::baker {

struct Point {
    float x;
    float y;
};

struct Edge {
    Point start;
    Point along;
    float constant;
    bool reversed;

    [[nodiscard]] float side_of(const Point& point) const {
        const float area =
            (along.x * (point.y - start.y) - along.y * (point.x - start.x)) + constant;
        return reversed ? -area : area;
    }
    [[nodiscard]] bool has_inside(float side) const {
        return side > 0.0F || (side == 0.0F && !reversed);
    }
};

inline Edge edge_between(const Point& from, const Point& to) {
    const bool reversed = from.y > to.y || (from.y == to.y && from.x > to.x);
    const Point& start = reversed ? to : from;
    const Point& end = reversed ? from : to;
    return {start, {end.x - start.x, end.y - start.y}, 0.0F, reversed};
}

// x * w, y * w and w.
using Homogeneous = std::array<float, 3>;

constexpr float NEAREST_VERTEX = 1.0F / 1048576.0F;
constexpr float LEAST_VOLUME = 1e-24F;

inline Homogeneous difference(const Homogeneous& a, const Homogeneous& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

inline Homogeneous cross_product(const Homogeneous& a, const Homogeneous& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline float volume_of(const Homogeneous& a, const Homogeneous& b, const Homogeneous& c) {
    const Homogeneous product = cross_product(difference(b, a), difference(c, a));
    return (a[0] * product[0] + a[1] * product[1]) + a[2] * product[2];
}

inline Edge homogeneous_edge(const Homogeneous& from, const Homogeneous& to) {
    const bool reversed = std::tie(from[1], from[0], from[2]) > std::tie(to[1], to[0], to[2]);
    const Homogeneous& start = reversed ? to : from;
    const Homogeneous normal = cross_product(start, difference(reversed ? from : to, start));
    return {{0.0F, 0.0F}, {normal[1], -normal[0]}, normal[2], reversed};
}

inline float divided(float numerator, float w) {
    const float size = std::abs(numerator);
    const float magnitude =
        size <= w * (1.0F / 1048576.0F) ? 0.0F : (size >= w * 16777216.0F ? 16777216.0F : size / w);
    return numerator < 0.0F ? -magnitude : magnitude;
}

struct Interpolant {
    float at_first = 0.0F;
    float more_at_second = 0.0F;
    float more_at_third = 0.0F;

    [[nodiscard]] float at(float weight_second, float weight_third) const {
        return (at_first + weight_second * more_at_second) + weight_third * more_at_third;
    }
};

inline Interpolant interpolant(float a, float b, float c) {
    return {a, b - a, c - a};
}

struct PixelRectangle {
    std::int32_t first_x;
    std::int32_t first_y;
    std::int32_t last_x;  // included
    std::int32_t last_y;
};

inline float along_axis(const float (&axis)[3], const float* position) {
    return (axis[0] * position[0] + axis[1] * position[1]) + axis[2] * position[2];
}

class PixelTriangle {
 public:
    // `touching`: all pixels that it touches, not only those with their centre inside.
    PixelTriangle(const TracedTriangle& triangle, const ProjectionFrame& frame, const Point& origin,
                  float scale, bool touching, const PixelRectangle& limits) {
        std::array<std::size_t, 3> order{0, 1, 2};
        if (frame.is_perspective != 0) {
            project(triangle, frame, origin, scale, touching, limits, order);
        } else {
            project_parallel(triangle, frame, origin, scale, touching, limits, order);
        }
        is_empty_ = is_empty_ || rectangle_.last_x < rectangle_.first_x ||
                    rectangle_.last_y < rectangle_.first_y;
        if (is_empty_) {
            return;
        }
        const auto depth = [&](std::size_t i) {
            return along_axis(frame.axis_z, triangle.positions + 3 * order[i]);
        };
        const auto light_map = [&](std::size_t i, std::size_t axis) {
            return triangle.light_map[2 * order[i] + axis];
        };
        depth_ = interpolant(depth(0), depth(1), depth(2));
        light_map_x_ = interpolant(light_map(0, 0), light_map(1, 0), light_map(2, 0));
        light_map_y_ = interpolant(light_map(0, 1), light_map(1, 1), light_map(2, 1));
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const auto [least, greatest] =
                std::minmax({light_map(0, axis), light_map(1, axis), light_map(2, axis)});
            first_texel_[axis] = std::floor(least);
            last_texel_[axis] = std::max(std::ceil(greatest) - 1.0F, first_texel_[axis]);
        }
    }

    [[nodiscard]] bool is_empty() const { return is_empty_; }
    // Returns the pixels that it may cover, unless it is empty.
    [[nodiscard]] const PixelRectangle& rectangle() const { return rectangle_; }
    [[nodiscard]] bool faces_forward() const { return faces_forward_; }

    [[nodiscard]] bool covers(std::int32_t x, std::int32_t y) const {
        const Point centre = centre_of(x, y);
        return inverse_area_ > 0.0F && std::ranges::all_of(edges_, [&](const Edge& edge) {
                   return edge.has_inside(edge.side_of(centre));
               });
    }
    [[nodiscard]] bool touches(std::int32_t x, std::int32_t y) const {
        const Point centre = centre_of(x, y);
        return std::ranges::all_of(edges_, [&](const Edge& edge) {
            const float corner = 0.5F * (std::abs(edge.along.x) + std::abs(edge.along.y));
            return edge.side_of(centre) + corner >= 0.0F;
        });
    }

    [[nodiscard]] bool is_within(std::int32_t x, std::int32_t y, float range) const {
        if (volume_ == 0.0F) {
            return true;
        }
        float sum = 0.0F;
        Point slope{0.0F, 0.0F};
        for (const Edge& edge : edges_) {
            sum += edge.side_of(centre_of(x, y));
            slope.x += edge.reversed ? -edge.along.x : edge.along.x;
            slope.y += edge.reversed ? -edge.along.y : edge.along.y;
        }
        const float most = (sum + 0.5F * (std::abs(slope.x) + std::abs(slope.y))) * range;
        return nearest_ < range && most > volume_;
    }

    // Returns the factor of a pixel's size.
    [[nodiscard]] float distance_at(std::int32_t x, std::int32_t y) const {
        if (volume_ == 0.0F) {
            return 1.0F;
        }
        const float sum = sum_of_sides(centre_of(x, y));
        return sum * farthest_ > volume_ ? std::max(volume_ / sum, nearest_) : farthest_;
    }

    struct Fragment {
        float depth;
        float light_map_x;  // texels, in one that the triangle touches
        float light_map_y;
        // Weight of the second and third vertex, which are swapped if it does not face forward.
        float second;
        float third;
    };
    [[nodiscard]] Fragment fragment(std::int32_t x, std::int32_t y) const {
        const Point centre = centre_of(x, y);
        const float inverse =
            volume_ > 0.0F ? 1.0F / std::max(sum_of_sides(centre), 1e-30F) : inverse_area_;
        const float second = std::min(edges_[1].side_of(centre) * inverse, 1.0F);
        const float third = std::min(edges_[2].side_of(centre) * inverse, 1.0F - second);
        const auto near = [&](float place, std::size_t axis) {
            return std::clamp(place, first_texel_[axis], last_texel_[axis]);
        };
        return {depth_.at(second, third), near(light_map_x_.at(second, third), 0),
                near(light_map_y_.at(second, third), 1), second, third};
    }

 private:
    [[nodiscard]] float sum_of_sides(const Point& point) const {
        return (edges_[0].side_of(point) + edges_[1].side_of(point)) + edges_[2].side_of(point);
    }

    void project_parallel(const TracedTriangle& triangle, const ProjectionFrame& frame,
                          const Point& origin, float scale, bool touching,
                          const PixelRectangle& limits, std::array<std::size_t, 3>& order) {
        std::array<Point, 3> corners;
        for (std::size_t i = 0; i < 3; ++i) {
            const float* const position = triangle.positions + 3 * i;
            const float map_x = along_axis(frame.axis_x, position) + frame.offset_x;
            const float map_y = along_axis(frame.axis_y, position) + frame.offset_y;
            corners[i] = {(map_x - origin.x) * scale, (map_y - origin.y) * scale};
        }
        const auto& [a, b, c] = corners;
        const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        faces_forward_ = area > 0.0F;
        if (area < 0.0F) {
            std::swap(corners[1], corners[2]);
            std::swap(order[1], order[2]);
        }
        limit(corners, touching, limits);
        is_empty_ = area == 0.0F && !touching;
        edges_ = {edge_between(corners[1], corners[2]), edge_between(corners[2], corners[0]),
                  edge_between(corners[0], corners[1])};
        inverse_area_ = area == 0.0F ? 0.0F : 1.0F / std::abs(area);
    }

    void project(const TracedTriangle& triangle, const ProjectionFrame& frame, const Point& origin,
                 float scale, bool touching, const PixelRectangle& limits,
                 std::array<std::size_t, 3>& order) {
        std::array<Homogeneous, 3> corners;
        for (std::size_t i = 0; i < 3; ++i) {
            const float* const position = triangle.positions + 3 * i;
            const float x = along_axis(frame.axis_x, position) + frame.offset_x;
            const float y = along_axis(frame.axis_y, position) + frame.offset_y;
            const float w = along_axis(frame.axis_w, position) + frame.offset_w;
            corners[i] = {(x - origin.x * w) * scale, (y - origin.y * w) * scale, w};
        }
        const float volume = volume_of(corners[0], corners[1], corners[2]);
        faces_forward_ = volume > 0.0F;
        if (volume < 0.0F) {
            std::swap(corners[1], corners[2]);
            std::swap(order[1], order[2]);
        }
        volume_ = std::abs(volume);
        std::tie(nearest_, farthest_) = std::minmax({corners[0][2], corners[1][2], corners[2][2]});
        is_empty_ = volume_ < LEAST_VOLUME || farthest_ <= 0.0F || is_beyond(corners, limits);
        std::array<Point, 3> box{
            {{static_cast<float>(limits.first_x), static_cast<float>(limits.first_y)},
             {static_cast<float>(limits.last_x + 1), static_cast<float>(limits.last_y + 1)}}};
        box[2] = box[1];
        if (!is_empty_ && nearest_ > NEAREST_VERTEX) {
            std::ranges::transform(corners, box.begin(), [](const Homogeneous& corner) {
                return Point{divided(corner[0], corner[2]), divided(corner[1], corner[2])};
            });
        }
        limit(box, touching, limits);
        edges_ = {homogeneous_edge(corners[1], corners[2]),
                  homogeneous_edge(corners[2], corners[0]),
                  homogeneous_edge(corners[0], corners[1])};
        inverse_area_ = 1.0F;
    }

    static bool is_beyond(const std::array<Homogeneous, 3>& corners, const PixelRectangle& limits) {
        const std::array<float, 2> low{static_cast<float>(limits.first_x),
                                       static_cast<float>(limits.first_y)};
        const std::array<float, 2> high{static_cast<float>(limits.last_x) + 1.0F,
                                        static_cast<float>(limits.last_y) + 1.0F};
        for (std::size_t i = 0; i < 2; ++i) {
            if (std::ranges::all_of(
                    corners, [&](const Homogeneous& at) { return at[i] < low[i] * at[2]; }) ||
                std::ranges::all_of(
                    corners, [&](const Homogeneous& at) { return at[i] > high[i] * at[2]; })) {
                return true;
            }
        }
        return false;
    }

    static Point centre_of(std::int32_t x, std::int32_t y) {
        return {static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F};
    }

    void limit(const std::array<Point, 3>& corners, bool touching, const PixelRectangle& limits) {
        const auto bound = [](float value, std::int32_t lower, std::int32_t upper) {
            return static_cast<std::int32_t>(std::clamp(value, static_cast<float>(lower) - 1.0F,
                                                        static_cast<float>(upper) + 1.0F));
        };
        const auto first = [&](float least) {
            return touching ? std::floor(least) : std::ceil(least - 0.5F);
        };
        const auto last = [&](float greatest) {
            return touching ? std::floor(greatest) : std::floor(greatest - 0.5F);
        };
        const auto [least_x, greatest_x] = std::minmax({corners[0].x, corners[1].x, corners[2].x});
        const auto [least_y, greatest_y] = std::minmax({corners[0].y, corners[1].y, corners[2].y});
        rectangle_ = {
            std::max(limits.first_x, bound(first(least_x), limits.first_x, limits.last_x)),
            std::max(limits.first_y, bound(first(least_y), limits.first_y, limits.last_y)),
            std::min(limits.last_x, bound(last(greatest_x), limits.first_x, limits.last_x)),
            std::min(limits.last_y, bound(last(greatest_y), limits.first_y, limits.last_y))};
    }

    PixelRectangle rectangle_{};
    std::array<Edge, 3> edges_{};  // opposite to the vertices
    float inverse_area_ = 0.0F;
    float volume_ = 0.0F;
    float nearest_ = 0.0F;
    float farthest_ = 0.0F;
    Interpolant depth_;
    Interpolant light_map_x_;
    Interpolant light_map_y_;
    // The texels around the triangle. Rounding would lead fragments at its edges beyond them, out
    // of its chart.
    std::array<float, 2> first_texel_{};
    std::array<float, 2> last_texel_{};
    bool faces_forward_ = false;
    bool is_empty_ = false;
};

}  // namespace quadtile::baker
