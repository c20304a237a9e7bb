// A shader of the user's: light 0 is the sun, light 1 a spot with hard shadows.
#version 460
#extension GL_GOOGLE_include_directive : require

#include <quadtile/shadow.h>

layout(push_constant, std430) uniform Parameters { ShadowParameters parameters; };
#define SHADOW_SET 1
#define SHADOW_BINDING 0
#define SHADOW_PARAMETERS parameters
#include <quadtile/shadow_lookup.glsl>

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec4 colour;

void main() {
    const vec3 n = normalize(normal);
    colour = vec4(shadow_filtered(shadow_point(0, position, n)), shadow_nearest(shadow_point(1, position, n)), 0.0, 1.0);
}
