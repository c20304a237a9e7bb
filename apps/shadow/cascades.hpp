// Cascades: the shadow maps of a sun, each of a slice of what the camera sees, one behind the
// other.

#pragma once

#include "camera.hpp"
#include "convex.hpp"
#include "parallel_map.hpp"

#include "shaders/frame.h"

#include <array>

namespace quadtile::shadow {

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
