// The scene, in C++ and in GLSL: spotlights that wander over a dark floor.
//
// It uses only whole numbers: results are bit-identical on the CPU and all devices.

#ifndef RENDERER_SCENE_H
#define RENDERER_SCENE_H

#ifdef __cplusplus
#include <cstdint>
#define SCENE_FUNCTION inline
namespace renderer {
using uint = std::uint32_t;
#else
#define SCENE_FUNCTION
#endif

const uint LIGHTS = 3;

struct Colour {
    uint red;  // 0 to 255
    uint green;
    uint blue;
};

// A disc with a sharp rim, in texels, which are the pixels of the picture.
struct Light {
    int x;
    int y;
    int radius;
    Colour colour;
};

struct Scene {
    uint width;
    uint height;
    Light lights[LIGHTS];
};

SCENE_FUNCTION int squared_distance(Light light, int x, int y) {
    const int right = x - light.x;
    const int down = y - light.y;
    return right * right + down * down;
}

// Returns the texels to a near rim. Far outside returns more, so that tiles grow quickly.
SCENE_FUNCTION uint distance_to_rim(Light light, int x, int y) {
    const int excess = squared_distance(light, x, y) - light.radius * light.radius;
    return uint((excess < 0 ? -excess : excess) / (2 * light.radius));
}

// Importance map: the pixels needed across a texel. One at the rims, where the picture is sharp,
// less away from them, in steps of 1/256, which floats hold exactly.
SCENE_FUNCTION float importance_at(Scene scene, int x, int y) {
    uint nearest = distance_to_rim(scene.lights[0], x, y);
    for (uint i = 1; i < LIGHTS; ++i) {
        const uint distance = distance_to_rim(scene.lights[i], x, y);
        nearest = distance < nearest ? distance : nearest;
    }
    const uint steps = 256 * 8 / (nearest + 8);
    return float(steps) * (1.0F / 256.0F);
}

SCENE_FUNCTION uint at_most_255(uint value) {
    return value < 255 ? value : 255;
}

// Returns the floor's colour under all lights.
SCENE_FUNCTION Colour colour_at(Scene scene, int x, int y) {
    Colour colour;
    colour.red = 14;
    colour.green = 16;
    colour.blue = 32;
    for (uint i = 0; i < LIGHTS; ++i) {  // NOLINT(modernize-loop-convert): nor has GLSL others
        const Light light = scene.lights[i];
        const int squared_radius = light.radius * light.radius;
        const int squared = squared_distance(light, x, y);
        // Strength of 256: weaker towards the rim; a glow outside.
        const uint strength = uint(squared < squared_radius ? 256 - 136 * squared / squared_radius
                                                            : 40 * squared_radius / squared);
        colour.red += light.colour.red * strength / 256;
        colour.green += light.colour.green * strength / 256;
        colour.blue += light.colour.blue * strength / 256;
    }
    colour.red = at_most_255(colour.red);
    colour.green = at_most_255(colour.green);
    colour.blue = at_most_255(colour.blue);
    return colour;
}

// Colour of a tile's left column and top row: darker on bright tiles, brighter on dark ones.
SCENE_FUNCTION Colour outline_of(Colour colour) {
    colour.red = colour.red * 5 / 8 + 28;
    colour.green = colour.green * 5 / 8 + 28;
    colour.blue = colour.blue * 5 / 8 + 34;
    return colour;
}

#ifdef __cplusplus
}  // namespace renderer
#endif

#endif
