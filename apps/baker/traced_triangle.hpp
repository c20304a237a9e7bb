// A triangle in the pixels of a tile: the CPU twin of shaders/triangle.glsl, which says why. Same
// names, same arithmetic, same bits; to be compiled without contraction of floats.

#pragma once

#include "shaders/bake.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace quadtile::baker {

struct Point {
    float x;
    float y;
};

struct Edge {
    Point start;
    Point along;
    bool reversed;

    [[nodiscard]] float side_of(const Point& point) const {
        const float area = along.x * (point.y - start.y) - along.y * (point.x - start.x);
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
    return {start, {end.x - start.x, end.y - start.y}, reversed};
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

inline float to_pixels(float map_position, float map_origin, float scale) {
    const float pixels = (map_position - map_origin) * scale;
    return std::floor(pixels * static_cast<float>(SUBPIXELS) + 0.5F) *
           (1.0F / static_cast<float>(SUBPIXELS));
}

class PixelTriangle {
 public:
    // `touching`: all pixels that it touches may be meant, not only those with their centre inside.
    PixelTriangle(const TracedTriangle& triangle, const ProjectionFrame& frame, const Point& origin,
                  float scale, bool touching, const PixelRectangle& limits) {
        std::array<Point, 3> corners;
        for (std::size_t i = 0; i < 3; ++i) {
            const float* const position = triangle.positions + 3 * i;
            corners[i] = {
                to_pixels(along_axis(frame.axis_x, position) + frame.offset_x, origin.x, scale),
                to_pixels(along_axis(frame.axis_y, position) + frame.offset_y, origin.y, scale)};
        }
        const auto& [a, b, c] = corners;
        const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        faces_forward_ = area > 0.0F;
        std::array<std::size_t, 3> order{0, 1, 2};
        if (area < 0.0F) {
            std::swap(corners[1], corners[2]);
            std::swap(order[1], order[2]);
        }
        limit(corners, touching, limits);
        is_empty_ = (area == 0.0F && !touching) || rectangle_.last_x < rectangle_.first_x ||
                    rectangle_.last_y < rectangle_.first_y;
        if (is_empty_) {
            return;
        }
        edges_ = {edge_between(corners[1], corners[2]), edge_between(corners[2], corners[0]),
                  edge_between(corners[0], corners[1])};
        inverse_area_ = area == 0.0F ? 0.0F : 1.0F / std::abs(area);
        const auto depth = [&](std::size_t i) {
            return along_axis(frame.axis_z, triangle.positions + 3 * order[i]);
        };
        const auto light_map = [&](std::size_t i, std::size_t axis) {
            return triangle.light_map[2 * order[i] + axis];
        };
        depth_ = interpolant(depth(0), depth(1), depth(2));
        light_map_x_ = interpolant(light_map(0, 0), light_map(1, 0), light_map(2, 0));
        light_map_y_ = interpolant(light_map(0, 1), light_map(1, 1), light_map(2, 1));
    }

    [[nodiscard]] bool is_empty() const { return is_empty_; }
    // Pixels that it may cover, unless it is empty.
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

    struct Fragment {
        float depth;
        float light_map_x;  // texels
        float light_map_y;
    };
    [[nodiscard]] Fragment fragment(std::int32_t x, std::int32_t y) const {
        const Point centre = centre_of(x, y);
        const float second = edges_[1].side_of(centre) * inverse_area_;
        const float third = edges_[2].side_of(centre) * inverse_area_;
        return {depth_.at(second, third), light_map_x_.at(second, third),
                light_map_y_.at(second, third)};
    }

 private:
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
    Interpolant depth_;
    Interpolant light_map_x_;
    Interpolant light_map_y_;
    bool faces_forward_ = false;
    bool is_empty_ = false;
};

}  // namespace quadtile::baker
