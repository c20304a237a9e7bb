#version 460
// From the map to its tiles without a pyramid, for monotone thresholds.
//
// A threshold is monotone where "a node is split" implies "all its ancestors are split". Then a node is a
// tile exactly when it is not split and its parent is (texels: when the parent is; the root: when it is not
// split), so whoever knows a node and its parent knows whether it is a tile: no descent.
//
// One dispatch gives the tiles in any order (PASS_ALL). Canonical order takes two: the first counts the
// tiles below each block (PASS_COUNT), the second writes each to its place (PASS_EMIT). A budget of tiles
// takes another before them (PASS_BUDGET), which scales the thresholds (budget.h).
//
// What PASS_COUNT finds stays, so that after a change of some blocks only these count again, and the groups
// that they lie in.
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels (x, y) and layer (z), from
// first_block and first_layer on; PASS_EMIT: one for 2^SHARE_LEVELS x 2^SHARE_LEVELS blocks, which lie as far apart
// as they can, as blocks with small tiles lie together.
//
// A workgroup needs little more than its block's maximum: where the block's node is not split, there are no
// tiles below it. Where it is, each thread takes 4 x 4 texels in turn along the Z-order curve, knows all its
// nodes up to the block's, and so finds the tiles that begin in its texels by itself; one scan gives them
// places, one atomic addition a workgroup reserves these. Then all threads write tiles, side by side in the
// list. The block's node is handed over (hand_over.glsl): the last workgroup of a group goes on
// with the group's nodes in the place of quads of texels, up to the root.
//
// Bindings, set 0:
//   0    map    sampler2DArray: level 0, clamped to the edge, which repeats a texel of the same node
//   1    state  FusedState and what is behind it (kernel_parameters.h); all counters are back at 0 when the
//               dispatches end
//   2    layer_thresholds  LAYER_THRESHOLDS: of each layer, from level 0 to the root's
//   3    layer_headers     LAYER_LISTS: one for each layer's part of the list
//   6-9  tiles  the tile list (tile_list.glsl)
//   10   node_thresholds  THRESHOLDS_BY_NODE: of each node (threshold_map_index, quadtree.h)
//
// Memory order: the hand-over of hand_over.glsl. Thread 0 adds to tile_count and to the NaN texels before its
// release, so the workgroup that makes the root has all additions behind it. Layers count themselves in
// likewise, and the last one completes the header. A barrier of the command buffer lies between passes.

#if SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#extension GL_EXT_control_flow_attributes : require

#include "quadtile/budget.h"
#include "quadtile/kernel_parameters.h"
#include "quadtile/tile_list.h"
#include "hand_over.glsl"
#include "subgroups.glsl"

#define CHANNELS 1
#define EXTREMES 1
#define HALVES 0
#define CUSTOM 0
#include "downsample_items.glsl"
#include "tile_list.glsl"

#define PASS_ALL 0
#define PASS_COUNT 1
#define PASS_EMIT 2
#define PASS_BUDGET 3

// What PASS_COUNT finds of a node, for PASS_EMIT: 0 for one inside a tile that begins before it, one more
// than the level of the tile that begins in it, or:
const uint RECORD_SPLIT = 0x80000000U;

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

// Whether the thresholds are scaled by the factor that PASS_BUDGET has left.
layout(constant_id = 22) const bool WITH_BUDGET = false;
// Whether each layer has thresholds of its own; and whether each has a part of the list with a header:
// in canonical order parts lie one behind the other, in any order they are of one size.
layout(constant_id = 23) const bool LAYER_THRESHOLDS = false;
layout(constant_id = 24) const bool LAYER_LISTS = false;
// Whether each node has a threshold of its own; otherwise there is one for each level.
layout(constant_id = 25) const bool THRESHOLDS_BY_NODE = false;
// Of PASS_EMIT, MAX_SHARE_LEVELS at most.
layout(constant_id = 26) const uint SHARE_LEVELS = 0;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State {
    FusedState state;
    uint words[];
};
layout(set = 0, binding = 2, std430) readonly buffer Thresholds { float layer_thresholds[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Headers { TileListHeader layer_headers[]; };
layout(set = 0, binding = 10, std430) readonly buffer NodeThresholds { float node_thresholds[]; };
layout(push_constant) uniform Parameters { FusedParameters parameters; };

// A block of 64 x 64 texels, or a group of up to 32 x 32 nodes of a level that was handed over: its step 1.
// Step s is the level base + s.
struct Block {
    uint base;
    uint steps;   // up to its one node; 6 at most
    uvec2 index;  // of that node
    uint nodes;   // where the level of nodes that were handed over lies in words
};

uint layer;

uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}

uint nodes_of_level(uint level) {
    const uvec2 extent = extent_of(level);
    return extent.x * extent.y;
}

// Whether only some blocks run.
bool is_update() { return PASS == PASS_COUNT && parameters.expected[0] != 0; }

bool exists(uint level, uvec2 position) { return all(lessThan(position, extent_of(level))); }

// First word of what is kept for budgets: the index of the factor, the histogram.
uint budget_words() { return parameters.layers * (1 + parameters.state_words_per_layer); }

// The level must be the same in all threads, unless thresholds are by node: the rule for push constants.
// Positions outside the map have the threshold of a node at its edge.
float given_threshold(uint level, uvec2 position) {
    if (THRESHOLDS_BY_NODE) {
        const uvec2 node = min(position, extent_of(level) - 1);
        const uint place = threshold_map_index(parameters.width, parameters.height,
                                               parameters.layers, level, node.x, node.y, layer);
        return uintBitsToFloat(settled_bits(key_from_bits(floatBitsToUint(node_thresholds[place]))));
    }
    return LAYER_THRESHOLDS ? layer_thresholds[layer * (parameters.top_level + 1) + level]
                            : parameters.thresholds[level];
}

float threshold_of(uint level, uvec2 position) {
    const float given = given_threshold(level, position);
    return WITH_BUDGET ? scaled_threshold(given, words[budget_words() + BUDGET_FACTOR_WORD])
                       : given;
}

// Both are settled floats, which compare as they are (importance_key.h).
bool is_split(uint level, uvec2 position, float importance) {
    return importance >= threshold_of(level, position);
}

uvec2 morton(uint code) { return uvec2(morton_x(code), morton_y(code)); }

// ---- Step 1 ----------------------------------------------------------------------------------------

// Each thread makes four nodes of step 1, one behind the other on the curve.

uvec2 first_of_step_1(Block block) { return (block.index << block.steps) >> 1; }

// Between the four texels of a quad.
vec3 middle_of_quad(uvec2 position) {
    return vec3(vec2(2 * position + 1) * vec2(parameters.texel_width, parameters.texel_height),
                layer);
}

// The largest key of each quad.
void make_keys(vec4 quads[4], out uint keys[4]) {
    if (SOURCE_UNORM_BITS != 0) {
        [[unroll]]
        for (uint i = 0; i < 4; ++i) {
            keys[i] = key_of(max(max(quads[i].x, quads[i].y), max(quads[i].z, quads[i].w)));
        }
        return;
    }
    // Where no sign is set, which is the rule, bits compare as keys do, NaN included.
    ivec4 signs = ivec4(0);
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const ivec4 bits = floatBitsToInt(quads[i]);
        signs |= bits;
        keys[i] = key_from_bits(uint(max(max(bits.x, bits.y), max(bits.z, bits.w))));
    }
    if ((signs.x | signs.y | signs.z | signs.w) < 0) {
        [[unroll]]
        for (uint i = 0; i < 4; ++i) {
            keys[i] = max(max(key_of(quads[i].x), key_of(quads[i].y)),
                          max(key_of(quads[i].z), key_of(quads[i].w)));
        }
    }
}

shared float step_1[4 * WORKGROUP_SIZE];

// Of a block. Returns the largest key, which may be that of NaN, and of texels outside the map.
uint make_step_1(Block block, uint thread) {
    // In Z-order. Outside the map there are the texels of its edge. Constant offsets need no registers.
    const vec3 middle = middle_of_quad(first_of_step_1(block) + morton(4 * thread));
    const vec4 quads[4] = vec4[](textureGather(map, middle, 0).wzxy,
                                 textureGatherOffset(map, middle, ivec2(2, 0), 0).wzxy,
                                 textureGatherOffset(map, middle, ivec2(0, 2), 0).wzxy,
                                 textureGatherOffset(map, middle, ivec2(2, 2), 0).wzxy);
    uint keys[4];
    make_keys(quads, keys);
    uint largest = 0;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        step_1[4 * thread + i] = item_of_key(keys[i]);
        largest = max(largest, keys[i]);
    }
    return largest;
}

#if PASS == PASS_ALL || PASS == PASS_COUNT
shared uint nan_texels;

// Counts the NaN texels of the thread that are inside the map. There are few: it reads them again.
void count_nan(Block block, uint thread) {
    uint count = 0;
    [[dont_unroll]]
    for (uint i = 0; i < 16; ++i) {
        const uvec2 texel = 64 * block.index + morton(16 * thread + i);
        if (exists(0, texel)) {
            count += uint(counts_as_nan(key_of(texelFetch(map, ivec3(texel, layer), 0).r)));
        }
    }
    atomicAdd(nan_texels, count);
}
#endif

#if PASS != PASS_EMIT
// Where the node of a group at a place on the curve lies in words; 0 if there is none.
uint word_of_node(Block block, uint place) {
    const uvec2 local = morton(place);
    const uvec2 position = first_of_step_1(block) + local;
    const uvec2 extent = extent_of(block.base + 1);
    const bool is_there = place < 1U << 2 * (block.steps - 1) && all(lessThan(position, extent));
    return is_there ? block.nodes + position.y * extent.x + position.x : 0;
}

// Of a group: nodes that were handed over.
uint load_step_1(Block block, uint thread) {
    uint largest = 0;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {  // no branch, so that all loads get under way at once
        const uint place = 4 * thread + i;
        const uint word = word_of_node(block, place);
        const uint bits = HANDED_OVER(words[word != 0 ? word : block.nodes]);
        step_1[place] = word != 0 ? uintBitsToFloat(bits) : nothing();
        largest = max(largest, word != 0 ? key_of_bits(bits) : 0);
    }
    return largest;
}

// The largest keys of the block and of the groups that follow it.
shared uint largest_keys[1 + MAX_HANDOVERS];

float largest_of_all(uint key, uint handovers) {
#if SUBGROUPS
    key = subgroupMax(key);
    if (subgroupElect())
#endif
    {
        atomicMax(largest_keys[handovers], key);
    }
    barrier();
    return item_of_key(largest_keys[handovers]);
}
#endif

// ---- Tiles -----------------------------------------------------------------------------------------

// Of a thread's node of step 2.
uvec2 position_of(Block block, uint thread) {
    return ((block.index << block.steps) >> 2) + morton(thread);
}

// Bits of the four in Z-order, from `first` on, that are inside an extent.
uint inside(uvec2 first, uvec2 extent) {
    const uvec2 count = min(extent - min(first, extent), uvec2(2));
    const uint row = (1U << count.x) - 1;
    return count.y > 1 ? row * 0x5U : (count.y > 0 ? row : 0);
}

// The tiles that begin in a thread's texels: bits of texels (0-15) and of nodes of step 1 (16-19), or the
// step of a larger one (from 20 on).
const uint QUAD_TILES_SHIFT = 16;
const uint TILE_STEP_SHIFT = 20;

shared float nodes_of_step_2[WORKGROUP_SIZE];
shared float nodes_of_step_4[WORKGROUP_SIZE / 16];

float four_nodes(uint first) {
    return reduce_four(nodes_of_step_2[first], nodes_of_step_2[first + 1],
                       nodes_of_step_2[first + 2], nodes_of_step_2[first + 3]);
}

// The nodes of the steps 2 to 6 that a thread's node of step 2 lies in. In uniform control flow.
void find_nodes(float node, uint thread, out float nodes[7]) {
    nodes[2] = node;
#if SUBGROUPS
    node = reduce_two(node, subgroupShuffleXor(node, 1));
    nodes[3] = reduce_two(node, subgroupShuffleXor(node, 2));
    node = reduce_two(nodes[3], subgroupShuffleXor(nodes[3], 4));
    nodes[4] = reduce_two(node, subgroupShuffleXor(node, 8));
    if (gl_SubgroupSize < 16)
#endif
    {
        nodes_of_step_2[thread] = nodes[2];
        barrier();
        nodes[3] = four_nodes(thread & ~3U);
        const uint first = thread & ~15U;
        nodes[4] = reduce_four(four_nodes(first), four_nodes(first + 4), four_nodes(first + 8),
                               four_nodes(first + 12));
    }
    if ((thread & 15) == 0) {
        nodes_of_step_4[thread / 16] = nodes[4];
    }
    barrier();
    float of_step_5[4];
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        of_step_5[i] = reduce_four(nodes_of_step_4[4 * i], nodes_of_step_4[4 * i + 1],
                                   nodes_of_step_4[4 * i + 2], nodes_of_step_4[4 * i + 3]);
    }
    const uint quarter = thread / 64;
    nodes[5] = quarter < 2 ? (quarter < 1 ? of_step_5[0] : of_step_5[1])
                           : (quarter < 3 ? of_step_5[2] : of_step_5[3]);
    nodes[6] = reduce_four(of_step_5[0], of_step_5[1], of_step_5[2], of_step_5[3]);
}

// Finds them; `importance` is the larger tile's. In uniform control flow, after step 1.
uint find_tiles(Block block, uint thread, out float importance) {
    const uvec2 position = position_of(block, thread);
    uint split = 0;  // bits of the thread's nodes of step 1
    float node = nothing();
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const float quad = step_1[4 * thread + i];
        split |= uint(is_split(block.base + 1, 2 * position + morton(i), quad)) << i;
        node = reduce_two(node, quad);
    }
    // The highest step whose node is not split: its parent is, or it is the root. (Other blocks have no tiles
    // where their node is not split.)
    uint unsplit = 1;
    importance = 0.0;
    float nodes[7];
    find_nodes(node, thread, nodes);
    [[unroll]]
    for (uint step = 2; step <= 6; ++step) {
        if (step <= block.steps &&
            !is_split(block.base + step, position >> (step - 2), nodes[step])) {
            unsplit = step;
            importance = nodes[step];
        }
    }

    if (block.steps >= 2 && (thread >= 1U << 2 * (block.steps - 2) ||
                             !exists(block.base + 2, position))) {
        return 0;
    }
    if (unsplit >= 2) {
        const bool begins_here = (thread & ((1U << 2 * (unsplit - 2)) - 1)) == 0;
        return begins_here ? unsplit << TILE_STEP_SHIFT : 0;
    }
    uint tiles = 0;
    if (block.steps == 0) {  // a map of one texel
        split = 0xfU;
    } else {
        const uint quads = inside(2 * position, extent_of(block.base + 1));
        tiles = (quads & ~split) << QUAD_TILES_SHIFT;
        split &= quads;
    }
    if (block.base == 0) {
        [[unroll]]
        for (uint i = 0; i < 4; ++i) {
            if ((split >> i & 1) != 0) {
                tiles |= inside(2 * (2 * position + morton(i)), extent_of(0)) << 4 * i;
            }
        }
    }
    return tiles;
}

uint tile_count(uint tiles) {
    return tiles >= 1U << TILE_STEP_SHIFT ? 1 : bitCount(tiles);
}

// The sum of the counts of the threads before, for each thread; and the sum of all.
shared uint counts[WORKGROUP_SIZE];

uint scan(uint count, uint thread, out uint total) {
#if SUBGROUPS
    const uint inclusive = subgroupInclusiveAdd(count);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        counts[gl_SubgroupID] = inclusive;
    }
    barrier();
    uint before = inclusive - count;
    total = 0;
    const uint usual = 8;  // subgroups of 32: all loads at once
    [[unroll]]
    for (uint i = 0; i < usual; ++i) {
        const uint other = i < gl_NumSubgroups ? counts[i] : 0;
        before += i < gl_SubgroupID ? other : 0;
        total += other;
    }
    for (uint i = usual; i < gl_NumSubgroups; ++i) {
        before += i < gl_SubgroupID ? counts[i] : 0;
        total += counts[i];
    }
    return before;
#else
    uint inclusive = count;
    for (uint reach = 1; reach < WORKGROUP_SIZE; reach *= 2) {
        counts[thread] = inclusive;
        barrier();
        inclusive += thread >= reach ? counts[thread - reach] : 0;
        barrier();
    }
    counts[thread] = inclusive;
    barrier();
    total = counts[WORKGROUP_SIZE - 1];
    return inclusive - count;
#endif
}

// Whether tiles go to parts of one size.
bool in_parts() { return PASS == PASS_ALL && LAYER_LISTS; }
uint part_capacity() { return parameters.tile_capacity / parameters.layers; }
uint end_of_places() {
    return in_parts() ? (layer + 1) * part_capacity() : parameters.tile_capacity;
}

// A tile to be.
struct Node {
    uint level;
    uvec2 position;
    float importance;
    float threshold;
};

void write_node(uint place, Node node) {
    if (place < end_of_places()) {
        const uint flags = node.importance >= node.threshold ? TILE_CLAMPED : 0;
        write_tile(place, Tile(tile_position(node.position.x, node.position.y),
                               tile_node(node.level, flags, layer), node.importance,
                               node.threshold));
    }
}

#if PASS == PASS_ALL || PASS == PASS_EMIT

shared uint thread_tiles[WORKGROUP_SIZE];
shared uint thread_places[WORKGROUP_SIZE];
shared float step_thresholds[7];

// Lays out a thread's tiles for all to see.
void lay_out(Block block, uint thread, uint tiles, float importance, uint before) {
    [[unroll]]
    for (uint step = 0; step <= 6; ++step) {
        if (!THRESHOLDS_BY_NODE && thread == step && block.base + step <= parameters.top_level) {
            step_thresholds[step] = threshold_of(block.base + step, uvec2(0));
        }
    }
    thread_tiles[thread] = tiles;
    thread_places[thread] = before;
    if (tiles >> TILE_STEP_SHIFT != 0) {
        step_1[4 * thread] = importance;
    }
}

Node make_node(Block block, uint step, uvec2 position, float importance) {
    const uint level = block.base + step;
    return Node(level, position, importance,
                THRESHOLDS_BY_NODE ? threshold_of(level, position) : step_thresholds[step]);
}

// Of a thread's tiles, the one with `rest` before it.
Node tile_at(Block block, uint owner, uint rest) {
    const uint tiles = thread_tiles[owner];
    const uvec2 position = position_of(block, owner);
    const uint step = tiles >> TILE_STEP_SHIFT;
    if (step != 0) {
        return make_node(block, step, position >> (step - 2), step_1[4 * owner]);
    }
    // Tiles of a quad and of its texels exclude each other.
    uint quad = 0;
    [[unroll]]
    for (uint i = 0; i < 3; ++i) {
        const uint in_quad =
            bitCount(tiles & (0xfU << 4 * i)) + (tiles >> (QUAD_TILES_SHIFT + i) & 1);
        if (quad == i && rest >= in_quad) {
            rest -= in_quad;
            ++quad;
        }
    }
    const uvec2 node = 2 * position + morton(quad);
    if ((tiles >> (QUAD_TILES_SHIFT + quad) & 1) != 0) {
        return make_node(block, 1, node, step_1[4 * owner + quad]);
    }
    // At the right edge of the map there are only the first and the third.
    const uint texels = tiles >> 4 * quad & 0xfU;
    const uvec2 texel = 2 * node + morton(texels == 0x5U ? 2 * rest : rest);
    return make_node(block, 0, texel, item_of(texelFetch(map, ivec3(texel, layer), 0).r));
}

// Writes all tiles of the block, from a place in the list on; neighbours in the list by neighbouring threads.
void write_tiles(Block block, uint thread, uint total, uint first_place) {
    [[dont_unroll]]
    for (uint start = 0; start < total; start += WORKGROUP_SIZE) {
        const uint place = start + thread;
        uint owner = 0;  // the last thread whose tiles begin at this place or before
        [[dont_unroll]]
        for (uint reach = WORKGROUP_SIZE / 2; reach > 0; reach /= 2) {
            owner += thread_places[owner + reach] <= place ? reach : 0;
        }
        if (place < total) {
            write_node(first_place + place, tile_at(block, owner, place - thread_places[owner]));
        }
    }
}

#endif

// ---- Budget ----------------------------------------------------------------------------------------

#if PASS == PASS_BUDGET

shared uint bins[1 + BUDGET_FACTORS];

// What a node adds to the number of tiles where it is split.
void count_node(uint level, uvec2 position, float importance) {
    const uint bin = budget_bin(importance, given_threshold(level, position));
    if (bin > 0 && exists(level, position)) {
        atomicAdd(bins[bin], bitCount(inside(2 * position, extent_of(level - 1))) - 1);
    }
}

// Adds the nodes of a block, its own only where it is the root, to the histogram. In uniform control flow.
void count_nodes(Block block, bool is_root, uint thread) {
    // As many turns for all threads: lavapipe (Mesa 22.3) loses threads that leave loops early.
    for (uint start = 0; start <= BUDGET_FACTORS; start += WORKGROUP_SIZE) {
        if (start + thread <= BUDGET_FACTORS) {
            bins[start + thread] = 0;
        }
    }
    barrier();
    const uvec2 position = position_of(block, thread);
    const bool in_block = block.steps < 2 || thread < 1U << 2 * (block.steps - 2);
    float node = nothing();
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const float quad = step_1[4 * thread + i];
        if (in_block && block.steps >= 1) {
            count_node(block.base + 1, 2 * position + morton(i), quad);
        }
        node = reduce_two(node, quad);
    }
    float nodes[7];
    find_nodes(node, thread, nodes);
    [[unroll]]
    for (uint step = 2; step <= 6; ++step) {
        const bool begins_here = (thread & ((1U << 2 * (step - 2)) - 1)) == 0;
        if (in_block && begins_here && (step < block.steps || (step == block.steps && is_root))) {
            count_node(block.base + step, position >> (step - 2), nodes[step]);
        }
    }
    barrier();
    const uint histogram = budget_words() + BUDGET_HISTOGRAM_WORD;
    for (uint start = 0; start <= BUDGET_FACTORS; start += WORKGROUP_SIZE) {
        const uint bin = start + thread;
        if (bin <= BUDGET_FACTORS && bins[bin] != 0) {
            atomicAdd(words[histogram + bin], bins[bin], gl_ScopeDevice, 0, 0);
        }
    }
}

shared uint exceeding_factors;

// Takes the smallest factor that keeps the budget, else the largest of all, and leaves the histogram at 0. By
// the whole workgroup that comes last.
void choose_factor(uint thread) {
    const uint share = BUDGET_FACTORS / WORKGROUP_SIZE;
    const uint first = budget_words() + BUDGET_HISTOGRAM_WORD + 1 + share * thread;
    uint own[share];  // what the bins above share * thread add
    uint sum = 0;
    [[unroll]]
    for (uint i = 0; i < share; ++i) {
        own[i] = HANDED_OVER(words[first + i]);
        words[first + i] = 0;
        sum += own[i];
    }
    if (thread == 0) {
        exceeding_factors = 0;
    }
    uint total;
    uint below = scan(sum, thread, total);
    uint exceeding = 0;
    [[unroll]]
    for (uint i = 0; i < share; ++i) {  // under a factor the bins above it are split
        const bool is_largest = share * thread + i == BUDGET_FACTORS - 1;
        exceeding += uint(!is_largest && parameters.layers + total - below > parameters.max_tiles);
        below += own[i];
    }
    atomicAdd(exceeding_factors, exceeding);
    barrier();
    if (thread == 0) {
        words[budget_words() + BUDGET_FACTOR_WORD] = exceeding_factors;
    }
}

#endif

// ---- The way up ------------------------------------------------------------------------------------

// Where a block's node is handed over to.
Group group_of(uint level, uvec2 index, uint counters) {
    const uint levels = step_levels(level, parameters.top_level);
    return make_group(level, levels, index >> levels, extent_of(level + levels), counters);
}

// First word of a node.
uint word_of(Group group, uvec2 index) {
    return group.nodes + index.y * extent_of(group.level).x + index.x;
}

#if PASS != PASS_EMIT

// Hands over a block's node; whether it was the last of its group. Thread 0 only.
bool arrive(Group group, uint handover, uvec2 index, float importance, uint tiles) {
    const uint node = word_of(group, index);
    HAND_OVER(words[node], floatBitsToUint(importance));
#if PASS == PASS_COUNT
    HAND_OVER(words[node + NODE_TILES * nodes_of_level(group.level)], tiles);
#endif
    const uvec2 all =
        min(extent_of(group.level) - (group.index << group.levels), uvec2(1U << group.levels));
    const uint expected = is_update() ? parameters.expected[handover] : all.x * all.y;
    if (ARRIVE(words[group.counter]) + 1 != expected) {
        return false;
    }
    acquire_arrivals();
    words[group.counter] = 0;
    return true;
}

// For thread 0 to say, to all.
shared bool goes_on;
shared uint first_place;

void announce() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                   gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

#if PASS == PASS_COUNT
// Tiles in the nodes of a group, those of a thread's own in Z-order.
uvec4 tiles_handed_over(Block block, uint thread) {
    uvec4 tiles;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint word = word_of_node(block, 4 * thread + i);
        tiles[i] = word != 0
                       ? HANDED_OVER(words[word + NODE_TILES * nodes_of_level(block.base + 1)])
                       : 0;
    }
    return tiles;
}

// Leaves for PASS_EMIT what it finds in the nodes of a group, and where it goes.
void write_records(Block block, uint thread, uint tiles, float tile_importance, uvec4 handed_over,
                   uint place) {
    const uint level = block.base + 1;
    const uint nodes = nodes_of_level(level);
    const uint step = tiles >> TILE_STEP_SHIFT;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint word = word_of_node(block, 4 * thread + i);
        if (word != 0) {
            uint record = 0;
            float importance = step_1[4 * thread + i];
            if (is_split(level, first_of_step_1(block) + morton(4 * thread + i), importance)) {
                record = RECORD_SPLIT;
            } else if ((tiles >> (QUAD_TILES_SHIFT + i) & 1) != 0) {
                record = 1 + level;
            } else if (i == 0 && step != 0) {
                record = 1 + block.base + step;
                importance = tile_importance;
            }
            words[word + NODE_RECORD * nodes] = record;
            words[word + NODE_PLACE * nodes] = place;
            words[word + NODE_TILE_IMPORTANCE * nodes] = floatBitsToUint(importance);
            place += record == RECORD_SPLIT ? handed_over[i] : min(record, 1U);
        }
    }
}

TileListHeader make_header(uint required, uint first_tile, uint capacity);

// The first place of each layer, when all are counted; by the whole workgroup. Returns the sum.
uint place_layers(uint thread) {
    uint first = 0;
    for (uint start = 0; start < parameters.layers; start += WORKGROUP_SIZE) {
        const uint word =
            parameters.layers + (start + thread) * parameters.state_words_per_layer;
        const bool is_there = start + thread < parameters.layers;
        const uint tiles =
            is_there ? HANDED_OVER(words[word + LAYER_TILES_WORD]) : 0;
        uint total;
        const uint before = scan(tiles, thread, total);
        if (is_there) {
            words[word + LAYER_PLACE_WORD] = first + before;
            if (LAYER_LISTS) {
                const uint rest =
                    parameters.tile_capacity - min(parameters.tile_capacity, first + before);
                layer_headers[start + thread] = make_header(tiles, first + before, rest);
            }
        }
        first += total;
        barrier();
    }
    return first;
}
#endif

// Whether all other layers are finished: for thread 0 to ask, once for each layer.
bool is_last_layer() {
    if (parameters.running_layers > 1) {
        if (ARRIVE(state.finished_layers) + 1 != parameters.running_layers) {
            return false;
        }
        acquire_arrivals();
        state.finished_layers = 0;
    }
    return true;
}

#if PASS != PASS_BUDGET

TileListHeader make_header(uint required, uint first_tile, uint capacity) {
    const uint factor = WITH_BUDGET ? words[budget_words() + BUDGET_FACTOR_WORD] : 0;
    const bool is_lost = is_update() && state.is_counted == 0;
    TileListHeader made =
        tile_list_header(is_lost ? 0 : required, is_lost ? 0 : first_tile, capacity,
                         parameters.max_workgroup_count, budget_factor(factor));
    made.flags |= is_lost ? TILE_LIST_NOT_COUNTED : 0;
    return made;
}

void finish_list(uint required, uint written) {
    TileListHeader whole = make_header(required, 0, parameters.tile_capacity);
    if (in_parts()) {  // not one behind the other: there is nothing to dispatch or draw
        whole.written = written;
        whole.flags = written < required ? TILE_LIST_OVERFLOW : 0;
        whole.dispatch_x = 0;
        whole.draw_instance_count = 0;
    }
    if (WITH_BUDGET && required > parameters.max_tiles) {
        whole.flags |= TILE_LIST_OVER_BUDGET;
    }
    header = whole;
    if (!is_update()) {
        state.is_counted = uint(PASS == PASS_COUNT && !WITH_BUDGET);
    }
}
#endif

// By the workgroup that has made the root of a layer, when its tiles are counted.
void finish_layer(uint layer_state, uint layer_tiles, uint thread) {
#if PASS == PASS_ALL
    if (thread == 0) {
        words[layer] =
            atomicExchange(words[layer_state + LAYER_NAN_WORD], 0, gl_ScopeDevice, 0, 0);
        // The root's workgroup has added last.
        const uint first = in_parts() ? layer * part_capacity() : 0;
        const uint required = first_place - first + layer_tiles;
        if (in_parts()) {
            words[layer_state + LAYER_PART_WORD] = 0;
            layer_headers[layer] = make_header(required, first, part_capacity());
            atomicAdd(state.tile_count, required, gl_ScopeDevice, 0, 0);
            atomicAdd(state.written_count, min(required, part_capacity()), gl_ScopeDevice, 0, 0);
        }
        if (is_last_layer()) {
            const bool is_whole = parameters.layers == 1 && !in_parts();
            finish_list(is_whole ? required : atomicAdd(state.tile_count, 0, gl_ScopeDevice, 0, 0),
                        in_parts() ? atomicAdd(state.written_count, 0, gl_ScopeDevice, 0, 0) : 0);
            state.tile_count = 0;
            state.written_count = 0;
        }
    }
#else
    if (thread == 0) {
#if PASS == PASS_COUNT
        const uint nan_before = is_update() ? words[layer] : 0;
        words[layer] = nan_before + atomicExchange(words[layer_state + LAYER_NAN_WORD], 0,
                                                   gl_ScopeDevice, 0, 0);
        HAND_OVER(words[layer_state + LAYER_TILES_WORD], layer_tiles);
#endif
        goes_on = is_last_layer();
    }
    announce();
    if (!goes_on) {
        return;
    }
#if PASS == PASS_COUNT
    const uint required = place_layers(thread);
    if (thread == 0) {
        finish_list(required, 0);
    }
#else
    choose_factor(thread);
#endif
#endif
}

void main() {
    const uint thread = thread_index();
    layer = parameters.first_layer + gl_WorkGroupID.z;
    const uvec2 first_block = uvec2(parameters.first_block & 0xffffU, parameters.first_block >> 16);
    Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level),
                        first_block + gl_WorkGroupID.xy, 0);
    // First word of the layer's state.
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
    uint counters = layer_state + LAYER_WORDS;
    uint handovers = 0;

    if (thread == 0) {
#if PASS != PASS_BUDGET
        nan_texels = 0;
#endif
        [[unroll]]
        for (uint i = 0; i <= MAX_HANDOVERS; ++i) {
            largest_keys[i] = 0;
        }
    }
    barrier();
    // With a budget, PASS_BUDGET has left the block's node: where it is not split the block need not be read.
    // (It has no NaN texel then.)
    bool is_known = false;
    float importance = 0.0;
    if (WITH_BUDGET && parameters.top_level > BLOCK_LEVELS) {
        const Group group = group_of(BLOCK_LEVELS, block.index, counters);
        importance = uintBitsToFloat(words[word_of(group, block.index)]);
        is_known = !is_split(BLOCK_LEVELS, block.index, importance);
    }
    uint largest = 0;
    if (!is_known) {
        largest = make_step_1(block, thread);
#if PASS != PASS_BUDGET
        if (counts_as_nan(largest)) {
            count_nan(block, thread);
        }
#endif
    }
    while (true) {
        if (!is_known) {
            importance = largest_of_all(largest, handovers);
        }
        is_known = false;
        const uint level = block.base + block.steps;
        const bool is_root = level == parameters.top_level;
        // Where a node is not split, none below it is, and they have no tiles.
        const bool has_tiles = is_root || is_split(level, block.index, importance);
        uint total = 0;
#if PASS == PASS_BUDGET
        if (has_tiles) {
            count_nodes(block, is_root, thread);
            announce();
        }
#else
        uint before = 0;
        uint tiles = 0;
        float tile_importance = 0.0;
#if PASS == PASS_COUNT
        uvec4 handed_over = uvec4(0);
#endif
        if (has_tiles) {
            tiles = find_tiles(block, thread, tile_importance);
            uint count = tile_count(tiles);
#if PASS == PASS_COUNT
            if (block.base > 0) {
                handed_over = tiles_handed_over(block, thread);
                count += handed_over.x + handed_over.y + handed_over.z + handed_over.w;
            }
#endif
            before = scan(count, thread, total);
#if PASS == PASS_ALL
            lay_out(block, thread, tiles, tile_importance, before);
#endif
        }
#endif
        const Group group = group_of(level, block.index, counters);
        counters = next_counters(group, extent_of(level), FUSED_NODE_WORDS);
        if (thread == 0) {
#if PASS != PASS_BUDGET
            if (block.base == 0) {
                uint added = nan_texels;
#if PASS == PASS_COUNT
                if (!is_root) {
                    const uint word = word_of(group, block.index) +
                                      NODE_NAN_TEXELS * nodes_of_level(level);
                    added -= is_update() ? words[word] : 0;
                    words[word] = nan_texels;
                }
#endif
                if (added != 0) {
                    atomicAdd(words[layer_state + LAYER_NAN_WORD], added, gl_ScopeDevice, 0, 0);
                }
            }
#endif
#if PASS == PASS_ALL
            if (has_tiles) {
                first_place = in_parts()
                                  ? layer * part_capacity() +
                                        atomicAdd(words[layer_state + LAYER_PART_WORD], total,
                                                  gl_ScopeDevice, 0, 0)
                                  : atomicAdd(state.tile_count, total, gl_ScopeDevice, 0, 0);
            }
#endif
            goes_on = !is_root && arrive(group, handovers, block.index, importance, total);
        }
        announce();
        if (has_tiles) {
#if PASS == PASS_ALL
            write_tiles(block, thread, total, first_place);
#elif PASS == PASS_COUNT
            if (block.base > 0) {
                write_records(block, thread, tiles, tile_importance, handed_over, before);
            }
#endif
        }
        if (is_root) {
            finish_layer(layer_state, total, thread);
            return;
        }
        if (!goes_on) {
            return;
        }
        block = Block(level - 1, group.levels + 1, group.index, group.nodes);
        ++handovers;
        barrier();  // the last step 1 is no longer needed
        largest = load_step_1(block, thread);
    }
}

#else

// Where the tiles of a block go; NOWHERE if it has none but those that are larger or as large, and if it is
// outside the map. Writes the tile of its level or above that begins in it. For one thread.
const uint NOWHERE = ~0U;

uint place_of_block(uvec2 block) {
    if (!exists(BLOCK_LEVELS, block)) {
        return NOWHERE;
    }
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
    // What PASS_COUNT has found, from the bottom up: the highest level that is not split decides.
    uint place = 0;
    uint record = RECORD_SPLIT;
    float importance = 0.0;
    bool begins_here = false;
    uint level = BLOCK_LEVELS;
    uint counters = layer_state + LAYER_WORDS;
    for (uint i = 0; i < MAX_HANDOVERS; ++i) {
        if (level < parameters.top_level) {
            const uvec2 index = block >> (level - BLOCK_LEVELS);
            const Group group = group_of(level, index, counters);
            counters = next_counters(group, extent_of(level), FUSED_NODE_WORDS);
            const uint word = word_of(group, index);
            const uint nodes = nodes_of_level(level);
            const uint found = words[word + NODE_RECORD * nodes];
            if (found != RECORD_SPLIT) {
                record = found;
                importance = uintBitsToFloat(words[word + NODE_TILE_IMPORTANCE * nodes]);
                begins_here = index << (level - BLOCK_LEVELS) == block;
                place = 0;
            }
            place += words[word + NODE_PLACE * nodes];
            level += group.levels;
        }
    }
    place += words[layer_state + LAYER_PLACE_WORD];
    if (record == RECORD_SPLIT) {
        return place;
    }
    if (begins_here && record > 0) {
        const uint tile_level = record - 1;
        const uvec2 position = block >> (tile_level - BLOCK_LEVELS);
        write_node(place,
                   Node(tile_level, position, importance, threshold_of(tile_level, position)));
    }
    return NOWHERE;
}

const uint MAX_SHARE_LEVELS = 2;
shared uint places[1 << 2 * MAX_SHARE_LEVELS];

// Of the workgroup's share.
uvec2 block_index(uint i) { return gl_WorkGroupID.xy + gl_NumWorkGroups.xy * morton(i); }

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const uint blocks = 1U << 2 * SHARE_LEVELS;
    if (thread < blocks) {
        places[thread] = place_of_block(block_index(thread));
    }
    barrier();
    [[dont_unroll]]
    for (uint i = 0; i < blocks; ++i) {
        const uint place = places[i];
        if (place != NOWHERE) {
            const Block block =
                Block(0, min(BLOCK_LEVELS, parameters.top_level), block_index(i), 0);
            make_step_1(block, thread);
            float tile_importance;
            const uint tiles = find_tiles(block, thread, tile_importance);
            uint total;
            const uint before = scan(tile_count(tiles), thread, total);
            lay_out(block, thread, tiles, tile_importance, before);
            barrier();
            write_tiles(block, thread, total, place);
            barrier();
        }
    }
}

#endif
