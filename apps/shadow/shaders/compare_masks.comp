// Counts and marks the pixels with a surface whose masks differ, and sums the differences of light.
//
// Dispatch: (width / 8, height / 8) workgroups of 8 x 8 threads, rounded up: one thread per pixel.
// Bindings: 0: a mask, 1: its light; 2: the mask of rays, 3: their light; 4: counts, 5: marks, both zero
// before the dispatch. Push constants: the pixels that marks reach beyond wrong ones.
// Memory order: a workgroup sums by atomics in shared memory, between barriers that all threads reach, and
// adds its sums to the counts by atomics, as it adds bits to the marks; the host and later passes read
// after the dispatch.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "rays.h"
#include "marks.h"

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, r32ui) uniform readonly uimage2D mask;
layout(binding = 1, r32ui) uniform readonly uimage2D light;
layout(binding = 2, r32ui) uniform readonly uimage2D true_mask;
layout(binding = 3, r32ui) uniform readonly uimage2D true_light;
layout(binding = 4, std430) buffer CountBuffer { MaskCounts counts; };
layout(binding = 5, r32ui) uniform uimage2D marks;
layout(push_constant) uniform PushConstants { int mark_pixels; };

shared MaskCounts sums;

uint difference_of_bytes(uint a, uint b) {
    uint sum = 0;
    for (uint shift = 0; shift < 32; shift += 8) {
        sum += uint(abs(int(a >> shift & 0xffu) - int(b >> shift & 0xffu)));
    }
    return sum;
}

// Marks the surroundings of a wrong pixel.
void mark(ivec2 pixel, uint word) {
    imageAtomicOr(marks, pixel, word | MARK_EXACT);
    const ivec2 last = imageSize(marks) - 1;
    const ivec2 from = max(pixel - mark_pixels, ivec2(0));
    const ivec2 to = min(pixel + mark_pixels, last);
    for (int y = from.y; y <= to.y; ++y) {
        for (int x = from.x; x <= to.x; ++x) {
            imageAtomicOr(marks, ivec2(x, y), word);
        }
    }
}

void count(ivec2 pixel) {
    const uint right = imageLoad(true_mask, pixel).x;
    if ((right & MASK_SURFACE) == 0) {
        return;
    }
    const uint other = imageLoad(mask, pixel).x;
    const bool is_wrongly_lit = (other & ~right & SHADOW_LIT) != 0;
    const bool is_wrongly_shadowed = (~other & right & SHADOW_LIT) != 0;
    atomicAdd(sums.surface_pixels, 1u);
    atomicAdd(sums.wrong, is_wrongly_lit || is_wrongly_shadowed ? 1u : 0u);
    atomicAdd(sums.wrongly_lit, is_wrongly_lit ? 1u : 0u);
    atomicAdd(sums.wrongly_shadowed, is_wrongly_shadowed ? 1u : 0u);
    atomicAdd(sums.light_difference,
              difference_of_bytes(imageLoad(light, pixel).x, imageLoad(true_light, pixel).x));
    imageAtomicOr(marks, pixel, MARK_SURFACE);
    if (is_wrongly_lit || is_wrongly_shadowed) {
        mark(pixel, (is_wrongly_lit ? MARK_LIT : 0u) | (is_wrongly_shadowed ? MARK_SHADOWED : 0u));
    }
}

void main() {
    if (gl_LocalInvocationIndex == 0) {
        sums = MaskCounts(0, 0, 0, 0, 0);
    }
    barrier();
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    const ivec2 extent = imageSize(true_mask);
    if (pixel.x < extent.x && pixel.y < extent.y) {
        count(pixel);
    }
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        atomicAdd(counts.surface_pixels, sums.surface_pixels);
        atomicAdd(counts.wrong, sums.wrong);
        atomicAdd(counts.wrongly_lit, sums.wrongly_lit);
        atomicAdd(counts.wrongly_shadowed, sums.wrongly_shadowed);
        atomicAdd(counts.light_difference, sums.light_difference);
    }
}
