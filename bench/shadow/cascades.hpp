// Shadow maps of a sun by the techniques to compare with: one map of the whole scene, or four along
// the camera's view.

#pragma once

#include "camera.hpp"
#include "geometry.hpp"
#include "shaders/receivers.h"

#include <glm/mat4x4.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::shadow {

enum class Technique {
    fitted,           // quadtile::ShadowFitter
    single,           // one map of the whole scene
    cascades,         // four, each as tight as possible around a slice of the camera's view
    stable_cascades,  // four of constant size, moved by whole texels
};

// A map in a rectangle of an image.
struct FixedView {
    glm::mat4 clip_from_world{1.0F};
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    float farthest = 0.0F;      // distance from the camera; the last map serves all
    float texel_extent = 0.0F;  // the greater one, in units of the world
};

// Returns the maps of a technique other than `fitted`, by distance from the camera. The image has
// extent^2 texels and is divided evenly; two texels at each edge of a map are for filters.
[[nodiscard]] std::vector<FixedView> fixed_views(Technique technique,
                                                 const glm::vec3& sun_direction,
                                                 const Camera& camera, const ShadowBox& bounds,
                                                 float aspect, std::uint32_t extent);

}  // namespace quadtile::shadow
