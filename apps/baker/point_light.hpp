// Light of a point or spot light on a surface without occlusion.

#pragma once

#include "scene.hpp"
#include "surface_map.hpp"

namespace quadtile::baker {

struct LightReceived {
    double irradiance = 0.0;    // in units of the light's intensity
    glm::dvec3 direction{0.0};  // towards the light, times the irradiance
};

// Returns the mean over the patch, on the side of its normal. `light`'s sphere shines evenly;
// inside of it the light is that of its surface.
[[nodiscard]] LightReceived received(const PointLight& light, const Patch& patch,
                                     const glm::vec3& normal);

}  // namespace quadtile::baker
