#version 460
// From the map to its tiles without a pyramid, for monotone thresholds.
//
// A threshold is monotone where "a node is split" implies "all its ancestors are split". Then a node is a
// tile exactly when it is not split and its parent is (texels: when the parent is; the root: when it is not
// split), so whoever knows a node and its parent knows whether it is a tile: no descent.
//
// One dispatch gives the tiles in any order (PASS_ALL). Canonical order takes two: the first counts the
// tiles below each block (PASS_COUNT), the second writes each to its place (PASS_EMIT).
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels (x, y) and layer (z).
//
// Threads lie on the Z-order curve through the block, 4 x 4 texels each, and every thread knows all its
// nodes: those of step 1 (its four quads) and 2 in its registers, those of steps 3 to 6 from its neighbours.
// So each finds the tiles that begin in its texels by itself; one scan gives them places, one atomic
// addition a workgroup reserves these. Then the node of step 6 is handed over, as downsample.comp does:
// the last workgroup of a group goes on with the group's nodes in the place of quads, up to the root.
//
// Bindings, set 0:
//   0    map    sampler2DArray: level 0, clamped to the edge, which repeats a texel of the same node
//   1    state  FusedState and what is behind it (kernel_parameters.h); all counters are back at 0 when the
//               dispatches end
//   6-9  tiles  the tile list (tile_list.glsl)
//
// Memory order (Vulkan memory model). The hand-over is that of downsample.comp: node, then counter, a release
// at device scope; the last workgroup of a group acquires. The additions to tile_count and to the NaN
// texels come before the same thread's release, so the workgroup that makes the root has them all behind
// it. Layers count themselves in likewise, and the last of them completes the header. A barrier of the
// command buffer lies between PASS_COUNT and PASS_EMIT.

#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require

#include "quadtile/kernel_parameters.h"
#include "quadtile/tile_list.h"

#define CHANNELS 1
#define EXTREMES 1
#define HALVES 0
#define CUSTOM 0
#include "downsample_items.glsl"
#include "tile_list.glsl"

#define PASS_ALL 0
#define PASS_COUNT 1
#define PASS_EMIT 2

// What PASS_COUNT finds of a node, for PASS_EMIT: 0 for one inside a tile that begins before it, one more
// than the level of the tile that begins in it, or:
const uint RECORD_SPLIT = 0x80000000U;

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State {
    FusedState state;
    uint words[];
};
layout(push_constant) uniform Parameters { FusedParameters parameters; };

// A block of 64 x 64 texels, or a group of up to 32 x 32 nodes of a level that was handed over: its step 1.
// Step s is the level base + s.
struct Block {
    uint base;
    uint steps;   // up to its one node; 6 at most
    uvec2 index;  // of that node
    uint nodes;   // where the level of nodes that were handed over lies in words
};

// The nodes of a thread.
struct Nodes {
    float quads[4];   // step 1, in Z-order
    float above[5];   // steps 2 to 6
    uint quad_tiles[4];  // PASS_COUNT, groups: tiles in each quad's node
};

uint layer;

#if SUBGROUPS
uint thread_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint thread_index() { return gl_LocalInvocationIndex; }
#endif

uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}

uint nodes_of_level(uint level) {
    const uvec2 extent = extent_of(level);
    return extent.x * extent.y;
}

bool exists(uint level, uvec2 position) { return all(lessThan(position, extent_of(level))); }

// Both are settled floats, which compare as they are (importance_key.h).
bool is_split(uint level, float importance) { return importance >= parameters.thresholds[level]; }

uvec2 morton(uint code) { return uvec2(morton_x(code), morton_y(code)); }

// Of the thread's node of step 2.
uvec2 position_of(Block block, uint thread) {
    return ((block.index << block.steps) >> 2) + morton(thread);
}

// ---- Nodes -----------------------------------------------------------------------------------------

// The texels of a quad in Z-order. Outside the map those at its edge.
vec4 read_quad(uvec2 position) {
    const vec2 corner =
        vec2(2 * position + 1) * vec2(parameters.texel_width, parameters.texel_height);
    return textureGather(map, vec3(corner, layer), 0).wzxy;
}

// Step 1 of a block. All loads are under way before the first is used. Returns whether there is a NaN
// texel, maybe one outside the map.
bool reduce_quads(Block block, uint thread, inout Nodes nodes) {
    const uvec2 first = 2 * position_of(block, thread);
    vec4 quads[4];
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        quads[i] = read_quad(first + morton(i));
    }
    uint largest = 0;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint key = max(max(key_of(quads[i].x), key_of(quads[i].y)),
                             max(key_of(quads[i].z), key_of(quads[i].w)));
        nodes.quads[i] = item_of_key(key);
        largest = max(largest, key);
    }
    return counts_as_nan(largest);
}

#if PASS != PASS_EMIT
shared uint nan_texels;

// Counts the NaN texels of the thread that are inside the map. There are few: it reads them again.
void count_nan(Block block, uint thread) {
    const uvec2 first = 4 * position_of(block, thread);
    uint count = 0;
    [[dont_unroll]]
    for (uint i = 0; i < 16; ++i) {
        const uvec2 texel = first + morton(i);
        if (exists(0, texel)) {
            count += uint(counts_as_nan(key_of(texelFetch(map, ivec3(texel, layer), 0).r)));
        }
    }
    atomicAdd(nan_texels, count);
}

// Step 1 of a group: four nodes that were handed over.
void load_quads(Block block, uint thread, inout Nodes nodes) {
    const uint level = block.base + 1;
    const uint width = extent_of(level).x;
    const uvec2 first = 2 * position_of(block, thread);
    const bool inside = thread < 1U << 2 * (block.steps - 2);
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {  // no branch, so that all loads get under way at once
        const uvec2 position = first + morton(i);
        const bool is_there = inside && exists(level, position);
        const uint place = block.nodes + (is_there ? position.y * width + position.x : 0);
        const uint importance = atomicLoad(words[place], gl_ScopeDevice, 0, 0);
        nodes.quads[i] = is_there ? uintBitsToFloat(importance) : nothing();
#if PASS == PASS_COUNT
        const uint tiles = atomicLoad(words[place + nodes_of_level(level)], gl_ScopeDevice, 0, 0);
        nodes.quad_tiles[i] = is_there ? tiles : 0;
#endif
    }
}
#endif

shared float exchanged[WORKGROUP_SIZE];

// The steps above the quads. Threads of no nodes have `nothing()`.
void reduce_above(uint thread, inout Nodes nodes) {
    float node = reduce_four(nodes.quads[0], nodes.quads[1], nodes.quads[2], nodes.quads[3]);
    nodes.above[0] = node;
#if SUBGROUPS
    if (gl_SubgroupSize >= 16) {
        node = reduce_two(node, subgroupShuffleXor(node, 1));
        node = reduce_two(node, subgroupShuffleXor(node, 2));
        nodes.above[1] = node;
        node = reduce_two(node, subgroupShuffleXor(node, 4));
        node = reduce_two(node, subgroupShuffleXor(node, 8));
        nodes.above[2] = node;
        if ((thread & 15) == 0) {
            exchanged[thread >> 4] = node;
        }
        barrier();
        float quarters[4];
        [[unroll]]
        for (uint i = 0; i < 4; ++i) {
            quarters[i] = reduce_four(exchanged[4 * i], exchanged[4 * i + 1], exchanged[4 * i + 2],
                                      exchanged[4 * i + 3]);
        }
        const uint own = thread >> 6;
        nodes.above[3] = own < 2 ? (own == 0 ? quarters[0] : quarters[1])
                                 : (own == 2 ? quarters[2] : quarters[3]);
        nodes.above[4] = reduce_four(quarters[0], quarters[1], quarters[2], quarters[3]);
        return;
    }
#endif
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        barrier();
        exchanged[thread] = node;
        barrier();
        const uint first = thread & ~(3U << 2 * i);
        const uint pitch = 1U << 2 * i;
        node = reduce_four(exchanged[first], exchanged[first + pitch], exchanged[first + 2 * pitch],
                           exchanged[first + 3 * pitch]);
        nodes.above[1 + i] = node;
    }
}

// The node that a block becomes. (Steps above it have the same importance.)
float node_of_block(Nodes nodes) { return nodes.above[4]; }

// ---- Tiles -----------------------------------------------------------------------------------------

// The tiles that begin in a thread's texels.
struct Tiles {
    uint step;    // of the one that begins at the first of them and is of step 2 or above, else 0
    uint quads;   // bits of those of step 1
    uint texels;  // bits
};

Tiles tiles_of(Block block, uint thread, Nodes nodes) {
    Tiles tiles = Tiles(0, 0, 0);
    const uint top = parameters.top_level;
    const uvec2 position = position_of(block, thread);
    bool parent_split = true;  // that of the root, as it were
    bool in_block = true;
    [[unroll]]
    for (uint step = 6; step >= 2; --step) {
        const uint level = block.base + step;
        const bool corner = (thread & ((1U << 2 * (step - 2)) - 1)) == 0;
        if (step <= block.steps) {
            const bool split = is_split(level, nodes.above[step - 2]);
            // The block's node has its parent elsewhere, unless it is the root.
            const bool is_known = step < block.steps || level == top;
            in_block = in_block && (step < block.steps || thread < 1U << 2 * (step - 2));
            if (is_known && !split && parent_split && corner && in_block &&
                exists(block.base + 2, position)) {
                tiles.step = step;
            }
            parent_split = split;
        }
    }
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uvec2 quad = 2 * position + morton(i);
        bool split = true;  // the parent of a map's only texel
        if (top > block.base) {
            split = is_split(block.base + 1, nodes.quads[i]);
            if (!split && parent_split && in_block && exists(block.base + 1, quad)) {
                tiles.quads |= 1U << i;
            }
        }
        if (split && block.base == 0 && all(lessThan(2 * quad, extent_of(0)))) {
            const uvec2 inside = min(extent_of(0) - 2 * quad, uvec2(2));
            const uint row = inside.x > 1 ? 0x3U : 0x1U;
            tiles.texels |= (inside.y > 1 ? row * 0x5U : row) << 4 * i;
        }
    }
    return tiles;
}

uint tile_count(Tiles tiles) {
    return uint(tiles.step != 0) + bitCount(tiles.quads) + bitCount(tiles.texels);
}

#if SUBGROUPS
shared uint subgroup_counts[WORKGROUP_SIZE / 4];
#else
shared uint counts[WORKGROUP_SIZE];
#endif

// The sum of the counts of the threads before; `total` is that of all. In uniform control flow.
uint scan(uint count, uint thread, out uint total) {
    uint before = 0;
    total = 0;
#if SUBGROUPS
    const uint inclusive = subgroupInclusiveAdd(count);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        subgroup_counts[gl_SubgroupID] = inclusive;
    }
    barrier();
    before = inclusive - count;
    for (uint i = 0; i < gl_NumSubgroups; ++i) {
        before += i < gl_SubgroupID ? subgroup_counts[i] : 0;
        total += subgroup_counts[i];
    }
#else
    uint inclusive = count;
    for (uint reach = 1; reach < WORKGROUP_SIZE; reach *= 2) {
        barrier();
        counts[thread] = inclusive;
        barrier();
        inclusive += thread >= reach ? counts[thread - reach] : 0;
    }
    barrier();
    counts[thread] = inclusive;
    barrier();
    before = inclusive - count;
    total = counts[WORKGROUP_SIZE - 1];
#endif
    return before;
}

void write_node(uint place, uint level, uvec2 position, float importance) {
    if (place < parameters.tile_capacity) {
        const uint flags = is_split(level, importance) ? TILE_CLAMPED : 0;
        write_tile(place, Tile(tile_position(position.x, position.y),
                               tile_node(level, flags, layer), importance,
                               parameters.thresholds[level]));
    }
}

// Writes a thread's tiles, from a place on.
void write_tiles(Block block, uint thread, Nodes nodes, Tiles tiles, uint place) {
    const uvec2 position = position_of(block, thread);
    if (tiles.step != 0) {
        float importance = nodes.above[0];
        [[unroll]]
        for (uint step = 3; step <= 6; ++step) {
            importance = tiles.step == step ? nodes.above[step - 2] : importance;
        }
        write_node(place, block.base + tiles.step, position >> (tiles.step - 2), importance);
        return;
    }
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uvec2 quad = 2 * position + morton(i);
        if ((tiles.quads >> i & 1) != 0) {
            write_node(place, block.base + 1, quad, nodes.quads[i]);
            ++place;
        }
        const uint in_quad = tiles.texels >> 4 * i & 0xfU;
        if (in_quad != 0) {
            const vec4 texels = read_quad(quad);
            [[unroll]]
            for (uint n = 0; n < 4; ++n) {
                if ((in_quad >> n & 1) != 0) {
                    write_node(place, 0, 2 * quad + morton(n), item_of(texels[n]));
                    ++place;
                }
            }
        }
    }
}

// ---- The way up ------------------------------------------------------------------------------------

// Where a block's node is handed over to.
struct Group {
    uint level;   // of the nodes
    uint levels;  // that are made of them
    uvec2 index;
    uint counter;   // in words: of nodes that have arrived
    uint nodes;     // in words: importances, then what canonical order needs (FUSED_NODE_WORDS)
    uint counters;  // in words: those of the next hand-over
};

Group group_of(uint level, uvec2 index, uint counters) {
    const uint levels = step_levels(level, parameters.top_level);
    const uvec2 extent = extent_of(level);
    const uvec2 groups = extent_of(level + levels);
    const uvec2 group = index >> levels;
    const uint nodes = counters + 2 * groups.x * groups.y;
    return Group(level, levels, group, counters + group.y * groups.x + group.x, nodes,
                 nodes + FUSED_NODE_WORDS * extent.x * extent.y);
}

uint place_of_node(Group group, uvec2 index) {
    return group.nodes + index.y * extent_of(group.level).x + index.x;
}

#if PASS != PASS_EMIT

// Hands over a block's node; whether it was the last of its group. Thread 0 only.
bool arrive(Group group, uvec2 index, float importance, uint tiles) {
    const uint place = place_of_node(group, index);
    atomicStore(words[place], floatBitsToUint(importance), gl_ScopeDevice, 0, 0);
#if PASS == PASS_COUNT
    atomicStore(words[place + nodes_of_level(group.level)], tiles, gl_ScopeDevice, 0, 0);
#endif
    const uvec2 expected =
        min(extent_of(group.level) - (group.index << group.levels), uvec2(1U << group.levels));
    const uint arrived = atomicAdd(words[group.counter], 1, gl_ScopeDevice,
                                   gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    if (arrived + 1 != expected.x * expected.y) {
        return false;
    }
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
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
// Leaves for PASS_EMIT what it finds in the nodes of a group, and where it goes.
void write_records(Block block, uint thread, Nodes nodes, Tiles tiles, uint place) {
    const uint level = block.base + 1;
    const uint width = extent_of(level).x;
    const uvec2 first = 2 * position_of(block, thread);
    if (thread >= 1U << 2 * (block.steps - 2)) {
        return;
    }
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uvec2 position = first + morton(i);
        if (exists(level, position)) {
            uint record = 0;
            float importance = nodes.quads[i];
            if (is_split(level, nodes.quads[i])) {
                record = RECORD_SPLIT;
            } else if ((tiles.quads >> i & 1) != 0) {
                record = 1 + level;
            } else if (i == 0 && tiles.step != 0) {
                record = 1 + block.base + tiles.step;
                [[unroll]]
                for (uint step = 2; step <= 6; ++step) {
                    importance = tiles.step == step ? nodes.above[step - 2] : importance;
                }
            }
            const uint word = block.nodes + position.y * width + position.x;
            words[word] = floatBitsToUint(importance);
            words[word + nodes_of_level(level)] = record;
            words[word + 2 * nodes_of_level(level)] = place;
            place += record == RECORD_SPLIT ? nodes.quad_tiles[i] : min(record, 1U);
        }
    }
}

// The first place of each layer, when all are counted; by the whole workgroup. Returns the sum.
uint place_layers(uint thread) {
    uint first = 0;
    for (uint start = 0; start < parameters.layers; start += WORKGROUP_SIZE) {
        const uint word = parameters.layers +
                          (start + thread) * parameters.state_words_per_layer + LAYER_TILES_WORD;
        const bool is_there = start + thread < parameters.layers;
        const uint tiles = is_there ? atomicLoad(words[word], gl_ScopeDevice, 0, 0) : 0;
        uint total;
        const uint before = scan(tiles, thread, total);
        if (is_there) {
            words[word] = first + before;
        }
        first += total;
        barrier();
    }
    return first;
}
#endif

// By the workgroup that has made the root of a layer, when its tiles are counted.
void finish_layer(uint layer_state, uint layer_tiles, uint thread) {
    bool is_last = true;
    if (thread == 0) {
        words[layer] = atomicExchange(words[layer_state], 0, gl_ScopeDevice, 0, 0);
#if PASS == PASS_COUNT
        atomicStore(words[layer_state + LAYER_TILES_WORD], layer_tiles, gl_ScopeDevice, 0, 0);
#endif
        if (parameters.layers > 1) {
            const uint finished = atomicAdd(state.finished_layers, 1, gl_ScopeDevice,
                                            gl_StorageSemanticsBuffer, gl_SemanticsRelease);
            is_last = finished + 1 == parameters.layers;
            if (is_last) {
                memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
                state.finished_layers = 0;
            }
        }
    }
#if PASS == PASS_COUNT
    if (thread == 0) {
        goes_on = is_last;
    }
    announce();
    if (!goes_on) {
        return;
    }
    const uint required = place_layers(thread);
#else
    // The root's workgroup has added last.
    const uint required = is_last && thread == 0 && parameters.layers > 1
                              ? atomicAdd(state.tile_count, 0, gl_ScopeDevice, 0, 0)
                              : first_place + layer_tiles;
#endif
    if (is_last && thread == 0) {
        state.tile_count = 0;
        write_header(required, parameters.tile_capacity, parameters.max_workgroup_count);
    }
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level), gl_WorkGroupID.xy, 0);
    // First word of the layer's state.
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
    uint counters = layer_state + LAYER_WORDS;

    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    Nodes nodes;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        nodes.quad_tiles[i] = 0;
    }
    if (reduce_quads(block, thread, nodes)) {
        count_nan(block, thread);
    }
    while (true) {
        reduce_above(thread, nodes);
        const float importance = node_of_block(nodes);
        const uint level = block.base + block.steps;
        const bool is_root = level == parameters.top_level;
        // Where a node is not split, none below it is, and they have no tiles.
        const bool has_tiles = is_root || is_split(level, importance);
        Tiles tiles = Tiles(0, 0, 0);
        uint before = 0;
        uint total = 0;
        if (has_tiles) {
            tiles = tiles_of(block, thread, nodes);
            uint count = tile_count(tiles);
#if PASS == PASS_COUNT
            [[unroll]]
            for (uint i = 0; i < 4; ++i) {
                count += nodes.quad_tiles[i];
            }
#endif
            before = scan(count, thread, total);
        }
        const Group group = group_of(level, block.index, counters);
        if (thread == 0) {
            if (block.base == 0 && nan_texels > 0) {
                atomicAdd(words[layer_state], nan_texels, gl_ScopeDevice, 0, 0);
            }
#if PASS == PASS_ALL
            if (has_tiles) {
                first_place = atomicAdd(state.tile_count, total, gl_ScopeDevice, 0, 0);
            }
#endif
            goes_on = !is_root && arrive(group, block.index, importance, total);
        }
        announce();
        if (has_tiles) {
#if PASS == PASS_ALL
            write_tiles(block, thread, nodes, tiles, first_place + before);
#else
            if (block.base > 0) {
                write_records(block, thread, nodes, tiles, before);
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
        counters = group.counters;
        block = Block(level - 1, group.levels + 1, group.index, group.nodes);
        load_quads(block, thread, nodes);
    }
}

#else

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level), gl_WorkGroupID.xy, 0);
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;

    // What PASS_COUNT has found, from the bottom up: the highest level that is not split decides.
    uint place = 0;
    uint record = RECORD_SPLIT;
    float importance = 0.0;
    bool corner = false;
    uint level = BLOCK_LEVELS;
    uint counters = layer_state + LAYER_WORDS;
    for (uint i = 0; i < MAX_HANDOVERS; ++i) {
        if (level < parameters.top_level) {
            const uvec2 index = block.index >> (level - BLOCK_LEVELS);
            const Group group = group_of(level, index, counters);
            const uint word = place_of_node(group, index);
            const uint found = words[word + nodes_of_level(level)];
            if (found != RECORD_SPLIT) {
                record = found;
                importance = uintBitsToFloat(words[word]);
                corner = index << (level - BLOCK_LEVELS) == block.index;
                place = 0;
            }
            place += words[word + 2 * nodes_of_level(level)];
            counters = group.counters;
            level += group.levels;
        }
    }
    place += words[layer_state + LAYER_TILES_WORD];
    if (record != RECORD_SPLIT) {
        if (thread == 0 && corner && record > 0) {
            write_node(place, record - 1, block.index >> (record - 1 - BLOCK_LEVELS), importance);
        }
        return;
    }

    Nodes nodes;
    reduce_quads(block, thread, nodes);
    reduce_above(thread, nodes);
    const Tiles tiles = tiles_of(block, thread, nodes);
    uint total;
    const uint before = scan(tile_count(tiles), thread, total);
    write_tiles(block, thread, nodes, tiles, place + before);
}

#endif
