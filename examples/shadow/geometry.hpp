// Scene for drawing: vertices, and triangles in clusters for culling.

#pragma once

#include "shaders/mask.h"
#include "shaders/moving_box.h"

#include <quadtile/shadow.hpp>

#include <load_scene.hpp>

#include <glm/glm.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::shadow {

// Vertex for the vertex shaders (shaders/surface.vert and others).
struct Vertex {
    glm::vec3 position;
    std::uint32_t colour;  // albedo, 8 bits per channel, linear, red lowest
};

struct Geometry {
    std::vector<Vertex> vertices;
    std::vector<std::uint32_t> indices;  // three per triangle
    // Clusters of at most CLUSTER_TRIANGLES neighbouring triangles, with bounding box and range of
    // `indices`. The first ones have the triangles with holes, whose vertices are the first ones.
    std::vector<ShadowObject> clusters;
    std::uint32_t masked_clusters = 0;
    std::vector<MaskVertex> mask_vertices;  // of the first vertices
    std::vector<Mask> masks;
    std::vector<std::uint32_t> mask_bits;
    ShadowBox bounds;
    // Moving boxes. Each has one of the last clusters, which bounds its whole path here.
    std::vector<MovingBox> moving;
};

[[nodiscard]] inline glm::vec3 low_of(const ShadowBox& box) {
    return {box.low[0], box.low[1], box.low[2]};
}
[[nodiscard]] inline glm::vec3 high_of(const ShadowBox& box) {
    return {box.high[0], box.high[1], box.high[2]};
}

constexpr std::uint32_t CLUSTER_TRIANGLES = 64;

// Makes a geometry, sorted along a space-filling curve. The scene has at least one triangle.
[[nodiscard]] Geometry make_geometry(const baker::Scene& scene);

// Returns Vertex::colour.
[[nodiscard]] std::uint32_t pack(const glm::vec3& colour);

}  // namespace quadtile::shadow
