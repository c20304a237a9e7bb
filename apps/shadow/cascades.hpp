// The shadow maps of suns that follow the scene's bounds and the camera: around all of the scene,
// and cascades, each of a slice of what the camera sees, one behind the other.

#pragma once

#include "camera.hpp"
#include "convex.hpp"
#include "fixed_views.hpp"

#include "shaders/frame.h"

#include <glm/mat3x3.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include <array>
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

// Distances along the camera's direction, from nearest to farthest.
using Splits = std::array<double, CASCADES + 1>;

// The practical split scheme (Zhang et al., 2006).
[[nodiscard]] Splits practical_splits(double nearest, double farthest);

// What a camera sees from one distance along its direction to another.
struct Slice {
    Camera camera;
    double aspect = 1.0;
    double from = 0.0;
    double to = 0.0;
};

// ---- Tight ones: as small as they can be, so they change with all that the camera does

// Over the distances at which the scene may be in view.
[[nodiscard]] Splits tight_splits(const Camera& camera, double aspect, const Corners& scene);
// Around what of the scene may be in the slice.
[[nodiscard]] ParallelMap tight_map(const glm::vec3& direction, const Slice& slice,
                                    const Corners& scene);

// ---- Stable ones: of a size that does not change, they move by whole texels, so that texels stay
// where they are in the scene (Valient, "Stable Rendering of Cascaded Shadow Maps", ShaderX6, 2008)

// They follow from the scene's bounds alone; the last slice has no end.
[[nodiscard]] Splits stable_splits(const Corners& scene);
// Around the sphere around the slice; along an axis where the scene is smaller, around that.
// `scene` is the map of it, `texels` are those of the view.
[[nodiscard]] ParallelMap stable_map(const ParallelMap& scene, const Slice& slice,
                                     const glm::dvec2& texels);

}  // namespace quadtile::shadow
