// Makes the height map once: ridges over hills, value noise of nine octaves.
#version 460

#define MAKES_HEIGHTS
#include "resources.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

float random(uvec2 place, uint octave) {
    uint v = place.x * 0x9e3779b1U ^ (place.y * 0x85ebca77U + octave * 0xc2b2ae3dU + view.seed * 0x27d4eb2fU);
    v = (v ^ (v >> 15)) * 0x2c1b3c6dU;
    v = (v ^ (v >> 12)) * 0x297a2d39U;
    return float((v ^ (v >> 15)) >> 8) / 16777216.0;
}

// Returns smooth noise between 0 and 1.
float noise(vec2 place, uint octave) {
    const uvec2 cell = uvec2(ivec2(floor(place)));
    const vec2 f = fract(place);
    const vec2 t = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    return mix(mix(random(cell, octave), random(cell + uvec2(1, 0), octave), t.x),
               mix(random(cell + uvec2(0, 1), octave), random(cell + uvec2(1, 1), octave), t.x), t.y);
}

void main() {
    const uvec2 place = gl_GlobalInvocationID.xy;
    if (max(place.x, place.y) >= HEIGHT_EXTENT) {
        return;
    }
    // Weights each octave by those before it: rough mountains, smooth valleys.
    float height = 0.0;
    float weight = 1.0;
    float amplitude = 130.0;
    vec2 p = vec2(place) / 420.0;
    for (uint octave = 0; octave < 9; ++octave) {
        const float ridge = 1.0 - abs(2.0 * noise(p, octave) - 1.0);
        height += amplitude * weight * ridge * ridge;
        weight = clamp(weight * ridge * 1.6, 0.0, 1.0);
        amplitude *= 0.48;
        p = mat2(0.8, 0.6, -0.6, 0.8) * p * 2.03 + 64.0;
    }
    imageStore(heights, ivec3(place, 0), vec4(height));
}
