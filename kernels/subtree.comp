#version 460
// One pass of the subdivision by subtrees: several levels in one dispatch. Each thread descends from its subtree's root
// towards a node of the lowest level; docs/kernels.md has the steps. One atomic addition per workgroup reserves places
// (one per subgroup took twice as long if all nodes are split: all go to one address).
//
// Dispatch: 4^(upper_level - lower_level) threads per subtree, which is one per node of its lowest level; 256 per
// workgroup, folded into x and y. The first pass starts from the root of each layer. The other passes start from the
// split nodes that the pass before has listed, by indirect arguments that it has written.
//
// Bindings, set 0:
//   0    map      sampler2DArray: level 0
//   1    state    counters and arguments of the passes, then the node lists
//   2-5  pyramid  the levels from 1 on (quadtree.h), in chunks (chunks.glsl)
//   6-9  tiles    the tile list (chunks.glsl)
//   10   thresholds of the nodes (threshold_map_index), if THRESHOLDS_BY_NODE
//
// Memory order: appending uses relaxed atomics. A barrier of the command buffer lies between passes. The last workgroup
// of the last pass follows by the hand-over of hand_over.glsl; the results are the additions to tile_count.
//
// Source: Tokuyoshi, "An Implementation of Adaptive Tile Subdivision on the GPU", section 4 (one level per pass: 3).

#if SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#endif

#include "quadtile/kernel_parameters.h"
#include "quadtile/texel_encoding.h"
#include "quadtile/tile_list.h"
#include "hand_over.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State { SubdivisionState state; uint nodes[]; };
#define PYRAMID_BINDING 2
#define TILES_BINDING 6
#include "chunks.glsl"
layout(constant_id = 25) const bool THRESHOLDS_BY_NODE = false;  // otherwise each level has one
layout(set = 0, binding = 10, std430) readonly buffer NodeThresholds { float node_thresholds[]; };
layout(push_constant) uniform Parameters { SubdivisionParameters parameters; };

uint layer;

uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}

#if USER_THRESHOLD
// Functions for the user's text, which defines threshold(). Its parameters take the place of thresholds by level.
uvec2 map_extent() { return uvec2(parameters.width, parameters.height); }
uint map_layers() { return parameters.layers; }
float threshold_parameter(uint index) { return parameters.thresholds[index]; }
#include "user_threshold.glsl"
#endif

// Returns the threshold of a node inside the map. The level is the same in all threads of a turn, because it indexes
// push constants. The caller's thresholds may be NaN or denormal, and are settled like importances.
float threshold_of(uint level, uvec2 position) {
#if USER_THRESHOLD
    const float given = threshold(level, position, layer);
#else
    if (!THRESHOLDS_BY_NODE) {
        return parameters.thresholds[level];
    }
    const float given = node_thresholds[threshold_map_index(
        parameters.width, parameters.height, parameters.layers, level, position.x, position.y, layer)];
#endif
    return settled(given);
}

// Importance and threshold are settled floats, which compare as floats (texel_encoding.h).
Node node_at(uint level, uvec2 position) {
    float importance;
    if (level == 0) {
        const float texel = texelFetch(map, ivec3(position, layer), 0).r;
        importance = settled(parameters.unorm_bits == 0 ? texel : unorm_texel(texel, parameters.unorm_bits));
    } else {
        importance = read_pyramid(
            pyramid_index(parameters.width, parameters.height, level, position.x, position.y, layer));
    }
    return Node(level, position, importance, threshold_of(level, position));
}

// For the list of tiles and the next pass's list: places that this workgroup needs, and the first of them.
const uint TILES = 0, NODES = 1;
shared uint wanted_places[2];
shared uint first_place[2];

// Returns the first of `count` places for the thread, among the places of the workgroup. All threads call this.
uint local_place(uint list, uint count) {
#if SUBGROUPS
    const uint all = subgroupAdd(count);
    uint first = 0;
    if (subgroupElect()) {
        first = atomicAdd(wanted_places[list], all);
    }
    return subgroupBroadcastFirst(first) + subgroupExclusiveAdd(count);
#else
    return atomicAdd(wanted_places[list], count);
#endif
}

// Adds the needed places to both lists, and raises the arguments of the next pass. Thread 0 calls this.
void reserve_places(bool lists_nodes) {
    const uint next = parameters.pass + 1;
    const uint node_count = wanted_places[NODES];
    if (wanted_places[TILES] > 0) {
        first_place[TILES] = ADD_RELAXED(state.tile_count, wanted_places[TILES]);
    }
    uint end = 0;
    if (node_count > 0) {
        first_place[NODES] = ADD_RELAXED(state.passes[next].node_count, node_count);
        end = first_place[NODES] + node_count;
    }
    // At least one workgroup: the last pass must run to complete the header, even for an empty list.
    const bool is_first = gl_WorkGroupID.xy == uvec2(0);
    if (end > 0 || (is_first && lists_nodes)) {
        const uint workgroups = max(workgroups_for(end, parameters.next_depth), 1);
        const uint limit = parameters.max_workgroup_count;
        atomicMax(state.passes[next].dispatch_x, folded_x(workgroups, limit), gl_ScopeDevice, 0, 0);
        atomicMax(state.passes[next].dispatch_y, folded_y(workgroups, limit), gl_ScopeDevice, 0, 0);
        if (is_first) {
            state.passes[next].dispatch_z = 1;
        }
    }
}

// Ends the last pass: its last workgroup completes the header and resets the state to 0. All threads call this.
void finish() {
    order_threads();
    if (gl_LocalInvocationIndex != 0 ||
        ARRIVE(state.finished_workgroups) + 1 != gl_NumWorkGroups.x * gl_NumWorkGroups.y) {
        return;
    }
    acquire_arrivals();
    const uint counted = TAKE_RELAXED(state.tile_count);
    const bool is_incomplete = TAKE_RELAXED(state.is_incomplete) != 0;
    header = tile_list_header(is_incomplete ? 0 : counted, parameters.tile_capacity, parameters.max_workgroup_count, 1.0);
    if (is_incomplete) {
        header.flags = TILE_LIST_INCOMPLETE;
    }
    state.finished_workgroups = 0;
    for (uint pass = 0; pass <= parameters.pass; ++pass) {
        state.passes[pass] = SubdivisionPass(0, 0, 0, 0);
    }
}

void main() {
    if (gl_LocalInvocationIndex < 2) {
        wanted_places[gl_LocalInvocationIndex] = 0;
    }
    barrier();
    const uint upper = parameters.upper_level;
    const uint lower = parameters.lower_level;
    const uint depth = upper - lower;
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint thread = workgroup * SUBDIVISION_WORKGROUP_SIZE + gl_LocalInvocationIndex;
    const uint subtree = thread >> (2 * depth);
    const bool first = parameters.pass == 0;

    bool is_tile = false;
    bool is_split = false;  // at the lowest level
    Node node = Node(lower, uvec2(0), 0.0, 0.0);
    if (subtree < (first ? parameters.layers : state.passes[parameters.pass].node_count)) {
        // A root is node 0 of its layer, so its packed form is its index.
        const uint packed = first ? subtree : nodes[parameters.input_offset + subtree];
        const uvec2 extent = extent_of(upper);
        const uint row = packed / extent.x;
        layer = row / extent.y;
        const uvec2 root = uvec2(packed % extent.x, row % extent.y);
        const uint local = thread & ((1U << (2 * depth)) - 1);
        const uvec2 leaf = (root << depth) + uvec2(morton_x(local), morton_y(local));
        if (all(lessThan(leaf, extent_of(lower)))) {
            // Listed nodes are split.
            uint level = upper + (first ? 1 : 0);
            bool split = true;
            // Threads leave at different levels, but all threads in a turn are at the same level.
            while (split && level > lower) {
                --level;
                node = node_at(level, leaf >> (level - lower));
                if (first && floatBitsToUint(node.importance) == NAN_BITS) {  // the root: downsample.comp
                    HAND_OVER(state.is_incomplete, 1U);
                }
                split = node.importance >= node.threshold;
            }
            const bool at_corner = (node.position << (level - lower)) == leaf;
            is_tile = at_corner && (!split || level == 0);
            is_split = split && level != 0;
        }
    }

    const bool lists_nodes = lower >= LOWEST_LISTED_LEVEL;
    // The up to four texels of a split node of level 1 are tiles in any case.
    const uvec2 children = is_split && lower == 1 ? min(extent_of(0) - 2 * node.position, uvec2(2)) : uvec2(0);
    uint tile_place = local_place(TILES, is_tile ? 1 : children.x * children.y);
    const uint node_place = lists_nodes ? local_place(NODES, uint(is_split)) : 0;
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        reserve_places(lists_nodes);
    }
    barrier();
    tile_place += first_place[TILES];
    if (is_tile) {
        write_node(tile_place, parameters.tile_capacity, layer, node, 0);
    }
    if (lists_nodes) {
        if (is_split) {
            const uvec2 extent = extent_of(lower);
            nodes[parameters.output_offset + first_place[NODES] + node_place] =
                (layer * extent.y + node.position.y) * extent.x + node.position.x;
        }
        return;
    }
    for (uint child = 0; child < 4; ++child) {
        const uvec2 corner = uvec2(child & 1, child >> 1);
        if (all(lessThan(corner, children))) {
            const Node texel = node_at(0, 2 * node.position + corner);
            write_node(tile_place++, parameters.tile_capacity, layer, texel, 0);
        }
    }
    finish();
}
