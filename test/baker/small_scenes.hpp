// Scenes of a few quads, by hand.

#pragma once

#include "scene.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace quadtile::baker::test {

inline std::uint32_t add_vertex(Scene& scene, const glm::vec3& position,
                                const glm::vec2& light_map) {
    scene.positions.push_back(position);
    scene.light_map_coordinates.push_back(light_map);
    return static_cast<std::uint32_t>(scene.positions.size() - 1);
}

inline void add_triangle(Scene& scene, const std::array<glm::vec3, 3>& positions,
                         const std::array<glm::vec2, 3>& light_map, std::uint32_t material = 0) {
    Triangle triangle;
    triangle.material = material;
    for (std::size_t i = 0; i < 3; ++i) {
        triangle.vertices[i] = add_vertex(scene, positions[i], light_map[i]);
    }
    scene.triangles.push_back(triangle);
}

// Corners counter-clockwise, seen from the front.
inline void add_quad(Scene& scene, const std::array<glm::vec3, 4>& corners,
                     const std::array<glm::vec2, 4>& light_map, std::uint32_t material = 0) {
    std::array<std::uint32_t, 4> vertices{};
    for (std::size_t i = 0; i < 4; ++i) {
        vertices[i] = add_vertex(scene, corners[i], light_map[i]);
    }
    scene.triangles.push_back({{vertices[0], vertices[1], vertices[2]}, material});
    scene.triangles.push_back({{vertices[0], vertices[2], vertices[3]}, material});
}

// The corners of a rectangle of the lightmap, from the lower left of its quad on.
inline std::array<glm::vec2, 4> rectangle(const glm::vec2& low, const glm::vec2& high) {
    return {{{low.x, high.y}, {high.x, high.y}, {high.x, low.y}, {low.x, low.y}}};
}

// A square of edge 2 in the plane z = `z`, its front towards +z.
inline std::array<glm::vec3, 4> square(float z, float half_edge = 1.0F) {
    return {{{-half_edge, -half_edge, z},
             {half_edge, -half_edge, z},
             {half_edge, half_edge, z},
             {-half_edge, half_edge, z}}};
}

// Radius and height of points of a surface of revolution, upwards; downwards turns it inside out.
using Profile = std::vector<glm::dvec2>;

// Returns a part of a circle around (`distance`, 0); angles in half turns.
inline Profile arc(int steps, double radius, double distance, double from, double to) {
    Profile profile;
    for (int i = 0; i <= steps; ++i) {
        const double angle = std::numbers::pi * (from + (to - from) * i / steps);
        profile.push_back(radius * glm::dvec2(distance + std::cos(angle), std::sin(angle)));
        profile.back() = glm::round(profile.back() * 1e6) * 1e-6;
    }
    return profile;
}

// A surface of revolution around the y axis, without lightmap coordinates.
inline Scene turned(int columns, const Profile& profile) {
    Scene scene;
    scene.materials.emplace_back();
    const auto add = [&](int column, const glm::dvec2& p) {
        const double angle = 2.0 * std::numbers::pi * (column % columns) / columns;
        scene.positions.emplace_back(p.x * std::sin(angle), p.y, p.x * std::cos(angle));
        return static_cast<std::uint32_t>(scene.positions.size() - 1);
    };
    for (std::size_t j = 1; j < profile.size(); ++j) {
        for (int i = 0; i < columns; ++i) {
            const std::uint32_t corners[] = {add(i, profile[j - 1]), add(i + 1, profile[j - 1]),
                                             add(i + 1, profile[j]), add(i, profile[j])};
            if (profile[j - 1].x > 0.0) {
                scene.triangles.push_back({{corners[0], corners[1], corners[2]}});
            }
            if (profile[j].x > 0.0) {
                scene.triangles.push_back({{corners[0], corners[2], corners[3]}});
            }
        }
    }
    return scene;
}

constexpr glm::vec3 X{1, 0, 0};
constexpr glm::vec3 Y{0, 1, 0};
constexpr glm::vec3 Z{0, 0, 1};

// A scene of quads, each of which has a cell of the lightmap to itself.
class Quads {
 public:
    // One texel of each cell stays empty on all sides of its quad.
    Quads(std::uint32_t columns, std::uint32_t rows, std::uint32_t quad_texels)
        : columns_(columns),
          quad_texels_(quad_texels),
          extent_{columns * (quad_texels + 2), rows * (quad_texels + 2)} {}

    std::uint32_t add_material(const Material& material) {
        scene.materials.push_back(material);
        return static_cast<std::uint32_t>(scene.materials.size() - 1);
    }

    // The front is where cross(a, b) points; `a` is along the lightmap's x. Returns the cell.
    std::uint32_t add(const glm::vec3& corner, const glm::vec3& a, const glm::vec3& b,
                      std::uint32_t material = 0) {
        const glm::uvec2 first = first_texel(count_);
        const glm::vec2 size(extent_.width, extent_.height);
        const glm::vec2 low = glm::vec2(first) / size;
        const glm::vec2 high = glm::vec2(first + quad_texels_) / size;
        add_quad(scene, {corner, corner + a, corner + a + b, corner + b},
                 {low, {high.x, low.y}, high, {low.x, high.y}}, material);
        return count_++;
    }

    // A box whose faces look inward.
    void add_room(const glm::vec3& low, const glm::vec3& size, std::uint32_t material = 0) {
        for (const auto& [corner, a, b] : faces(low, size)) {
            add(corner, a, b, material);
        }
    }

    // One whose faces look outward.
    void add_block(const glm::vec3& low, const glm::vec3& size, std::uint32_t material = 0) {
        for (const auto& [corner, a, b] : faces(low, size)) {
            add(corner, b, a, material);
        }
    }

    // Indices of a quad's texels.
    [[nodiscard]] std::vector<std::size_t> texels(std::uint32_t cell) const {
        const glm::uvec2 first = first_texel(cell);
        std::vector<std::size_t> result;
        for (std::uint32_t y = 0; y < quad_texels_; ++y) {
            for (std::uint32_t x = 0; x < quad_texels_; ++x) {
                result.push_back(std::size_t{first.y + y} * extent_.width + first.x + x);
            }
        }
        return result;
    }

    [[nodiscard]] const Extent& extent() const { return extent_; }

    Scene scene;

 private:
    // Corner of each face of a box, and the edges there so that it looks inward.
    static std::array<std::array<glm::vec3, 3>, 6> faces(const glm::vec3& low,
                                                         const glm::vec3& size) {
        const glm::vec3 x = size.x * X;
        const glm::vec3 y = size.y * Y;
        const glm::vec3 z = size.z * Z;
        return {{{low, z, x},
                 {low + y, x, z},
                 {low, x, y},
                 {low + z, y, x},
                 {low, y, z},
                 {low + x, z, y}}};
    }

    [[nodiscard]] glm::uvec2 first_texel(std::uint32_t cell) const {
        return glm::uvec2(cell % columns_, cell / columns_) * (quad_texels_ + 2) + 1U;
    }

    std::uint32_t columns_;
    std::uint32_t quad_texels_;
    Extent extent_;
    std::uint32_t count_ = 0;
};

}  // namespace quadtile::baker::test
