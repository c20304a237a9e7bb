// What a point or spot light gives to a surface where nothing is between them.

#pragma once

#include "scene.hpp"
#include "surface_map.hpp"

namespace quadtile::baker {

struct LightReceived {
    double irradiance = 0.0;    // in units of the light's intensity
    glm::dvec3 direction{0.0};  // to where it comes from, times that
};

// The mean over the patch, whose side that is lit is that of the normal. `light`'s sphere shines
// evenly; inside of it light is that of its surface.
[[nodiscard]] LightReceived received(const PointLight& light, const Patch& patch,
                                     const glm::vec3& normal);

}  // namespace quadtile::baker
