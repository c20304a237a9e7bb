// Common parts of the fused kernels: from the map to its tiles without a pyramid, for monotone thresholds. There all
// ancestors of a split node are split, so a node is a tile exactly if it is not split and its parent is (texels: if the
// parent is; the root: if it is not split). docs/kernels.md has the passes and the steps of a workgroup.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels (x, y) and layer (z); fused_emit.comp and
// balance_tiles.comp: fused_share.glsl. A barrier of the command buffer lies between passes.
//
// Memory order: nodes are messages (hand_over.glsl); each kernel's head has the rest. NaN texels count as infinity: the
// sender of an infinite node releases their number, and its receiver acquires. Layers count themselves in by ARRIVE.
//
// Bindings, set 0:
//   0    map    sampler2DArray: level 0, clamped to the edge, which repeats a texel of the same node
//   1    state  FusedState and the words behind it (kernel_parameters.h); all counters are 0 between runs
//   2    layer_thresholds  LAYER_THRESHOLDS: of each layer, from level 0 to the root's
//   6-9  tiles  the tile list (chunks.glsl)
//   10   node_thresholds  THRESHOLDS_BY_NODE: of each node (threshold_map_index, quadtree.h)

#extension GL_EXT_control_flow_attributes : require

#include "quadtile/budget.h"
#include "quadtile/kernel_parameters.h"
#include "quadtile/tile_list.h"
#include "hand_over.glsl"

#define CHANNELS 1
#define EXTREMES 1
#define CUSTOM 0
#include "downsample_items.glsl"
#define TILES_BINDING 6
#include "chunks.glsl"
#include "cpu_drivers.glsl"

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

layout(constant_id = 22) const bool WITH_BUDGET = false;  // whether the factor of fused_budget.comp scales thresholds
layout(constant_id = 23) const bool LAYER_THRESHOLDS = false;    // whether each layer has thresholds of its own
layout(constant_id = 25) const bool THRESHOLDS_BY_NODE = false;  // otherwise each level has one

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State { FusedState state; uint words[]; };
layout(set = 0, binding = 2, std430) readonly buffer Thresholds { float layer_thresholds[]; };
layout(set = 0, binding = 10, std430) readonly buffer NodeThresholds { float node_thresholds[]; };
layout(push_constant) uniform Parameters { FusedParameters parameters; };

// A block of 64 x 64 texels, or a group of up to 32 x 32 nodes of a level that was handed over, which are its step 1.
struct Block {
    uint base;    // step s is the level base + s
    uint steps;   // up to its one node; 6 at most
    uvec2 index;  // of that node
};

uint layer;

// Without a choice by EDGE_RULE: SLOW_CHOICES (cpu_drivers.glsl).
uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}

bool exists(uint level, uvec2 position) { return all(lessThan(position, extent_of(level))); }

uint layer_words() { return parameters.layers + layer * parameters.state_words_per_layer; }

// Returns the first word for budgets: the index of the factor, then the histogram.
uint budget_words() { return parameters.layers * (1 + parameters.state_words_per_layer); }

// Returns a word of a node of the blocks' level or above; on maps of one block that of the root.
uint node_word(uint kind, uint level, uvec2 index) {
    return budget_words() + BUDGET_WORDS + kind * fused_nodes(parameters.width, parameters.height, parameters.layers) +
           fused_node_index(parameters.width, parameters.height, max(level, BLOCK_LEVELS), index.x, index.y, layer);
}

// Returns whether all other layers are finished. Thread 0 calls this, once per layer.
bool is_last_layer() {
    if (parameters.layers > 1) {
        if (ARRIVE(state.finished_layers) + 1 != parameters.layers) {
            return false;
        }
        acquire_arrivals();
        state.finished_layers = 0;
    }
    return true;
}

// Returns the header of a list that a lost run leaves (hand_over.glsl).
TileListHeader incomplete_list() {
    TileListHeader made = tile_list_header(0, parameters.tile_capacity, parameters.max_workgroup_count, 1.0);
    made.flags = TILE_LIST_INCOMPLETE;
    return made;
}

// ---- Thresholds ------------------------------------------------------------------------------------------

// Returns a node's threshold before scaling. The level must be the same in all threads unless thresholds are by node,
// because it indexes push constants. Positions outside the map have the threshold of a node at its edge.
float given_threshold(uint level, uvec2 position) {
    if (THRESHOLDS_BY_NODE) {
        const uvec2 node = min(position, extent_of(level) - 1);
        const uint place = threshold_map_index(parameters.width, parameters.height,
                                               parameters.layers, level, node.x, node.y, layer);
        return settled(node_thresholds[place]);
    }
    return LAYER_THRESHOLDS ? layer_thresholds[layer * (parameters.top_level + 1) + level]
                            : parameters.thresholds[level];
}

float scaled(float given) {
    return WITH_BUDGET ? scaled_threshold(given, words[budget_words() + BUDGET_FACTOR_WORD]) : given;
}

float threshold_of(uint level, uvec2 position) { return scaled(given_threshold(level, position)); }

shared float level_thresholds[MAX_LEVELS];

// Keeps the thresholds of all levels in shared memory, unless they are by node. A barrier must follow.
void keep_thresholds(uint thread) {
    if (!THRESHOLDS_BY_NODE && thread <= parameters.top_level) {
        float given = 0.0;
        [[unroll]] for (uint level = 0; level < MAX_LEVELS; ++level) {
            given = thread == level ? parameters.thresholds[level] : given;
        }
        level_thresholds[thread] = scaled(LAYER_THRESHOLDS ? given_threshold(thread, uvec2(0)) : given);
    }
}

// Returns a node's threshold after keep_thresholds. The level may differ between threads.
float kept_threshold(uint level, uvec2 position) {
    return THRESHOLDS_BY_NODE ? threshold_of(level, position) : level_thresholds[level];
}

// Returns whether a node is split by its own importance. Importance and threshold are settled floats, which compare as
// floats (texel_encoding.h). The level must be the same in all threads.
bool is_split(uint level, uvec2 position, float importance) { return importance >= threshold_of(level, position); }

// ---- Step 1 of a block ---------------------------------------------------------------------------------------

// Nodes of step 1 in Z-order.
shared float step_1[4 * WORKGROUP_SIZE];

uvec2 morton(uint code) { return uvec2(morton_x(code), morton_y(code)); }

float texel_at(uvec2 position) { return texelFetch(map, ivec3(position, layer), 0).r; }

uvec2 first_of_step_1(Block block) { return (block.index << block.steps) >> 1; }

uint largest_of_four(uvec4 keys) { return max(max(keys.x, keys.y), max(keys.z, keys.w)); }

uint key_of_quad(vec4 quad) {
    return largest_of_four(uvec4(key_of(quad.x), key_of(quad.y), key_of(quad.z), key_of(quad.w)));
}

// Reads four quads of a block and returns their largest keys. The quads are siblings, or one lies in each quarter of
// the block, so that neighbouring threads read neighbouring texels.
uvec4 read_quads(Block block, bool siblings, uint thread) {
    const vec2 texel = vec2(parameters.texel_width, parameters.texel_height);
    const uvec2 first = first_of_step_1(block) + morton(siblings ? 4 * thread : thread);
    const vec2 middle = vec2(2 * first + 1) * texel;  // between the four texels of a quad
    const vec2 other = middle + (siblings ? 2.0 : 32.0) * texel;
    const vec4 quads[4] = vec4[](textureGather(map, vec3(middle, layer), 0),
                                 textureGather(map, vec3(other.x, middle.y, layer), 0),
                                 textureGather(map, vec3(middle.x, other.y, layer), 0),
                                 textureGather(map, vec3(other, layer), 0));
    uvec4 keys;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const vec4 quad = quads[i];
        keys[i] = SOURCE_UNORM_BITS != 0 ? key_of(max(max(quad.x, quad.y), max(quad.z, quad.w)))
                                         : largest_of_four(floatBitsToUint(quad));
    }
    if (SOURCE_UNORM_BITS != 0) {
        return keys;
    }
    // If no sign is set, as usual, bits compare like keys, NaN included.
    if (largest_of_four(keys) <= 0x7fffffffU) {
        keys -= KEY_BIAS;  // key_from_bits
    } else {
        keys = uvec4(key_of_quad(quads[0]), key_of_quad(quads[1]), key_of_quad(quads[2]), key_of_quad(quads[3]));
    }
    return keys;
}

// Returns the position of a thread's node of step 2.
uvec2 position_of(Block block, uint thread) { return ((block.index << block.steps) >> 2) + morton(thread); }

// Returns whether the thread's node of step 2 lies in the block, perhaps outside the map.
bool is_in_block(Block block, uint thread) { return block.steps < 2 || thread < 1U << 2 * (block.steps - 2); }

// Returns whether the node of a step from 2 on around a thread's texels begins there.
bool begins(uint step, uint thread) { return (thread & ((1U << 2 * (step - 2)) - 1)) == 0; }

// Returns bits of those of four nodes, in Z-order from `first` on, that are inside an extent.
uint inside(uvec2 first, uvec2 extent) {
    const uvec2 count = min(extent - min(first, extent), uvec2(2));
    const uint row = (1U << count.x) - 1;
    return count.y > 1 ? row * 0x5U : (count.y > 0 ? row : 0);
}

#define SUMS uint
#include "workgroup.glsl"
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

shared bool goes_on;  // message of thread 0 to all threads

// Returns the largest key of all threads. A barrier must lie between two calls.
uint largest_of_all(uint key, uint thread) {
#if SUBGROUPS
    key = subgroupMax(key);
    if (subgroupElect()) {
        scanned[gl_SubgroupID] = key;
    }
    barrier();
    if (gl_NumSubgroups == 8) {  // the usual number: all loads at once
        return max(max(max(scanned[0], scanned[1]), max(scanned[2], scanned[3])),
                   max(max(scanned[4], scanned[5]), max(scanned[6], scanned[7])));
    }
    for (uint i = gl_SubgroupInvocationID; i < gl_NumSubgroups; i += gl_SubgroupSize) {
        key = max(key, scanned[i]);
    }
    return subgroupMax(key);
#else
    scanned[thread] = key;
    barrier();
    for (uint i = 0; i < WORKGROUP_SIZE; ++i) {
        key = max(key, scanned[i]);
    }
    return key;
#endif
}

// Keeps the nodes of a thread's keys of step 1, which are siblings or lie in all quarters (read_quads).
void keep_step_1(bool siblings, uvec4 keys, uint thread) {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        step_1[siblings ? 4 * thread + i : WORKGROUP_SIZE * i + thread] = item_of_key(keys[i]);
    }
    if (!siblings) {
        barrier();
    }
}

shared float nodes_of_step_2[WORKGROUP_SIZE];
shared float nodes_of_step_4[WORKGROUP_SIZE / 16];

float four_nodes(uint first) {
    return reduce_four(nodes_of_step_2[first], nodes_of_step_2[first + 1],
                       nodes_of_step_2[first + 2], nodes_of_step_2[first + 3]);
}

// Makes the nodes of the steps 3 to 6 around a thread's node of step 2.
void find_upper_nodes(uint thread, inout float nodes[7]) {
#if SUBGROUPS
    float node = reduce_two(nodes[2], subgroupShuffleXor(nodes[2], 1));
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
        nodes[4] = reduce_four(four_nodes(first), four_nodes(first + 4), four_nodes(first + 8), four_nodes(first + 12));
    }
    if ((thread & 15) == 0) {
        nodes_of_step_4[thread / 16] = nodes[4];
    }
    barrier();
    float of_step_5[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        of_step_5[i] = reduce_four(nodes_of_step_4[4 * i], nodes_of_step_4[4 * i + 1],
                                   nodes_of_step_4[4 * i + 2], nodes_of_step_4[4 * i + 3]);
    }
    const uint quarter = thread / 64;
    nodes[5] = quarter < 2 ? (quarter < 1 ? of_step_5[0] : of_step_5[1]) : (quarter < 3 ? of_step_5[2] : of_step_5[3]);
    nodes[6] = reduce_four(of_step_5[0], of_step_5[1], of_step_5[2], of_step_5[3]);
}

// Makes the nodes of the steps 2 to 6, after keep_step_1.
void find_nodes(uint thread, out float nodes[7]) {
    nodes[2] = reduce_four(step_1[4 * thread], step_1[4 * thread + 1], step_1[4 * thread + 2], step_1[4 * thread + 3]);
    find_upper_nodes(thread, nodes);
}
