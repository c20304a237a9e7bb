#version 460
// From the map to its tiles in one dispatch, for monotone thresholds; no pyramid is written.
//
// A threshold is monotone where "a node is split" implies "all its ancestors are split". Then a node is a
// tile exactly when it is not split and its parent is (texels: when the parent is; the root: when it is not
// split), so whoever knows a node and its parent knows whether it is a tile: no descent.
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels (x, y) and layer (z).
//
// A workgroup makes the six levels above its block in shared memory and appends the tiles among them whose
// parents it has: those of levels 0 to 5. It hands its node of level 6 over, as downsample.comp does; the
// last workgroup of a group goes on with the group's nodes, and with the tiles among them, up to the root.
//
// Appending: one atomic addition for a workgroup and step reserves places; a place beyond the capacity is
// counted and not written.
//
// Bindings, set 0:
//   0    map    sampler2DArray: level 0, clamped to the edge, which repeats a texel of the same node
//   1    state  FusedState, then the words of the downsampler's state (kernel_parameters.h); all counters
//               are back at 0 when the dispatch ends
//   6-9  tiles  the tile list (tile_list.glsl)
//
// Memory order (Vulkan memory model). The hand-over is that of downsample.comp: node, then counter, a release
// at device scope; the last workgroup of a group acquires. The additions to tile_count and to the NaN
// texels come before the same thread's release, so the workgroup that makes the root has them all behind
// it. Roots count themselves in likewise, and the last of them completes the header.

#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
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

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State {
    FusedState state;
    uint words[];
};
layout(push_constant) uniform Parameters { FusedParameters parameters; };

// A block of 64 x 64 texels, or a group of up to 32 x 32 nodes of a level that was handed over. In shared
// memory step s holds its nodes of up to (64 >> s)^2, row by row: the steps 1 to 6 of a block are its levels;
// step 1 of a group is the level that was handed over.
struct Block {
    uint level;   // of step 0
    uint levels;  // up to its one node
    uvec2 index;  // of that node
};

const uint STEPS = 6;
const uint BLOCK_NODES = 1024 + 256 + 64 + 16 + 4 + 1;
shared float nodes[BLOCK_NODES];
shared uint wanted_places;
shared uint first_place;
shared uint nan_texels;
shared bool goes_on;

// Of step 1 to STEPS.
uint steps_start(uint step) { return (4096 - (4096 >> 2 * (step - 1))) / 3; }

uint layer;

uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}

bool is_split(uint level, float importance) {
    return key_from_bits(floatBitsToUint(importance)) >=
           key_from_bits(floatBitsToUint(parameters.thresholds[level]));
}

// ---- Nodes -----------------------------------------------------------------------------------------

// Four quads of a block, one in each quarter, where all have the same place (downsample.comp).
uvec2 place_in_quarter(uint thread) { return uvec2(morton_x(thread), morton_y(thread)); }
uvec2 quad_place(uint thread, uint i) {
    return 16 * uvec2(i & 1, i >> 1) + place_in_quarter(thread);
}

// The texels of a quad, x first. Outside the map those at its edge.
vec4 read_quad(uvec2 position) {
    const vec2 corner =
        vec2(2 * position + 1) * vec2(parameters.texel_width, parameters.texel_height);
    return textureGather(map, vec3(corner, layer), 0).wzxy;
}

// Counts the NaN texels of the thread's quads that are inside the map. There are few: on its own, so that
// the others need not look where they are.
void count_nan(Block block, vec4 quads[4], uint thread) {
    uint count = 0;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        [[unroll]]
        for (uint n = 0; n < 4; ++n) {
            const uvec2 quad = 32 * block.index + quad_place(thread, i);
            const uvec2 texel = 2 * quad + uvec2(n & 1, n >> 1);
            count += uint(counts_as_nan(key_of(quads[i][n])) && all(lessThan(texel, extent_of(0))));
        }
    }
    atomicAdd(nan_texels, count);
}

// Step 1 of a block.
void make_first_step(Block block, vec4 quads[4], uint thread) {
    uint largest = 0;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint key = max(max(key_of(quads[i].x), key_of(quads[i].y)),
                             max(key_of(quads[i].z), key_of(quads[i].w)));
        const uvec2 local = quad_place(thread, i);
        nodes[32 * local.y + local.x] = item_of_key(key);
        largest = max(largest, key);
    }
    if (counts_as_nan(largest)) {
        count_nan(block, quads, thread);
    }
}

// Step 1 of a group: its nodes as they were handed over, from `texels` on.
void load_first_step(Block block, uint texels, uint thread) {
    const uint level = block.level + 1;
    const uvec2 extent = extent_of(level);
    const uint width = 1 << (block.levels - 1);
    for (uint i = 0; i < 4; ++i) {
        const uint node = thread + i * WORKGROUP_SIZE;
        const uvec2 local = uvec2(node & 31, node >> 5);
        const uvec2 position = block.index * width + local;
        float item = nothing();
        if (all(lessThan(local, uvec2(width))) && all(lessThan(position, extent))) {
            item = uintBitsToFloat(atomicLoad(words[texels + position.y * extent.x + position.x],
                                              gl_ScopeDevice, 0, 0));
        }
        nodes[node] = item;
    }
}

void make_steps(uint thread) {
    [[unroll]]
    for (uint step = 2; step <= STEPS; ++step) {
        barrier();
        const uint width = 64 >> step;
        if (thread < width * width) {
            const uvec2 local = uvec2(thread & (width - 1), thread >> (STEPS - step));
            const uint below = steps_start(step - 1) + 4 * width * local.y + 2 * local.x;
            nodes[steps_start(step) + thread] =
                reduce_four(nodes[below], nodes[below + 1], nodes[below + 2 * width],
                            nodes[below + 2 * width + 1]);
        }
    }
    barrier();
}

// ---- Tiles -----------------------------------------------------------------------------------------

// Places for `count` tiles of each thread: the first of them, or one from the capacity on. In uniform
// control flow.
uint reserve(uint count, uint thread) {
    if (thread == 0) {
        wanted_places = 0;
    }
    barrier();
    const uint local = count > 0 ? atomicAdd(wanted_places, count) : 0;
    barrier();
    if (thread == 0 && wanted_places > 0) {
        first_place = atomicAdd(state.tile_count, wanted_places, gl_ScopeDevice, 0, 0);
    }
    barrier();
    return first_place + local;
}

void write_node(uint place, uint level, uvec2 position, float importance) {
    if (place < parameters.tile_capacity) {
        const uint flags = is_split(level, importance) ? TILE_CLAMPED : 0;
        write_tile(place, Tile(tile_position(position.x, position.y),
                               tile_node(level, flags, layer), importance,
                               parameters.thresholds[level]));
    }
}

// A node of the block, counted through its steps.
struct Node {
    uint level;
    uvec2 position;
    float importance;
    bool is_tile;
};

Node node_of(Block block, uint i) {
    uint step = 1;
    [[unroll]]
    for (uint above = 2; above <= STEPS; ++above) {
        step = i >= steps_start(above) ? above : step;
    }
    const uint width = 64 >> step;
    const uint in_step = i - steps_start(step);
    const uvec2 local = uvec2(in_step & (width - 1), in_step >> (STEPS - step));
    const uvec2 corner = (block.index << block.levels) >> step;
    Node node = Node(block.level + step, corner + local, nodes[i], false);
    const bool exists = all(lessThan(local, uvec2((1 << block.levels) >> step))) &&
                        all(lessThan(node.position, extent_of(node.level)));
    if (exists && !is_split(node.level, node.importance)) {
        if (node.level == parameters.top_level) {
            node.is_tile = true;
        } else if (step < block.levels) {
            const uint parent = steps_start(step + 1) + (width / 2) * (local.y / 2) + local.x / 2;
            node.is_tile = is_split(node.level + 1, nodes[parent]);
        }
    }
    return node;
}

// Texels of a quad that are tiles, as bits.
uint texel_tiles(Block block, uvec2 local) {
    const uvec2 position = 32 * block.index + local;
    if (parameters.top_level > 0 && !is_split(1, nodes[32 * local.y + local.x])) {
        return 0;
    }
    const uvec2 inside = min(extent_of(0) - min(2 * position, extent_of(0)), uvec2(2));
    return (inside.x > 1 ? 0x3U : inside.x) * (inside.y > 0 ? 1U : 0U) |
           (inside.x > 1 ? 0xcU : 4U * inside.x) * (inside.y > 1 ? 1U : 0U);
}

// Nodes of the block that a thread looks at.
const uint NODE_TURNS = (BLOCK_NODES + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;

void append_tiles(Block block, vec4 quads[4], uint thread) {
    const bool has_texels = block.level == 0;
    uint node_tiles = 0;  // a bit for each turn
    for (uint turn = 0; turn < NODE_TURNS; ++turn) {
        const uint i = thread + turn * WORKGROUP_SIZE;
        if (i < BLOCK_NODES && node_of(block, i).is_tile) {
            node_tiles |= 1U << turn;
        }
    }
    uint count = bitCount(node_tiles);
    uint texels[4];
    for (uint i = 0; i < 4; ++i) {
        texels[i] = has_texels ? texel_tiles(block, quad_place(thread, i)) : 0;
        count += bitCount(texels[i]);
    }
    uint place = reserve(count, thread);
    for (uint turn = 0; turn < NODE_TURNS; ++turn) {
        if ((node_tiles >> turn & 1) != 0) {
            const Node node = node_of(block, thread + turn * WORKGROUP_SIZE);
            write_node(place, node.level, node.position, node.importance);
            ++place;
        }
    }
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uvec2 corner = 2 * (32 * block.index + quad_place(thread, i));
        [[unroll]]
        for (uint n = 0; n < 4; ++n) {
            if ((texels[i] >> n & 1) != 0) {
                write_node(place, 0, corner + uvec2(n & 1, n >> 1), item_of(quads[i][n]));
                ++place;
            }
        }
    }
}

// ---- The way up ------------------------------------------------------------------------------------

// Hands over the node that a block has become; false if the workgroup was not the last of its group. If it
// was, `block` is the group then, its nodes are loaded, and `counters` is the place of the next hand-over's.
bool hand_over(inout Block block, inout uint counters, uint thread) {
    const uint level = block.level + block.levels;
    const uvec2 extent = extent_of(level);
    const uint levels = step_levels(level, parameters.top_level);
    const uvec2 groups = extent_of(level + levels);
    const uvec2 group = block.index >> levels;
    const uint counter = counters + group.y * groups.x + group.x;
    const uint texels = counters + 2 * groups.x * groups.y;
    if (thread == 0) {
        const uvec2 arriving = min(extent - (group << levels), uvec2(1U << levels));
        atomicStore(words[texels + block.index.y * extent.x + block.index.x],
                    floatBitsToUint(nodes[steps_start(block.levels)]), gl_ScopeDevice, 0, 0);
        const uint arrived = atomicAdd(words[counter], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                                       gl_SemanticsRelease);
        goes_on = arrived + 1 == arriving.x * arriving.y;
        if (goes_on) {
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
            words[counter] = 0;
        }
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                   gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (!goes_on) {
        return false;
    }
    counters = texels + extent.x * extent.y;
    block = Block(level - 1, levels + 1, group);
    load_first_step(block, texels, thread);
    return true;
}

// By the workgroup that has made the root of a layer, when its tiles are counted: thread 0 only.
void finish_layer(uint layer_state) {
    words[layer] = atomicExchange(words[layer_state], 0, gl_ScopeDevice, 0, 0);
    const uint finished = atomicAdd(state.finished_layers, 1, gl_ScopeDevice,
                                    gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    if (finished + 1 == parameters.layers) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
        write_header(atomicExchange(state.tile_count, 0, gl_ScopeDevice, 0, 0),
                     parameters.tile_capacity, parameters.max_workgroup_count);
        state.finished_layers = 0;
    }
}

void main() {
    const uint thread = gl_LocalInvocationIndex;
    layer = gl_WorkGroupID.z;
    Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level), gl_WorkGroupID.xy);
    vec4 quads[4];
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        quads[i] = read_quad(32 * block.index + quad_place(thread, i));
    }
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    make_first_step(block, quads, thread);

    // First word of the layer's state.
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
    uint counters = layer_state + 1;
    while (true) {
        make_steps(thread);
        // Where a node is not split, none below it is, and they have no tiles.
        const uint level = block.level + block.levels;
        if (level == parameters.top_level || is_split(level, nodes[steps_start(block.levels)])) {
            append_tiles(block, quads, thread);
        }
        if (thread == 0 && block.level == 0 && nan_texels > 0) {
            atomicAdd(words[layer_state], nan_texels, gl_ScopeDevice, 0, 0);
        }
        if (level == parameters.top_level) {
            break;
        }
        if (!hand_over(block, counters, thread)) {
            return;
        }
    }
    if (thread == 0) {
        finish_layer(layer_state);
    }
}
