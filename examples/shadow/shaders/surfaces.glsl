// The surface at a pixel of the camera's depth buffer, and the share of a light that reaches it by the fitted shadow
// maps. Bindings 0 to 4 and 7, 8 of set 0: the frame, the shadow maps, the camera's view of surfaces.

#include "frame.h"

layout(std430, set = 0, binding = 0) readonly buffer Drawn { DrawnFrame drawn; };
#define SHADOW_SET 0
#define SHADOW_BINDING 1
#define SHADOW_PARAMETERS drawn.shadow
#include <quadtile/shadow_lookup.glsl>
#include <quadtile/shadow_soft.glsl>
layout(set = 0, binding = 7) uniform sampler2D depth_buffer;
layout(set = 0, binding = 8) uniform sampler2D normals;

struct Surface {
    bool is_there;  // else background
    vec3 ray;       // from the camera
    float from_camera;
    vec3 position;
    vec3 normal;    // of the triangle, towards the camera
};

vec3 vector(float v[3]) {
    return vec3(v[0], v[1], v[2]);
}

Surface surface_at(ivec2 pixel) {
    const vec2 clip = 2.0 * (vec2(pixel) + 0.5) / vec2(drawn.width, drawn.height) - 1.0;
    const float depth = texelFetch(depth_buffer, pixel, 0).x;
    Surface surface;
    surface.ray = vector(drawn.ray) + clip.x * vector(drawn.ray_by_x) + clip.y * vector(drawn.ray_by_y);
    surface.is_there = depth != 0.0;
    surface.from_camera = drawn.nearest / depth;
    surface.position = vector(drawn.camera) + surface.from_camera * surface.ray;
    surface.normal = normalize(texelFetch(normals, pixel, 0).xyz);
    return surface;
}

// Returns the vector from a position to a light; to a sun, of length 1.
vec3 way_to(DrawnLight light, vec3 position) {
    return light.kind == LIGHT_SUN ? -vector(light.direction) : vector(light.position) - position;
}

// Returns the share of a light that reaches a surface which faces it, 0 to 1, by the frame's filter. `point` is its
// place in the atlas.
float reaching(DrawnLight light, Surface surface, vec2 pixel, out ShadowPoint point) {
    const uint layer = shadow_layer(light.layer, surface.position);
    const mat4 clip_from_world = shadow_clip_from_world(layer);
    const ShadowPlane plane = shadow_plane(clip_from_world, surface.position, surface.normal);
    point = shadow_point(layer, plane);
    if (drawn.shadow_filter == FILTER_SOFT) {
        return shadow_soft(layer, shadow_disc(clip_from_world, light.radius), plane, shadow_soft_turn(pixel));
    }
    return drawn.shadow_filter == FILTER_HARD ? shadow_nearest(point) : shadow_filtered(point);
}
