// Shadow maps of a sun by the techniques to compare with: one map of the whole scene, or four along
// the camera's view.

#pragma once

#include "camera.hpp"
#include "geometry.hpp"
#include "shaders/receivers.h"

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::shadow {

enum class Technique {
    fitted,           // quadtile::ShadowFitter
    single,           // one map of the whole scene
    cascades,         // four, each as tight as possible around a slice of the camera's view
    stable_cascades,  // four of constant size, moved by whole texels
    cubes,            // of the point lights behind the first light, with equal faces
};

// Returns the faces of cube maps of clip spaces of point lights, which share an image of extent^2
// texels evenly.
[[nodiscard]] std::vector<DrawnView> cube_views(std::span<const ShadowProjection> faces,
                                                std::uint32_t extent);

// Returns the maps of a sun by a technique other than `fitted`, by distance from the camera. The
// image has extent^2 texels and is divided evenly; two texels at each edge of a map are for
// filters.
[[nodiscard]] std::vector<DrawnView> fixed_views(Technique technique,
                                                 const glm::vec3& sun_direction,
                                                 const Camera& camera, const ShadowBox& bounds,
                                                 float aspect, std::uint32_t extent);

}  // namespace quadtile::shadow
