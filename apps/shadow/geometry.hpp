// A scene as it is drawn: vertices, and triangles in clusters for culling.

#pragma once

#include "shaders/moving_box.h"

#include <quadtile/shadow.hpp>

#include <load_scene.hpp>

#include <glm/glm.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::shadow {

// As the vertex shaders read it (shaders/scene.h).
struct Vertex {
    glm::vec3 position;
    std::uint32_t colour;  // albedo, 8 bits a channel, linear, red lowest
};

struct Geometry {
    std::vector<Vertex> vertices;
    std::vector<std::uint32_t> indices;  // three a triangle
    // Neighbouring triangles, CLUSTER_TRIANGLES at most, with their bounding box and their range of
    // `indices`; all cast shadows in all lights.
    std::vector<ShadowObject> clusters;
    ShadowBox bounds;
    // The last vertices and clusters are theirs, a cluster each: here with all of its way.
    std::vector<MovingBox> moving;
};

[[nodiscard]] inline glm::vec3 low_of(const ShadowBox& box) {
    return {box.low[0], box.low[1], box.low[2]};
}
[[nodiscard]] inline glm::vec3 high_of(const ShadowBox& box) {
    return {box.high[0], box.high[1], box.high[2]};
}

constexpr std::uint32_t CLUSTER_TRIANGLES = 64;

// Sorted along a space-filling curve. The scene has a triangle at least.
[[nodiscard]] Geometry make_geometry(const baker::Scene& scene);

// Adds a box that moves about a place. `size` is about its extent.
void add_moving_box(Geometry& geometry, const glm::vec3& place, float size);

// Puts the vertices of what moves where they are at a time, as the device does (shaders/move.comp).
void move_vertices(Geometry& geometry, float second);

}  // namespace quadtile::shadow
