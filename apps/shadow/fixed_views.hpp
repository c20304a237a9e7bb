// The shadow maps of the techniques that fitted ones are compared with: one of the whole scene for
// each light, or four along the camera's view. And what of a scene such a view sees.

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
    float farthest = 0.0F;      // that it serves, from the camera; of the last one of a light: all
    float texel_extent = 0.0F;  // the greater one, in units of the world; at w = 1 of a spot
};

// By light, and from the camera on. `projections` are those of spots (of suns they do not matter).
// The image has extent^2 texels and is shared out evenly; two texels at each edge of a map are for
// filters. Parallel maps are as tight as they can be around what they serve: the scene, or the part
// of the camera's view where it may be; those of Technique::stable_cascades are not, but stay.
[[nodiscard]] std::vector<FixedView> fixed_views(const FrameSettings& settings,
                                                 std::span<const ShadowProjection> projections,
                                                 const ShadowBox& bounds, float aspect,
                                                 std::uint32_t extent);

// Neighbouring indices to draw.
struct IndexRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// Of the clusters that a clip space may see. What lies nearer than its depth 0 counts: it casts.
[[nodiscard]] std::vector<IndexRange> visible_ranges(std::span<const ShadowObject> clusters,
                                                     const glm::mat4& clip_from_world);

}  // namespace quadtile::shadow
