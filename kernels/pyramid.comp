#version 460
// The quadtree's maxima of every layer of a map, all levels in one dispatch. downsample.glsl has how it goes.
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels (x, y) and layer (z).
//
// Bindings: downsample.glsl; set 0:
//   5-8  pyramid  levels 1 to the top (quadtree.h), in chunks (pyramid_chunks.glsl)
//
// Memory order: the hand-over of messages.glsl. NaN texels count as infinity: thread 0 adds their number to the state,
// and releases it before it counts in a node that is infinite. Whoever has made an infinite root acquires. Barriers order
// shared memory only.

#define EXTREMES 1
#define CHANNELS 1
#define CUSTOM 0
#define ODD_BLOCKS 0
#include "downsample.glsl"
#include "downsample_workgroup.glsl"
#include "downsample_blocks.glsl"
#include "downsample_ascent.glsl"
#include "nan_count.glsl"
#define PYRAMID_BINDING 5
#include "pyramid_chunks.glsl"

void put_texel(uint level, uvec2 position, float texel) {
    write_pyramid(layer * parameters.floats_per_layer + parameters.level_start[level - 1] +
                      position.y * parameters.pitch + position.x, texel);
}

void copy_texel(uvec2 position, float texel) {}

bool may_hold_nan(float item) { return item == uintBitsToFloat(0x7f800000U); }

void before_arrival(float item) {
    if (may_hold_nan(item)) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    }
}

bool meets_nan = false;  // whether a quad of the thread has a NaN texel, maybe one outside the map

void note_key(uint key) { meets_nan = meets_nan || counts_as_nan(key); }

uvec2 own_texel(uvec2 first_quad, uint thread, uint i) {
    return 2 * (first_quad + 16 * quarter(i >> 2)) + quarter(i & 3);
}

float texel_at(uvec2 position) { return texelFetch(source, ivec3(position, layer), 0).r; }

void note_quads(uvec2 first_quad, uint thread) {
    if (meets_nan) {
        count_nan(first_quad, thread);
    }
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z + parameters.first_layer;
    const Block block = block_at(gl_WorkGroupID.xy +
                                 uvec2(parameters.first_block_x, parameters.first_block_y));
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    reduce_base(block, thread);
    barrier();
    if (thread >= CREW_SIZE) {
        return;
    }
    const uint layer_state = layer_words();
    if (thread == 0 && nan_texels > 0) {
        atomicAdd(state[layer_state], nan_texels, gl_ScopeDevice, 0, 0);
    }
    float largest;
    if (ascend(block, true, layer_state, thread, largest)) {
        return;
    }
    // All workgroups have counted their NaN texels.
    if (thread == 0) {
        if (may_hold_nan(largest)) {
            acquire_arrivals();
        }
        state[layer] = atomicExchange(state[layer_state], 0, gl_ScopeDevice, 0, 0);
    }
}
