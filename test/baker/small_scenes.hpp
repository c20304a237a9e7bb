// Scenes of a few quads, by hand.

#pragma once

#include "light_map.hpp"

#include <glm/geometric.hpp>

#include <array>

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

inline LightMap uniform_light_map(const Extent& extent, const glm::vec3& irradiance) {
    LightMap map;
    map.extent = extent;
    map.irradiance.assign(extent.texels(), irradiance);
    map.known.assign(extent.texels(), 1);
    return map;
}

}  // namespace quadtile::baker::test
