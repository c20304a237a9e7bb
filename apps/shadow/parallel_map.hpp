// Shadow maps of suns: what of the scene is in them.

#pragma once

#include "convex.hpp"
#include "fixed_views.hpp"

#include <glm/mat3x3.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include <cstdint>
#include <span>

namespace quadtile::shadow {

constexpr std::uint32_t EDGE_TEXELS = 2;  // of fixed views, at each edge, for filters

// A rectangle across the light, without the edge texels around it.
struct ParallelMap {
    glm::dmat3 light_from_world{1.0};  // rows: two axes across the light, and its direction
    glm::dvec2 middle{0.0};            // along these axes
    glm::dvec2 size{0.0};
};

// Around the points, in the rotation that makes it smallest.
[[nodiscard]] ParallelMap smallest_map(const glm::vec3& direction,
                                       std::span<const glm::dvec3> points);

// All of the scene along the light is in the view.
void set_parallel(FixedView& view, const ParallelMap& map, const Corners& scene);

}  // namespace quadtile::shadow
