#version 460

// Writes the surface at each pixel, the lights that reach it by shadow maps, and the share of the first.
//
// Dispatch: workgroups of 8 x 8 threads, one thread per pixel. Bindings: those of surfaces.glsl, with the image of the
// other techniques in place of the atlas if there are views; 9: the frame; 10: the receivers, row by row, of which each
// thread writes its own. All inputs were written before the dispatch.

#extension GL_GOOGLE_include_directive : require
#include "../../../examples/shadow/shaders/surfaces.glsl"
#include "receivers.h"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, set = 0, binding = 9) readonly buffer FrameBuffer { ReceiverFrame receiver_frame; };
layout(std430, set = 0, binding = 10) writeonly buffer Receivers { Receiver receivers[]; };

bool may_light(uint i, Surface surface);
ShadowPoint point_in_view(Surface surface);
ShadowPoint point_in_cube(uint lamp, Surface surface);

void main() {
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (pixel.x >= int(drawn.width) || pixel.y >= int(drawn.height)) {
        return;
    }
    const Surface surface = surface_at(pixel);
    Receiver receiver;
    receiver.position = float[](surface.position.x, surface.position.y, surface.position.z);
    receiver.normal = float[](surface.normal.x, surface.normal.y, surface.normal.z);
    receiver.lit = 0;
    receiver.faces = 0;
    receiver.share = surface.is_there ? 0.0 : -1.0;
    for (uint i = 0; i < drawn.light_count && surface.is_there; ++i) {
        if (!may_light(i, surface)) {
            continue;
        }
        ShadowPoint point;
        float share;
        if (receiver_frame.view_count > 0) {
            point = receiver_frame.has_cubes != 0 ? point_in_cube(i - 1, surface) : point_in_view(surface);
            share = drawn.shadow_filter == FILTER_HARD ? shadow_nearest(point) : shadow_filtered(point);
        } else {
            share = reaching(drawn.lights[i], surface, vec2(pixel), point);
        }
        receiver.faces |= 1u << i;
        receiver.lit |= shadow_nearest(point) > 0.0 ? 1u << i : 0u;
        receiver.share = i == 0 ? share : receiver.share;
    }
    receivers[pixel.y * int(drawn.width) + pixel.x] = receiver;
}

bool may_light(uint i, Surface surface) {
    const DrawnLight light = drawn.lights[i];
    if (receiver_frame.has_cubes != 0 && light.kind == LIGHT_SUN) {
        return false;
    }
    // Along the surface neither shadow nor ray is more than rounding, and no light arrives.
    const vec3 way = way_to(light, surface.position);
    const bool is_in_range = light.kind == LIGHT_SUN || length(way) < light.range;
    if (!is_in_range || !(dot(surface.normal, way) > 1e-3 * length(way))) {
        return false;
    }
    mat4 clip_from_world;
    for (uint k = 0; k < 16; ++k) {
        clip_from_world[k / 4][k % 4] = receiver_frame.clip_from_world[16 * i + k];
    }
    const vec4 clip = clip_from_world * vec4(surface.position, 1.0);
    return light.kind != LIGHT_SPOT ||
           (clip.w > 0.0 && all(lessThanEqual(abs(clip.xy), vec2(clip.w))) && clip.z >= 0.0);
}

mat4 clip_of_view(uint i) {
    mat4 clip_from_world;
    for (uint k = 0; k < 16; ++k) {
        clip_from_world[k / 4][k % 4] = receiver_frame.views[i].clip_from_world[k];
    }
    return clip_from_world;
}

// Returns the place in view i of a plane in its clip space, with the extent of a texel there.
ShadowPoint point_of_plane(uint i, ShadowPlane plane, float texel_extent) {
    const DrawnView view = receiver_frame.views[i];
    const vec2 extent = vec2(view.width, view.height);
    const vec2 texel = vec2(view.x, view.y) + (plane.point.xy * 0.5 + 0.5) * extent;
    return shadow_point_of_plane(plane, 0.5 * extent, texel, texel_extent);
}

// Returns the place in the face of a point light that the surface lies in front of.
ShadowPoint point_in_cube(uint lamp, Surface surface) {
    uint face = 0;
    float most = 0.0;
    for (uint i = SHADOW_FACES * lamp; i < SHADOW_FACES * (lamp + 1); ++i) {
        const float w = (clip_of_view(i) * vec4(surface.position, 1.0)).w;
        face = w > most ? i : face;
        most = max(w, most);
    }
    const ShadowPlane plane = shadow_plane(clip_of_view(face), surface.position, surface.normal);
    const DrawnView view = receiver_frame.views[face];
    ShadowPoint point = point_of_plane(face, plane, view.texel_extent * plane.w);
    const vec2 low = vec2(view.x, view.y) + 0.5;
    point.texel = clamp(point.texel, low, low + vec2(view.width, view.height) - 1.0);
    return point;
}

// Returns the place in the view for the surface's distance; the views are those of the first light, a sun.
ShadowPoint point_in_view(Surface surface) {
    uint i = 0;
    while (i + 1 < receiver_frame.view_count && surface.from_camera > receiver_frame.views[i].farthest) {
        ++i;
    }
    const ShadowPlane plane = shadow_plane(clip_of_view(i), surface.position, surface.normal);
    const vec2 extent = vec2(receiver_frame.views[i].width, receiver_frame.views[i].height);
    ShadowPoint point = point_of_plane(i, plane, receiver_frame.views[i].texel_extent);
    // Two texels at the edge are for the filter.
    point.is_inside = all(lessThanEqual(abs(plane.point.xy), 1.0 - 4.0 / extent));
    point.outside = 1.0;
    return point;
}
