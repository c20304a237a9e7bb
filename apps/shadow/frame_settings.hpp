// What a frame is drawn from, and what may change from frame to frame at no cost.

#pragma once

#include "camera.hpp"

#include <glm/vec3.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::shadow {

// Of the camera's depth buffer, in units of the world: what Camera::clip_from_world is given.
constexpr float CAMERA_NEAREST = 0.05F;

enum class Technique {
    fitted,           // quadtile::ShadowFitter
    single,           // one map of the whole scene for each light
    cascades,         // four for each parallel light, along the camera's view
    stable_cascades,  // so, too; of a size that does not change, moved by whole texels
};

enum class Picture {
    shaded,
    tiles,  // shaded, each tile in a colour of its level, slots' texels as a grid
    error,  // shaded; pixels whose hard shadow is not that of ray casting in red and blue
};

struct Light {
    enum class Kind { sun, spot, point };
    Kind kind = Kind::sun;
    glm::vec3 direction{-0.4F, -1.0F, -0.3F};  // that the light goes
    glm::vec3 position{0.0F};                  // of a spot or point light
    float angle_degrees = 60.0F;               // of a spot
    glm::vec3 colour{1.0F};                    // 1: about that of a bright day
    float weight = 1.0F;                       // ShadowProjection::weight

    float nearest_extent = 0.0F;  // of a sun's levels; 0: it has none
    std::uint32_t levels = 1;     // of a sun

    // Of ShadowOptions::lights.
    [[nodiscard]] std::uint32_t layers() const {
        return kind == Kind::point ? SHADOW_FACES : kind == Kind::sun ? levels : 1;
    }
};

[[nodiscard]] inline std::uint32_t layers_of(std::span<const Light> lights) {
    std::uint32_t layers = 0;
    for (const Light& light : lights) {
        layers += light.layers();
    }
    return layers;
}

struct FrameSettings {
    Technique technique = Technique::fitted;
    Picture picture = Picture::shaded;
    bool filtered = true;  // else hard shadows, of the nearest texel
    Camera camera;
    float second = 0.0F;                 // of what moves
    std::vector<Light> lights{Light{}};  // with as many layers as ShadowOptions::lights
};

}  // namespace quadtile::shadow
