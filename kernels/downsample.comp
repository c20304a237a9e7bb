#version 460
// Makes the mip levels of every layer of an image in one dispatch: depth pyramids, texture mipmaps. PYRAMID: the maxima
// of the quadtree of every layer of a map, in a buffer. ODD_BLOCKS: the edge rule may treat blocks with odd edges
// specially. docs/kernels.md has the steps of a workgroup, downsample_items.glsl the macros of the reduction.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels of the base level (x, y) and layer (z); with
// SOME_BLOCKS those from first_block to last_block of first_layer. Bindings: downsample.glsl.
//
// Memory order: hand_over.glsl, by messages if GETS_MESSAGES. Otherwise a barrier of the crew orders its threads behind
// thread 0. All other barriers order shared memory only. PYRAMID: NaN texels count as infinity. Thread 0 adds their
// number to the state, and releases it before it counts in an infinite node. The maker of an infinite root acquires.
//
// Source: AMD's FidelityFX Single Pass Downsampler, here for all sizes and with the memory order stated.

#include "downsample.glsl"
#include "workgroup.glsl"
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

// Threads that reduce the upper levels of a block and go on with those of a group: all, or the first subgroup, so that
// the ascent has no wide barrier (chosen by crew_size, kernel_constants.hpp).
#if ODD_BLOCKS  // reduced by the whole workgroup
const uint CREW_SIZE = WORKGROUP_SIZE;
#else
layout(constant_id = 16) const uint CREW_SIZE = WORKGROUP_SIZE;
#endif
const bool CREW_IS_SUBGROUP = CREW_SIZE < WORKGROUP_SIZE;

shared bool shared_announcement;

void crew_barrier() {
    if (CREW_IS_SUBGROUP) {
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
    } else {
        order_threads();
    }
}

// Returns the value of the first thread to all threads.
bool announced(bool said) {
#if SUBGROUPS
    if (CREW_IS_SUBGROUP) {
        return subgroupShuffle(uint(said), 0) != 0;
    }
#endif
    if (thread_index() == 0) {
        shared_announcement = said;
    }
    crew_barrier();
    return shared_announcement;
}

// Room for exchanges, and for levels of blocks with odd edges: 2 and 4 of up to 127 x 127 first, 3 and 5 behind them.
#if ODD_BLOCKS
const uint ODD_LEVELS_START = 31 * 31;
shared ITEM room[31 * 31 + 15 * 15];
#elif !SUBGROUPS
shared ITEM room[4 * WORKGROUP_SIZE];
#endif

// Returns item i, without an array that is indexed at run time.
ITEM one_of(ITEM items[4], uint i) { return i < 2 ? (i == 0 ? items[0] : items[1]) : (i == 2 ? items[2] : items[3]); }

// Reduces the items of four neighbours on the curve, quarter by quarter. Thread i of them returns that of quarter i.
ITEM reduce_neighbours(ITEM items[4], uint thread) {
    const bool right = (thread & 1) != 0;
    const bool lower = (thread & 2) != 0;
#if !SUBGROUPS
    [[unroll]] for (uint i = 0; i < 4; ++i) { room[4 * thread + i] = items[i]; }
    barrier();
    const uint first = 4 * (thread & ~3U) + (thread & 3);
    return reduce_four(room[first], room[first + 4], room[first + 8], room[first + 12]);
#elif CUSTOM
    // Of each pair of threads that differ by i, each gives the item of the other's quarter.
    ITEM from[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) { from[i] = subgroupShuffleXor(one_of(items, (thread ^ i) & 3), i); }
    const uint own = thread & 3;
    return reduce(one_of(from, own), one_of(from, own ^ 1), one_of(from, own ^ 2), one_of(from, own ^ 3));
#else
    // Pairs side by side come first, as everywhere.
    ITEM upper = reduce_two(right ? items[1] : items[0], subgroupShuffleXor(right ? items[0] : items[1], 1));
    ITEM under = reduce_two(right ? items[3] : items[2], subgroupShuffleXor(right ? items[2] : items[3], 1));
    return finished(reduce_two(lower ? under : upper, subgroupShuffleXor(lower ? upper : under, 2)));
#endif
}

// Subgroups of at least 16 threads also make the third level. Returns the item that 16 threads make together.
#if SUBGROUPS
bool has_sixteen() { return gl_SubgroupSize >= 16; }

ITEM reduce_sixteen(ITEM item) {
    return reduce_four(item, subgroupShuffleXor(item, 4), subgroupShuffleXor(item, 8), subgroupShuffleXor(item, 12));
}
#else
bool has_sixteen() { return false; }
ITEM reduce_sixteen(ITEM item) { return item; }
#endif

// Returns the place in the state of a texel of a level that is handed over (blocks.glsl).
uint handed_over(uint texels, uint width, uvec2 position) {
    return texels + CHANNELS * (position.y * width + position.x);
}

ITEM load_item(uint place) {
    ITEM item;
    [[unroll]] for (uint i = 0; i < CHANNELS; ++i) { set_word(item, i, HANDED_OVER(state[place + i])); }
    return item;
}

// A block of texels of the base level, or of a level that was handed over.
struct Block {
    uint level;
    uint levels;  // levels that are made from it: its sides have 2^levels texels
    uvec2 index;
    uvec2 extent;  // texels of the level in the block: fewer or more at the edges
    uint texels;   // first word in the state, if they were handed over
};

uvec2 first_texel(Block block) { return block.index << block.levels; }

// Nodes of five levels of a block: 16 x 16, 8 x 8, 4 x 4, 2 x 2 and 1, each level row by row.
shared ITEM nodes[256 + 64 + 16 + 4 + 1];

// Returns the first node of a level; step 0 is the level of 16 x 16 nodes.
uint nodes_start(uint step) { return (1024 - (1024 >> 2 * step)) / 3; }

// Keeps a node of a block in nodes (`step` is its level there) and stores it.
void make_node(Block block, uint step, uvec2 local, ITEM item) {
    nodes[nodes_start(step) + (local.y << (4 - step)) + local.x] = item;
    const uint levels = max(block.levels, 3) + step - 4;  // above the block's texels
    if ((WHOLE_BLOCKS && block.level == parameters.base_level) ||
        (levels <= min(block.levels, parameters.top_level - block.level) &&
         all(lessThan(local << levels, block.extent)))) {
        put(block.level + levels, (first_texel(block) >> levels) + local, item);
    }
}

// Makes the nodes of a level from those of the level below. Returns the last node of the thread.
ITEM reduce_level(Block block, uint step, uint thread) {
    crew_barrier();
    const uint width = 16 >> step;
    const uint below = nodes_start(step - 1);
    ITEM item;
    for (uint start = 0; start < width * width; start += CREW_SIZE) {
        const uint node = start + thread;
        if (node < width * width) {
            const uvec2 local = uvec2(node & (width - 1), node >> (4 - step));
            const uint child = below + 4 * width * local.y + 2 * local.x;
            item = reduce_four(nodes[child], nodes[child + 1], nodes[child + 2 * width], nodes[child + 2 * width + 1]);
            make_node(block, step, local, item);
        }
    }
    return item;
}

// Returns the place of a thread's four quads, one in each quarter of a block: along the Z-order curve, so that a
// subgroup loads and stores compact patches, as images are laid out.
uvec2 place_in_quarter(uint thread) {
    return uvec2((thread & 1) | ((thread >> 1) & 2) | ((thread >> 2) & 4) | ((thread >> 3) & 8),
                 ((thread >> 1) & 1) | ((thread >> 2) & 2) | ((thread >> 3) & 4) | ((thread >> 4) & 8));
}
uvec2 quarter(uint i) { return uvec2(i & 1, i >> 1); }

// Whether the texels of groups come as messages: if all blocks run, and one thread reads each texel. On an H200 they
// cost too many registers for 8-bit texels that are not filtered (18.1 instead of 14.4 us for 2048 x 2048), and for
// groups of 32 x 32 texels of four channels (22.8 instead of 20.1).
const uint MESSAGE_LEVELS = SOURCE_UNORM_BITS != 0 && !FILTERED ? 0 : (CHANNELS < 4 ? 5 : 4);
const bool GETS_MESSAGES = ODD_BLOCKS == 0 && !SOME_BLOCKS && GROUP_LEVELS <= MESSAGE_LEVELS;

// Place of a thread's load i from a group: one of the four below a node of 16 x 16 if the group is larger than that.
// Otherwise the group counts as one of 16 x 16 or 8 x 8, and threads load it row by row.
struct Load {
    uvec2 local;
    uint slot;
};

// Returns a constant if possible, so that there is no code for other groups.
uint levels_of_group(Block block) { return ONE_GROUP ? GROUP_LEVELS : block.levels; }

bool is_wide(Block block) { return GROUP_LEVELS > 4 && levels_of_group(block) > 4; }

Load load_of(Block block, uint thread, uint i) {
    if (is_wide(block)) {
        return Load(2 * uvec2(thread & 15, thread >> 4) + quarter(i), 4 * thread + i);
    }
    const uint slot = thread + i * CREW_SIZE;
    const uint levels = GROUP_LEVELS > 3 && levels_of_group(block) > 3 ? 4 : 3;
    return Load(uvec2(slot & ((1U << levels) - 1), slot >> levels), slot);
}

// Returns the slot of a texel of a group from which `levels` are made.
uint slot_of(uvec2 local, uint levels) {
    if (GROUP_LEVELS > 4 && levels > 4) {
        const uvec2 node = local / 2;
        return 4 * (16 * node.y + node.x) + 2 * (local.y & 1) + (local.x & 1);
    }
    return (local.y << max(levels, 3)) + local.x;
}

uint place_of(Block block, uint width, Load load) {
    return GETS_MESSAGES ? block.texels + CHANNELS * load.slot
                         : handed_over(block.texels, width, first_texel(block) + load.local);
}

bool is_inside(Block block, Load load) { return all(lessThan(load.local, block.extent)); }

bool is_lost() { return HANDED_OVER(state[layer]) == LOST_RUN; }

// Leaves a group's texels in nodes, or the level above them if the group has more than 16 x 16.
void load_group(Block block, uint thread) {
    const uint width = extent_of(block.level).x;
    const uint loads = GROUP_LEVELS > 4 ? 4 : max((GROUP_LEVELS > 3 ? 256 : 64) / CREW_SIZE, 1);
    ITEM items[8];  // a crew has at least 32 threads
    const bool was_lost = PYRAMID != 0 && thread == 0 && is_lost();  // thread 0 has a texel in each group
    bool waits;
    uint turns = 0;
    [[dont_unroll]] do {  // all loads are issued before the first result is used, so no branch surrounds them
        waits = false;
        [[unroll]] for (uint i = 0; i < loads; ++i) {
            const Load load = load_of(block, thread, i);
            const bool inside = is_inside(block, load);
            const uint place = inside ? place_of(block, width, load) : block.texels;
            [[unroll]] for (uint c = 0; c < CHANNELS; ++c) {
                const uint word = HANDED_OVER(state[place + c]);
                waits = waits || (GETS_MESSAGES && inside && word == 0);
                set_word(items[i], c, GETS_MESSAGES ? bits_of_message(word) : word);
            }
            items[i] = inside ? items[i] : nothing();
        }
    } while (waits && ++turns < MOST_TURNS);
    if (waits || was_lost) {
        HAND_OVER(state[layer], LOST_RUN);
#if PYRAMID
        // So that the root learns of it: infinite nodes are released.
        [[unroll]] for (uint i = 0; i < loads; ++i) { items[i] = uintBitsToFloat(INFINITY_BITS); }
#endif
    }
    [[unroll]] for (uint i = 0; i < loads; ++i) {
        const Load load = load_of(block, thread, i);
        if (GETS_MESSAGES && is_inside(block, load)) {
            [[unroll]] for (uint c = 0; c < CHANNELS; ++c) { CLEAR_MESSAGE(state[place_of(block, width, load) + c]); }
        }
        const uint step = levels_of_group(block) > 3 ? 0 : 1;
        if (!is_wide(block) && load.slot < 256 >> 2 * step) {
            nodes[nodes_start(step) + load.slot] = items[i];
        }
    }
    if (is_wide(block)) {
        make_node(block, 0, uvec2(thread & 15, thread >> 4), reduce_four(items[0], items[1], items[2], items[3]));
    }
}

// Makes the first levels of a block of the base level. All loads are issued before the first result is used.
void reduce_base(Block block, uint thread) {
    const uvec2 place = place_in_quarter(thread);
    const uvec2 first = 32 * block.index + place;
    const bool copies_tables = SOURCE_ENCODING == ENCODING_SRGB8 || TARGET_ENCODING == ENCODING_SRGB8;
    Quad quads[4];
    if (copies_tables && !FILTERED) {  // holding all texels meanwhile would take too many registers
        copy_srgb_tables(thread);
    }
    [[unroll]] for (uint i = 0; i < 4; ++i) { quads[i] = read_quad(first + 16 * quarter(i)); }
    if (copies_tables && FILTERED) {
        copy_srgb_tables(thread);
    }
    if (WEIGHTED) {
        make_edge_weights(thread);
    }
    ITEM items[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uvec2 position = first + 16 * quarter(i);
        items[i] = reduce_quad(quads[i], position);
        if (WHOLE_BLOCKS || is_made(block.level + 1, position)) {
            put(block.level + 1, position, items[i]);
        }
    }
#if PYRAMID
    if (meets_nan) {
        count_nan(first);
    }
#endif
    ITEM item = reduce_neighbours(items, thread);
    const uvec2 local = 8 * quarter(thread & 3) + place / 2;
    const uvec2 position = 16 * block.index + local;
    if (WHOLE_BLOCKS || is_made(block.level + 2, position)) {
        put(block.level + 2, position, item);
    }
    if (has_sixteen()) {
        item = reduce_sixteen(item);
        if ((thread & 12) == 0) {
            make_node(block, 1, local / 2, item);
        }
        return;
    }
    nodes[16 * local.y + local.x] = item;
}

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

// Returns the texels of a group.
Block block_of_group(Group group) {
    const uvec2 extent = ONE_GROUP ? extent_of(group.level) : extent_of_block(group.level, group.levels, group.index);
    return Block(group.level, group.levels, group.index, extent, GETS_MESSAGES ? group.slots : group.nodes);
}

// Hands over the texel of a block. Returns whether the workgroup was the last of its group. If it was, `block` becomes
// the group's texels, `counters` the place of the next hand-over's words, and `touched`, the range of texels that are
// handed over with SOME_BLOCKS, the range of groups.
bool hand_over(inout Block block, inout uint counters, inout Range touched, ITEM item, uint thread) {
    const uint level = block.level + block.levels;
    const uvec2 extent = extent_of(level);
    const Group group = group_of(level, block.index, counters, CHANNELS, CHANNELS);
    const Block ahead = block_of_group(group);
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
        uvec2 arriving = ahead.extent;
        if (SOME_BLOCKS) {
            const uvec2 first = group.index << group.levels;
            arriving = min(min(first + ahead.extent, touched.last + 1), extent) - max(first, touched.first);
        }
        const uint expected = arriving.x * arriving.y;
        uint arrived = 0;
        if (!BY_STEPS && (!SOME_BLOCKS || expected > 1)) {  // a single workgroup need not ask
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
        is_last = !BY_STEPS && arrived + 1 == expected;
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
    block = ahead;
    return true;
}

// Ascends from a block of the base level, whose first levels are made if it is even, or from a group. `counters`: place
// of the next hand-over's words. The crew calls this. Returns whether another workgroup goes on; otherwise this one has
// made the top level, and thread 0 has the last item.
bool ascend(Block block, bool even, uint counters, uint thread, out ITEM item) {
    Range touched = Range(words_of(parameters.first_block), words_of(parameters.last_block));
    bool has_level_1 = has_sixteen();  // whether the nodes begin with those of 8 x 8
    for (bool loads = starts_from_group(); true; loads = true) {
        if (even) {
            if (loads) {
                load_group(block, thread);
                has_level_1 = block.levels <= 3;
            }
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
    Block block = Block(parameters.base_level, BLOCK_LEVELS, index, extent, 0);
    const uint layer_state = layer_words();
    uint counters = layer_state + 1;
    if (starts_from_group()) {
        const Group group = group_of_workgroup(parameters.base_level + BLOCK_LEVELS, counters, CHANNELS, CHANNELS);
        block = block_of_group(group);
        counters = group.end;
        copy_srgb_tables(thread);
    }
    const bool even = is_even(block);
    if (even && !starts_from_group()) {
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
#if PYRAMID
    if (thread == 0 && nan_texels > 0) {
        ADD_RELAXED(state[layer_state], nan_texels);
    }
#endif
    ITEM item;
    const bool ends = ascend(block, even, counters, thread, item);
#if PYRAMID
    // At the root all workgroups have counted their NaN texels.
    if (!ends && thread == 0) {
        if (may_hold_nan(item)) {
            acquire_arrivals();
            if (is_lost()) {
                put_texel(parameters.top_level, uvec2(0), uintBitsToFloat(NAN_BITS));
                return;
            }
        }
        state[layer] = TAKE_RELAXED(state[layer_state]);
    }
#endif
}
