// A triangle in lightmap space: which samples of a texel it covers, and what it is there.

#pragma once

#include "sampling.hpp"
#include "scene.hpp"

#include "shaders/bake.h"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace quadtile::baker {

// Steps per texel in lightmap space. Samples are decided in integers, so that none is lost or
// counted twice at common edges of triangles. Maps of 2^16 texels make edge functions of 62 bits.
constexpr std::int64_t TEXEL = 1 << 14;
constexpr std::int64_t SAMPLES = 8;  // per texel and axis
constexpr std::int64_t STEP = TEXEL / SAMPLES;
constexpr float SAMPLES_A_TEXEL = SAMPLES * SAMPLES;

// Distance from the edges of both triangles, in steps, at which a sample counts as overlap, so that
// rounded coordinates do not.
constexpr double OVERLAP_MARGIN = static_cast<double>(TEXEL) / 64;

// a * x + b * y + c, which is not negative inside.
struct EdgeFunction {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;
};

// Returns the samples of the texel that are inside: bit 8 * row + column.
inline std::uint64_t inside_samples(const std::array<EdgeFunction, 3>& edges, std::uint32_t x,
                                    std::uint32_t y) {
    std::uint64_t inside = ~std::uint64_t{0};
    for (const EdgeFunction& edge : edges) {
        const std::int64_t first =
            edge.a * (x * TEXEL + STEP / 2) + edge.b * (y * TEXEL + STEP / 2) + edge.c;
        const std::int64_t across = edge.a * STEP;
        const std::int64_t down = edge.b * STEP;
        constexpr std::int64_t LAST = SAMPLES - 1;
        const std::int64_t zero = 0;
        if (first + std::max(zero, LAST * across) + std::max(zero, LAST * down) < 0) {
            return 0;
        }
        if (first + std::min(zero, LAST * across) + std::min(zero, LAST * down) >= 0) {
            continue;
        }
        std::uint64_t mask = 0;
        for (std::int64_t row = 0; row < SAMPLES; ++row) {
            for (std::int64_t column = 0; column < SAMPLES; ++column) {
                const bool is_inside = first + column * across + row * down >= 0;
                mask |= std::uint64_t{is_inside ? 1U : 0U} << (row * SAMPLES + column);
            }
        }
        inside &= mask;
    }
    return inside;
}

// A value that is linear in lightmap space.
template <typename Value>
struct Linear {
    Value at_origin{0.0};
    Value by_x{0.0};  // per texel
    Value by_y{0.0};

    Linear() = default;
    Linear(const Corners& corners, const std::array<Value, 3>& values) {
        const glm::dvec2 a = corners[1] - corners[0];
        const glm::dvec2 b = corners[2] - corners[0];
        const Value along_a = values[1] - values[0];
        const Value along_b = values[2] - values[0];
        const double area = doubled_area(corners);
        by_x = (along_a * b.y - along_b * a.y) / area;
        by_y = (along_b * a.x - along_a * b.x) / area;
        at_origin = values[0] - corners[0].x * by_x - corners[0].y * by_y;
    }

    [[nodiscard]] Value at(const glm::dvec2& point) const {
        return at_origin + point.x * by_x + point.y * by_y;
    }
};

// A triangle prepared for sampling.
class SampledTriangle {
 public:
    SampledTriangle(const Scene& scene, std::uint32_t index, const Corners& corners)
        : scene_(scene),
          material_(scene.materials[scene.triangles[index].material]),
          index_(index),
          corners_(corners),
          has_textures_(has_textures(scene, material_) || !scene.colours.empty()) {
        const Triangle& triangle = scene.triangles[index];
        normal_ = scene.plane_normal(triangle);
        is_smooth_ = scene.is_smooth(triangle);
        if (is_smooth_) {
            normals_ = {corners, scene.vertex_normals(triangle)};
        }
        position_ = linear_over(scene_.positions, corners);
        if (doubled_area(corners_) < 0.0) {
            std::swap(corners_[1], corners_[2]);
        }
        set_edges();
        if (has_textures_) {
            if (!scene.texture_coordinates.empty()) {
                texture_coordinates_ = linear_over(scene_.texture_coordinates, corners);
            }
            if (!scene.colours.empty()) {
                colours_ = linear_over(scene_.colours, corners);
            }
        } else {
            albedo_ = albedo_at(scene_, material_, {});
            emission_ = emission_at(scene_, material_, {});
        }
    }

    // Returns whether it has no plane, and so adds nothing to its texels.
    [[nodiscard]] bool degenerate() const { return normal_ == glm::vec3(0.0F); }
    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] bool smooth() const { return is_smooth_; }
    [[nodiscard]] glm::vec3 normal(const glm::dvec2& point) const {
        return is_smooth_ ? glm::vec3(glm::normalize(normals_.at(point))) : normal_;
    }
    [[nodiscard]] bool double_sided() const { return material_.double_sided; }
    [[nodiscard]] bool textured() const { return has_textures_; }

    [[nodiscard]] std::uint64_t samples(std::uint32_t x, std::uint32_t y) const {
        return has_samples_ ? inside_samples(edges_, x, y) : 0;
    }
    [[nodiscard]] std::uint64_t samples_within_margin(std::uint32_t x, std::uint32_t y) const {
        return has_samples_ ? inside_samples(inner_edges_, x, y) : 0;
    }

    // Returns the albedo at a point of the lightmap, in texels.
    [[nodiscard]] glm::vec3 albedo(const glm::dvec2& point) const {
        return has_textures_ ? albedo_at(scene_, material_, texture_coordinates_.at(point)) *
                                   glm::vec3(colour(point))
                             : albedo_;
    }
    [[nodiscard]] glm::vec3 emission(const glm::dvec2& point) const {
        return has_textures_ ? emission_at(scene_, material_, texture_coordinates_.at(point))
                             : emission_;
    }
    [[nodiscard]] float coverage(const glm::dvec2& point) const {
        return static_cast<float>(coverage_at(scene_, material_, texture_coordinates_.at(point),
                                              colour(point).a)) /
               255.0F;
    }
    [[nodiscard]] const Linear<glm::dvec3>& position() const { return position_; }

    // Returns false if the texel is wholly beyond one of the edges.
    [[nodiscard]] bool may_touch(std::uint32_t x, std::uint32_t y) const {
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec2 start = corners_[i];
            const glm::dvec2 along = corners_[(i + 1) % 3] - start;
            const double inmost_x = along.y > 0.0 ? x : x + 1.0;
            const double inmost_y = along.x > 0.0 ? y + 1.0 : y;
            if (along.x * (inmost_y - start.y) - along.y * (inmost_x - start.x) <= 0.0) {
                return false;
            }
        }
        return true;
    }

    // Part of the triangle within a texel.
    struct Part {
        double area = 0.0;
        glm::dvec2 centre{0.0};
    };
    [[nodiscard]] Part part_within(std::uint32_t x, std::uint32_t y) const;

 private:
    [[nodiscard]] glm::vec4 colour(const glm::dvec2& point) const {
        return scene_.colours.empty() ? glm::vec4(1.0F)
                                      : glm::vec4(glm::clamp(colours_.at(point), 0.0, 1.0));
    }
    void set_edges() {
        std::array<std::array<std::int64_t, 2>, 3> points{};
        for (std::size_t i = 0; i < 3; ++i) {
            points[i] = {std::llround(corners_[i].x * TEXEL), std::llround(corners_[i].y * TEXEL)};
        }
        const std::int64_t area = (points[1][0] - points[0][0]) * (points[2][1] - points[0][1]) -
                                  (points[1][1] - points[0][1]) * (points[2][0] - points[0][0]);
        has_samples_ = area != 0;
        if (area < 0) {  // almost degenerate, and turned by rounding
            std::swap(points[1], points[2]);
        }
        for (std::size_t i = 0; i < 3; ++i) {
            const auto& start = points[i];
            const auto& end = points[(i + 1) % 3];
            EdgeFunction& edge = edges_[i];
            edge.a = start[1] - end[1];
            edge.b = end[0] - start[0];
            edge.c = -(edge.a * start[0] + edge.b * start[1]);
            inner_edges_[i] = edge;
            inner_edges_[i].c -= static_cast<std::int64_t>(
                std::ceil(OVERLAP_MARGIN *
                          std::hypot(static_cast<double>(edge.a), static_cast<double>(edge.b))));
            // A sample on an edge belongs to the triangle on one side of it, always the same side.
            const bool owns_edge = edge.a > 0 || (edge.a == 0 && edge.b > 0);
            edge.c -= owns_edge ? 0 : 1;
        }
    }

    // Interpolates. `corners` are in the order of the triangle's vertices.
    template <int N>
    [[nodiscard]] Linear<glm::vec<N, double>> linear_over(
        const std::vector<glm::vec<N, float>>& values, const Corners& corners) const {
        const auto& vertices = scene_.triangles[index_].vertices;
        return {corners, {values[vertices[0]], values[vertices[1]], values[vertices[2]]}};
    }

    const Scene& scene_;
    const Material& material_;
    std::uint32_t index_;
    Corners corners_;  // in the order of increasing angles
    bool has_textures_;
    bool has_samples_ = false;
    std::array<EdgeFunction, 3> edges_{};
    std::array<EdgeFunction, 3> inner_edges_{};
    glm::vec3 normal_{0.0F};
    bool is_smooth_ = false;
    Linear<glm::dvec3> normals_;
    glm::vec3 albedo_{0.0F};
    glm::vec3 emission_{0.0F};
    Linear<glm::dvec2> texture_coordinates_;
    Linear<glm::dvec4> colours_;
    Linear<glm::dvec3> position_;
};

inline SampledTriangle::Part SampledTriangle::part_within(std::uint32_t x, std::uint32_t y) const {
    // In coordinates from the texel's corner; each of its edges cuts off the part beyond.
    std::array<glm::dvec2, 8> polygon;
    std::size_t count = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        polygon[i] = corners_[i] - glm::dvec2(x, y);
    }
    for (int cut = 0; cut < 4; ++cut) {
        const int axis = cut / 2;
        const double border = cut % 2;
        const double sign = cut % 2 == 0 ? 1.0 : -1.0;
        std::array<glm::dvec2, 8> kept;
        std::size_t kept_count = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const glm::dvec2& start = polygon[i];
            const glm::dvec2& end = polygon[(i + 1) % count];
            const double at_start = sign * (start[axis] - border);
            const double at_end = sign * (end[axis] - border);
            if (at_start >= 0.0) {
                kept[kept_count++] = start;
            }
            if ((at_start < 0.0 && at_end > 0.0) || (at_start > 0.0 && at_end < 0.0)) {
                kept[kept_count] = start + (end - start) * (at_start / (at_start - at_end));
                kept[kept_count++][axis] = border;
            }
        }
        polygon = kept;
        count = kept_count;
    }
    Part part;
    for (std::size_t i = 2; i < count; ++i) {
        const Corners piece = {polygon[0], polygon[i - 1], polygon[i]};
        const double area = doubled_area(piece) / 2.0;
        part.area += area;
        part.centre += (piece[0] + piece[1] + piece[2]) * (area / 3.0);
    }
    // An edge through a texel's corner leaves an area that only rounding made.
    if (part.area <= std::min(1e-10, 1e-6 * doubled_area(corners_))) {
        return {};
    }
    part.centre = part.centre / part.area + glm::dvec2(x, y);
    return part;
}

}  // namespace quadtile::baker
