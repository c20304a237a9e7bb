#version 460
// Makes the mip levels of every layer of an image in one dispatch: depth pyramids, texture mipmaps. downsample.glsl has
// the method, downsample_items.glsl the macros of the reduction. ODD_BLOCKS: the edge rule may treat blocks with odd
// edges specially. PYRAMID: the maxima of the quadtree of every layer of a map, in a buffer.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels of the base level (x, y) and layer (z); with
// SOME_BLOCKS those from first_block to last_block of first_layer.
//
// Bindings: those of downsample.glsl.
//
// Memory order: the hand-over of messages.glsl if GETS_MESSAGES (downsample_blocks.glsl). Otherwise that of
// hand_over.glsl, where a barrier of the crew orders its threads behind thread 0. All other barriers order shared
// memory only. PYRAMID: NaN texels count as infinity. Thread 0 adds their number to the state, and releases it before
// it counts in an infinite node. The maker of an infinite root acquires.

#include "downsample.glsl"
#include "downsample_blocks.glsl"

#if CUSTOM
#include "user_reduction.glsl"
#endif
#if ODD_BLOCKS
#include "downsample_odd_blocks.glsl"
#else
bool is_even(Block block) { return true; }
ITEM reduce_odd_block(Block block, uint thread) { return nothing(); }
#endif

// Returns the item to hand over: at the first hand-over under EDGE_DROP, the texel as it is stored.
ITEM handed_over_item(uint level, uvec2 position, ITEM item) {
#if !EXTREMES
    if (EDGE_RULE == EDGE_DROP && TARGET_ENCODING != ENCODING_FLOAT32 && level == BLOCK_LEVELS) {
        if (!WEIGHTED) {
            return item_of_stored(item);
        }
        return sum_of_mean(level, position, item_of_stored(mean_of_sum(level, position, item)));
    }
#endif
    return item;
}

// A rectangle of blocks, or of texels that are handed over, with its last ones.
struct Range {
    uvec2 first;
    uvec2 last;
};

// Hands over the texel of a block. Returns whether the workgroup was the last of its group. If it was, `block` becomes
// the group's texels, `counters` the place of the next hand-over's words, and `touched`, the range of texels that are
// handed over with SOME_BLOCKS, the range of groups.
bool hand_over(inout Block block, inout uint counters, inout Range touched, ITEM item, uint thread) {
    const uint level = block.level + block.levels;
    const uvec2 extent = extent_of(level);
    const Group group = group_of(level, block.index, counters, CHANNELS, CHANNELS);
    const uvec2 group_extent = ONE_GROUP ? extent : extent_of_block(level, group.levels, group.index);
    bool is_last = false;
    // Under EDGE_DROP some blocks become no texel.
    if (thread == 0 && (EDGE_RULE != EDGE_DROP || all(lessThan(block.index, extent)))) {
        const uint place = handed_over(group.nodes, extent.x, block.index);
        item = handed_over_item(level, block.index, item);
        const uint slot = CHANNELS * slot_of(block.index - (group.index << group.levels), group.levels);
        [[unroll]] for (uint i = 0; i < CHANNELS; ++i) {
            HAND_OVER(state[place + i], word_of(item, i));
            if (GETS_MESSAGES) {
                SEND(state[group.slots + slot + i], word_of(item, i));
            }
        }
        uvec2 arriving = group_extent;
        if (SOME_BLOCKS) {
            const uvec2 first = group.index << group.levels;
            arriving = min(min(first + group_extent, touched.last + 1), extent) - max(first, touched.first);
        }
        const uint expected = arriving.x * arriving.y;
        uint arrived = 0;
        if (!SOME_BLOCKS || expected > 1) {  // a single workgroup need not ask
            if (GETS_MESSAGES) {
#if PYRAMID
                if (may_hold_nan(item)) {
                    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
                }
#endif
                arrived = ADD_RELAXED(state[group.counter], 1);
            } else {
                arrived = ARRIVE(state[group.counter]);
            }
        }
        is_last = arrived + 1 == expected;
    }
    if (!announced(is_last)) {
        return false;
    }

    if (thread == 0) {
        if (!GETS_MESSAGES) {
            acquire_arrivals();
        }
        CLEAR_MESSAGE(state[group.counter]);
    }
    if (!GETS_MESSAGES) {
        crew_barrier();
    }
    if (!ONE_GROUP) {
        counters = group.end;
        const uvec2 groups = blocks_of(level, group.levels);
        touched = Range(block_of(min(touched.first, extent - 1), group.levels, groups),
                        block_of(min(touched.last, extent - 1), group.levels, groups));
    }
    block = Block(level, group.levels, group.index, group_extent, GETS_MESSAGES ? group.slots : group.nodes);
    return true;
}

// Ascends from a block of the base level, whose first levels are made if it is even. The crew calls this. Returns
// whether another workgroup goes on; otherwise this one has made the top level, and thread 0 has the last item.
bool ascend(Block block, bool even, uint layer_state, uint thread, out ITEM item) {
    uint counters = layer_state + 1;
    Range touched = Range(words_of(parameters.first_block), words_of(parameters.last_block));
    bool has_level_1 = has_sixteen();  // whether the nodes begin with those of 8 x 8
    while (true) {
        if (even) {
            if (!has_level_1) {
                reduce_level(block, 1, thread);
            }
            reduce_level(block, 2, thread);
            reduce_level(block, 3, thread);
            item = reduce_level(block, 4, thread);
        } else {
            item = reduce_odd_block(block, thread);
        }
        if (block.level + block.levels >= parameters.top_level) {
            return false;
        }
        if (!hand_over(block, counters, touched, item, thread)) {
            return true;
        }
        even = is_even(block);
        if (even) {
            load_group(block, thread);
            has_level_1 = block.levels <= 3;
        }
    }
}

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
