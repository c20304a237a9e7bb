// What a frame begins with: maps with what is left of the last frame's importance, and an atlas without
// occupied cells.
// CPU twin: faded_importance of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, a thread for four texels of the maps and words of the occupancy.
// Bindings: bindings.glsl; reads the frame and the last lights, reads and writes the importance map and work.
// Memory order: each thread reads and writes texels and words of its own.
// Source: docs/shadows.md, step 1.
#version 460
#include "bindings.glsl"

layout(local_size_x = 256) in;

const uint THREAD_TEXELS = 4;  // CLEAR_THREAD_TEXELS of lib/shadow/shadow_fitter.cpp

shared uint changes;

void main() {
    const uint thread = gl_LocalInvocationIndex;
    const uint levels = parameters.map_levels;
    // Maps have 256 texels at least, so all of a workgroup's lie in one.
    const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * THREAD_TEXELS;
    const uint light = min(first >> (2 * levels), parameters.lights - 1);
    if (thread == 0) {
        changes = 0;
    }
    barrier();
    if (thread < 16 && clip_has_changed(light, thread)) {
        atomicOr(changes, 1);
    }
    barrier();
    const bool fades = has_last_frame() && changes == 0;
    for (uint k = 0; k < THREAD_TEXELS; ++k) {
        const uint i = first + k * gl_WorkGroupSize.x + thread;
        if (i < parameters.lights << (2 * levels)) {
            const uint extent_mask = (1U << levels) - 1;
            const ivec3 texel = ivec3(i & extent_mask, (i >> levels) & extent_mask, light);
            float left = 0.0;
            if (fades) {
                left = shadow_faded(parameters, uintBitsToFloat(imageLoad(importance_map, texel).x));
            }
            imageStore(importance_map, texel, uvec4(floatBitsToUint(left)));
        }
        if (i < page_count() * PAGE_WORDS) {
            work[occupied_word(i)] = 0;
        }
    }
}
