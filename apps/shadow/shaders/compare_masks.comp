// Counts the pixels where two masks differ, among those with a surface.
//
// Dispatch: (width / 8, height / 8) workgroups of 8 x 8 threads, rounded up: one thread a pixel.
// Bindings: 0: a mask; 1: that of rays, which is right; 2: the counts, zeros at first.
// Memory order: a workgroup sums by atomics in shared memory, between barriers that all threads reach, and
// adds its sums to the counts by atomics; the host reads after the submission.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "rays.h"

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, r32ui) uniform readonly uimage2D mask;
layout(binding = 1, r32ui) uniform readonly uimage2D truth;
layout(binding = 2, std430) buffer CountBuffer { MaskCounts counts; };

shared MaskCounts sums;

void count(uvec2 pixel) {
    const uint right = imageLoad(truth, ivec2(pixel)).x;
    if ((right & MASK_SURFACE) == 0) {
        return;
    }
    const uint other = imageLoad(mask, ivec2(pixel)).x;
    const bool is_wrongly_lit = (other & ~right & SHADOW_LIT) != 0;
    const bool is_wrongly_shadowed = (~other & right & SHADOW_LIT) != 0;
    atomicAdd(sums.surface_pixels, 1u);
    atomicAdd(sums.wrong, is_wrongly_lit || is_wrongly_shadowed ? 1u : 0u);
    atomicAdd(sums.wrongly_lit, is_wrongly_lit ? 1u : 0u);
    atomicAdd(sums.wrongly_shadowed, is_wrongly_shadowed ? 1u : 0u);
}

void main() {
    if (gl_LocalInvocationIndex == 0) {
        sums = MaskCounts(0, 0, 0, 0);
    }
    barrier();
    const uvec2 pixel = gl_GlobalInvocationID.xy;
    const ivec2 extent = imageSize(truth);
    if (pixel.x < extent.x && pixel.y < extent.y) {
        count(pixel);
    }
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        atomicAdd(counts.surface_pixels, sums.surface_pixels);
        atomicAdd(counts.wrong, sums.wrong);
        atomicAdd(counts.wrongly_lit, sums.wrongly_lit);
        atomicAdd(counts.wrongly_shadowed, sums.wrongly_shadowed);
    }
}
