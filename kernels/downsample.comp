#version 460
// Makes the mip levels of every layer of an image in one dispatch: depth pyramids, texture mipmaps. downsample.glsl has
// the method, downsample_items.glsl the macros of the reduction. ODD_BLOCKS: the edge rule may treat blocks with odd
// edges specially. PYRAMID: the maxima of the quadtree of every layer of a map, in a buffer.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels of the base level (x, y) and layer (z); with
// SOME_BLOCKS those from first_block to last_block of first_layer.
//
// Bindings: those of downsample.glsl, and in set 0
//   5    images   base level and the levels above (mip_images.glsl); only written
// PYRAMID: instead of these
//   5-8  pyramid  levels 1 to the top (quadtree.h), in chunks (pyramid_chunks.glsl)
//
// Memory order: the hand-over of messages.glsl if GETS_MESSAGES (downsample_blocks.glsl). Otherwise that of
// hand_over.glsl, where a barrier of the crew orders its threads behind thread 0. All other barriers order shared
// memory only. PYRAMID: NaN texels count as infinity. Thread 0 adds their number to the state, and releases it before
// it counts in an infinite node. The maker of an infinite root acquires.

#include "downsample.glsl"
#include "downsample_workgroup.glsl"
#include "downsample_blocks.glsl"

#if PYRAMID
#include "downsample_ascent.glsl"
#define PYRAMID_BINDING 5
#include "pyramid_chunks.glsl"

void put_texel(uint level, uvec2 position, float texel) {
    write_pyramid(layer * parameters.floats_per_layer + parameters.level_start[level - 1] +
                      position.y * parameters.pitch + position.x, texel);
}

void copy_texel(uvec2 position, float texel) {}
#else
layout(constant_id = 10) const bool COPY_SOURCE = false;

#include "mip_images.glsl"
#if CUSTOM
#include "user_reduction.glsl"
#endif
#include "downsample_ascent.glsl"

void put_texel(uint level, uvec2 position, TEXEL texel) {
    store_texel(level - parameters.base_level, ivec3(position, layer), VEC4_OF(texel));
}

void copy_texel(uvec2 position, TEXEL texel) {
    if (COPY_SOURCE) {
        if (all(lessThan(position, extent_of(0)))) {
            store_texel(0, ivec3(position, layer), VEC4_OF(copy_of(texel)));
        }
    }
}

#endif

void main() {
    const uint thread = thread_index();
    const uvec2 index = SOME_BLOCKS ? gl_WorkGroupID.xy + words_of(parameters.first_block) : gl_WorkGroupID.xy;
    layer = SOME_BLOCKS ? parameters.first_layer : gl_WorkGroupID.z;
#if PYRAMID
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
#endif
    const uvec2 extent = extent_of_block(parameters.base_level, BLOCK_LEVELS, index);
    const Block block = Block(parameters.base_level, BLOCK_LEVELS, index, extent, 0);
    const bool even = is_even(block);
    if (even) {
        reduce_base(block, thread);
        if (PYRAMID == 0 && parameters.top_level <= parameters.base_level + 2) {
            return;
        }
    } else if (WEIGHTED) {
        make_edge_weights(thread);
    }
    barrier();
    if (thread >= CREW_SIZE) {
        return;
    }
    const uint layer_state = layer_words();
#if PYRAMID
    if (thread == 0 && nan_texels > 0) {
        ADD_RELAXED(state[layer_state], nan_texels);
    }
#endif
    ITEM item;
    const bool ends = ascend(block, even, layer_state, thread, item);
#if PYRAMID
    // At the root all workgroups have counted their NaN texels.
    if (!ends && thread == 0) {
        if (may_hold_nan(item)) {
            acquire_arrivals();
        }
        state[layer] = TAKE_RELAXED(state[layer_state]);
    }
#endif
}
