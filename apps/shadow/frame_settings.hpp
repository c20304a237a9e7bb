// Input of a frame; it may change from frame to frame at no cost.

#pragma once

#include "camera.hpp"

#include <glm/trigonometric.hpp>
#include <glm/vec3.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace quadtile::shadow {

// Nearest distance in the camera's depth buffer, units of the world.
constexpr float CAMERA_NEAREST = 0.05F;

enum class Technique {
    fitted,           // quadtile::ShadowFitter
    single,           // one map of the whole scene per light
    cascades,         // four per parallel light, along the camera's view
    stable_cascades,  // the same, of constant size, moved by whole texels
    rays,             // no maps: ray casting (RayCaster::light)
};

enum class Filter {
    hard,  // the nearest texel
    box,   // 3 x 3 texels
    soft,  // as wide as the penumbra of a light with an extent
};

enum class Picture {
    shaded,
    tiles,  // shaded, tiles in the colours of their levels, texels as a grid
};

struct Light {
    enum class Kind { sun, spot, point };
    Kind kind = Kind::sun;
    glm::vec3 direction{-0.4F, -1.0F, -0.3F};  // of the light's rays
    glm::vec3 position{0.0F};                  // of a spot or point light
    float angle_degrees = 60.0F;               // of a spot
    glm::vec3 colour{1.0F};                    // 1: about that of a bright day
    // Radius for Filter::soft. Of a sun: degrees in the sky; of others: units of the world.
    float radius = 0.27F;
    float weight = 1.0F;  // ShadowProjection::weight

    float nearest_extent = 0.0F;  // of a sun's levels; 0: no levels
    std::uint32_t levels = 1;     // of a sun

    // Returns the number of layers in ShadowOptions::lights.
    [[nodiscard]] std::uint32_t layers() const {
        return kind == Kind::point ? SHADOW_FACES : kind == Kind::sun ? levels : 1;
    }
};

// Returns the radius for shadow_disc of quadtile/shadow_soft.glsl.
[[nodiscard]] inline float disc_radius(const Light& light) {
    return light.kind == Light::Kind::sun ? std::tan(glm::radians(light.radius)) : light.radius;
}

// Identity of a tile over frames: words of ShadowTile.
struct TileName {
    std::uint32_t position = 0;
    std::uint32_t node = 0;

    friend bool operator==(const TileName&, const TileName&) = default;
};

[[nodiscard]] inline std::uint32_t layers_of(std::span<const Light> lights) {
    std::uint32_t layers = 0;
    for (const Light& light : lights) {
        layers += light.layers();
    }
    return layers;
}

// Returns the light of a layer. `layer` is less than layers_of(lights).
[[nodiscard]] inline const Light& light_of_layer(std::span<const Light> lights,
                                                 std::uint32_t layer) {
    while (layer >= lights.front().layers()) {
        layer -= lights.front().layers();
        lights = lights.subspan(1);
    }
    return lights.front();
}

struct FrameSettings {
    Technique technique = Technique::fitted;
    Picture picture = Picture::shaded;
    Filter filter = Filter::box;
    Camera camera;
    float second = 0.0F;                  // of moving objects
    std::vector<Light> lights{Light{}};   // with as many layers as ShadowOptions::lights
    std::optional<TileName> marked_tile;  // of Technique::fitted: in another colour
};

}  // namespace quadtile::shadow
