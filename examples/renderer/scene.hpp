// The scene of each frame, and its importance map on the CPU.

#pragma once

#include "shaders/scene.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace renderer {

// Largest side of the picture, pixels: the sums of a tile's colours have 32 bits.
constexpr std::uint32_t MAX_SIDE = 4096;

inline Scene scene_of_frame(std::uint32_t frame, std::uint32_t width, std::uint32_t height) {
    struct Path {
        double phase;
        double speed;   // radians per frame
        double radius;  // the light's radius per shorter side of the picture
        Colour colour;
    };
    constexpr Path PATHS[LIGHTS] = {{0.35, 0.05, 0.33, {255, 112, 40}},
                                    {2.60, 0.04, 0.29, {36, 148, 255}},
                                    {4.55, 0.03, 0.22, {235, 44, 150}}};
    Scene scene{.width = width, .height = height, .lights = {}};
    for (std::uint32_t i = 0; i < LIGHTS; ++i) {
        const Path& path = PATHS[i];
        const double angle = path.phase + path.speed * frame;
        const auto whole = [](double value) { return static_cast<int>(std::lround(value)); };
        scene.lights[i] = {.x = whole(width * (0.5 + 0.24 * std::cos(angle))),
                           .y = whole(height * (0.5 + 0.16 * std::sin(2.0 * angle))),
                           .radius = std::max(1, whole(std::min(width, height) * path.radius)),
                           .colour = path.colour};
    }
    return scene;
}

// Returns the map that the GPU makes, row by row.
inline std::vector<float> importance_map(const Scene& scene) {
    std::vector<float> texels;
    texels.reserve(std::size_t{scene.width} * scene.height);
    for (std::uint32_t y = 0; y < scene.height; ++y) {
        for (std::uint32_t x = 0; x < scene.width; ++x) {
            texels.push_back(importance_at(scene, static_cast<int>(x), static_cast<int>(y)));
        }
    }
    return texels;
}

// The threshold: a tile needs fewer pixels than this on a side. Tiles at the lights' rims, where a
// texel needs a pixel, have 4 x 4 texels.
constexpr float MAX_TILE_PIXELS = 8.0F;

}  // namespace renderer
