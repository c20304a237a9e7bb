// Lookups of shadow_lookup.glsl at given places, for fitter_test.cpp: with FACES of places on the maps of lights, else
// of places in the atlas.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SHADOW_SET 0
#define SHADOW_BINDING 1
#define SHADOW_PARAMETERS parameters
#include "quadtile/shadow.h"
layout(push_constant, std430) uniform PushConstants { ShadowParameters parameters; };
#include "quadtile/shadow_lookup.glsl"

layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Places { vec4 places[]; };

void main() {
    const uint i = gl_WorkGroupID.x;
    const vec4 place = places[i];
    const ShadowPlane plane = ShadowPlane(vec3(place.xy, 0.5), 1.0, vec2(0.0), 0.0);
#ifdef FACES
    const ShadowPoint point = shadow_point(uint(place.z), plane);
    places[i] = vec4(point.is_inside ? 1.0 : 0.0, point.texel, point.outside);
#else
    places[i].z = shadow_filtered(shadow_point_of_plane(plane, vec2(1.0), place.xy, 0.0));
#endif
}
