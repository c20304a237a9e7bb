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

void main() {
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (pixel.x >= int(drawn.width) || pixel.y >= int(drawn.height)) {
        return;
    }
    const Surface surface = surface_at(pixel);
    Receiver receiver;
    receiver.position = float[](surface.position.x, surface.position.y, surface.position.z);
    receiver.normal = float[](surface.normal.x, surface.normal.y, surface.normal.z);
    receiver.word = 0;
    receiver.share = surface.is_there ? 0.0 : -1.0;
    for (uint i = 0; i < drawn.light_count && surface.is_there; ++i) {
        if (!may_light(i, surface)) {
            continue;
        }
        ShadowPoint point;
        float share;
        if (receiver_frame.view_count > 0) {
            point = point_in_view(surface);
            share = drawn.shadow_filter == FILTER_HARD ? shadow_nearest(point) : shadow_filtered(point);
        } else {
            share = reaching(drawn.lights[i], surface, vec2(pixel), point);
        }
        receiver.word |= 0x10000u << i | (shadow_nearest(point) > 0.0 ? 1u << i : 0u);
        receiver.share = i == 0 ? share : receiver.share;
    }
    receivers[pixel.y * int(drawn.width) + pixel.x] = receiver;
}

bool may_light(uint i, Surface surface) {
    const DrawnLight light = drawn.lights[i];
    // Along the surface neither shadow nor ray is more than rounding, and no light arrives.
    const vec3 way = way_to(light, surface.position);
    if (!(dot(surface.normal, way) > 1e-3 * length(way))) {
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

// Returns the place in the view for the surface's distance; the views are those of the first light, a sun.
ShadowPoint point_in_view(Surface surface) {
    uint i = 0;
    while (i + 1 < receiver_frame.view_count && surface.from_camera > receiver_frame.views[i].farthest) {
        ++i;
    }
    const DrawnView view = receiver_frame.views[i];
    mat4 clip_from_world;
    for (uint k = 0; k < 16; ++k) {
        clip_from_world[k / 4][k % 4] = view.clip_from_world[k];
    }
    const ShadowPlane plane = shadow_plane(clip_from_world, surface.position, surface.normal);
    const vec2 extent = vec2(view.width, view.height);
    const vec2 texel = vec2(view.x, view.y) + (plane.point.xy * 0.5 + 0.5) * extent;
    ShadowPoint point = shadow_point_of_plane(plane, 0.5 * extent, texel, view.texel_extent);
    // Two texels at the edge are for the filter.
    point.is_inside = all(lessThanEqual(abs(plane.point.xy), 1.0 - 4.0 / extent));
    point.outside = 1.0;
    return point;
}
