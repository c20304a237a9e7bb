// Shadow maps of the techniques to compare with: per light one of the whole scene, or four along
// the camera's view; and culling for such a view.

#pragma once

#include "frame_settings.hpp"
#include "geometry.hpp"

#include <glm/mat4x4.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::shadow {

// A map in a rectangle of an image.
struct FixedView {
    glm::mat4 clip_from_world{1.0F};
    std::uint32_t light = 0;
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    float farthest = 0.0F;      // distance from the camera; a light's last map serves all
    float texel_extent = 0.0F;  // the greater one, in units of the world; of spots at w = 1
};

// Returns the maps by light, then distance from the camera. `projections` are those of spots
// (unused for suns). The image has extent^2 texels and is divided evenly; two texels at each edge
// of a map are for filters. Parallel maps are as tight as possible around the scene, or around the
// slice of the camera's view with parts of the scene. Those of Technique::stable_cascades keep
// their size instead.
[[nodiscard]] std::vector<FixedView> fixed_views(const FrameSettings& settings,
                                                 std::span<const ShadowProjection> projections,
                                                 const ShadowBox& bounds, float aspect,
                                                 std::uint32_t extent);

// Consecutive indices to draw.
struct IndexRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// Returns the ranges of clusters that a clip space may see. Casters nearer than its depth 0 count.
[[nodiscard]] std::vector<IndexRange> visible_ranges(std::span<const ShadowObject> clusters,
                                                     const glm::mat4& clip_from_world);

}  // namespace quadtile::shadow
