// Lights: those of a scene, and their clip spaces for quadtile::ShadowFitter.

#pragma once

#include "camera.hpp"

#include <load_scene.hpp>

#include <quadtile/shadow.hpp>

#include <glm/glm.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace quadtile::shadow {

struct Light {
    enum class Kind { sun, spot, point };
    Kind kind = Kind::sun;
    glm::vec3 direction{-0.4F, -1.0F, -0.3F};  // of the light's rays
    glm::vec3 position{0.0F};                  // of a spot or point light
    float angle_degrees = 60.0F;               // of a spot
    // Of a sun: irradiance on a surface that faces it; of others: that at a distance of 1.
    glm::vec3 colour{2.2F};
    // Radius for soft shadows. Of a sun: degrees in the sky; of others: units of the world.
    float radius = 0.27F;
    float weight = 1.0F;                                   // ShadowProjection::weight
    float range = std::numeric_limits<float>::infinity();  // at which a spot or point light ends

    float nearest_extent = 0.0F;  // of a sun's levels; 0: no levels
    std::uint32_t levels = 1;     // of a sun

    bool is_on = true;  // else its layers are unused, and those of other lights stay where they are

    // Returns the number of layers in ShadowOptions::lights.
    [[nodiscard]] std::uint32_t layers() const;
};

[[nodiscard]] std::uint32_t layers_of(std::span<const Light> lights);

// Returns the radius for shadow_disc of quadtile/shadow_soft.glsl.
[[nodiscard]] float disc_radius(const Light& light);

// Returns the suns, spots and point lights of a scene, in that order, as many as ShadowFitter has
// layers for; a sun if the scene has no lights. Adds a sentence to `warnings` if it leaves lights
// out. `sun_levels_extent`: Light::nearest_extent of suns, with as many levels as `bounds` needs.
[[nodiscard]] std::vector<Light> lights_of(const baker::Scene& scene, const ShadowBox& bounds,
                                           float sun_levels_extent,
                                           std::vector<std::string>& warnings);

// Returns the clip spaces, layer by layer, for a scene with these bounds.
[[nodiscard]] std::vector<ShadowProjection> projections_of(std::span<const Light> lights,
                                                           const ShadowBox& bounds,
                                                           const glm::vec3& eye);

}  // namespace quadtile::shadow
