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

ivec3 texel_of(uint i, uint light) {
    const uint extent_mask = (1U << parameters.map_levels) - 1;
    return ivec3(i & extent_mask, (i >> parameters.map_levels) & extent_mask, light);
}

void main() {
    const uint thread = gl_LocalInvocationIndex;
    const uint levels = parameters.map_levels;
    // Maps have 256 texels at least, so all of a workgroup's lie in one.
    const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * THREAD_TEXELS;
    const uint light = min(first >> (2 * levels), parameters.lights - 1);
    // Loaded first, so that they are on their way meanwhile.
    float last[THREAD_TEXELS];
    for (uint k = 0; k < THREAD_TEXELS; ++k) {
        last[k] = uintBitsToFloat(
            imageLoad(importance_map, texel_of(first + k * gl_WorkGroupSize.x + thread, light)).x);
    }
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
            const float left = fades ? shadow_faded(parameters, last[k]) : 0.0;
            imageStore(importance_map, texel_of(i, light), uvec4(floatBitsToUint(left)));
        }
        if (i < page_count() * PAGE_WORDS) {
            work[occupied_word(i)] = 0;
        }
    }
}
