// What the kernels of the subdivision share: their resources, and the appending of tiles and nodes.
//
// Bindings, set 0:
//   0    map      sampler2DArray: level 0
//   1    state    counters and arguments of the passes, then the node lists
//   2-5  pyramid  the levels from 1 on (quadtree.h), in chunks (pyramid_chunks.glsl)
//   6-9  tiles    the tile list (tile_list.glsl)
//   10   thresholds of the nodes (threshold_map_index), where THRESHOLDS_BY_NODE
// Set 1: what the user's own threshold function reads, where USER_THRESHOLD.
//
// Appending: one atomic addition for a workgroup reserves places; a place beyond the capacity is
// counted and not written. (One for a subgroup took twice as long where all nodes are split: all go to
// one address.)

#if SUBGROUPS
#extension GL_KHR_shader_subgroup_ballot : require
#endif

#include "quadtile/kernel_parameters.h"
#include "quadtile/tile_list.h"
#include "hand_over.glsl"
#include "texel_key.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State {
    SubdivisionState state;
    uint nodes[];
};
#include "tile_list.glsl"
#define PYRAMID_BINDING 2
#include "pyramid_chunks.glsl"
// Whether each node has a threshold of its own; otherwise there is one for each level.
layout(constant_id = 25) const bool THRESHOLDS_BY_NODE = false;
layout(set = 0, binding = 10, std430) readonly buffer NodeThresholds { float node_thresholds[]; };
layout(push_constant) uniform Parameters { SubdivisionParameters parameters; };

struct Node {
    uvec2 position;
    uint layer;
};

// Index of the thread over the whole dispatch, whose workgroups are folded into x and y.
uint dispatch_thread() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return workgroup * SUBDIVISION_WORKGROUP_SIZE + gl_LocalInvocationIndex;
}

uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}

Node unpack_node(uint packed, uint level) {
    const uvec2 extent = extent_of(level);
    const uint row = packed / extent.x;
    return Node(uvec2(packed % extent.x, row % extent.y), row / extent.y);
}

uint pack_node(Node node, uint level) {
    const uvec2 extent = extent_of(level);
    return (node.layer * extent.y + node.position.y) * extent.x + node.position.x;
}

// Nodes that the pass starts from, and the one at `index`.
uint input_count() {
    return (parameters.pass_flags & PASS_FIRST) != 0 ? parameters.layers
                                                     : state.passes[parameters.pass].node_count;
}

Node input_node(uint index) {
    // A root is node 0 of its layer, so its index packs it.
    const bool first = (parameters.pass_flags & PASS_FIRST) != 0;
    return unpack_node(first ? index : nodes[parameters.input_offset + index],
                       parameters.upper_level);
}

uint importance_key(uint level, Node node) {
    if (level == 0) {
        const float texel = texelFetch(map, ivec3(node.position, node.layer), 0).r;
        return settle_key(texel_key(texel, parameters.unorm_bits));
    }
    const float importance =
        read_pyramid(pyramid_index(parameters.width, parameters.height, level, node.position.x,
                                   node.position.y, node.layer));
    return key_from_bits(floatBitsToUint(importance));
}

#if USER_THRESHOLD
// For the user's text, which defines threshold(). Its parameters take the place of thresholds by level.
uvec2 map_extent() { return uvec2(parameters.width, parameters.height); }
uint map_layers() { return parameters.layers; }
float threshold_parameter(uint index) { return parameters.thresholds[index]; }
#include "user_threshold.glsl"
#endif

// Returns the key that the importance of a node inside the map is compared with. The level is the same in all threads
// of a turn: it indexes push constants. Thresholds of the caller's may be NaN or denormal; they count as importances do.
uint threshold_key(uint level, Node node) {
#if USER_THRESHOLD
    return settle_key(key_from_bits(floatBitsToUint(threshold(level, node.position, node.layer))));
#else
    if (!THRESHOLDS_BY_NODE) {
        return key_from_bits(floatBitsToUint(parameters.thresholds[level]));
    }
    const uint place =
        threshold_map_index(parameters.width, parameters.height, parameters.layers, level,
                            node.position.x, node.position.y, node.layer);
    return settle_key(key_from_bits(floatBitsToUint(node_thresholds[place])));
#endif
}

// Places wanted in this workgroup, and the first of them in the list.
shared uint wanted_places;
shared uint first_place;

// Call it first.
void begin_pass() {
    if (gl_LocalInvocationIndex == 0) {
        wanted_places = 0;
    }
    barrier();
}

// A place among those that the workgroup wants, for each thread with `wanted`.
uint local_place(bool wanted) {
#if SUBGROUPS
    const uvec4 ballot = subgroupBallot(wanted);
    uint first = 0;
    if (subgroupElect()) {
        first = atomicAdd(wanted_places, subgroupBallotBitCount(ballot));
    }
    return subgroupBroadcastFirst(first) + subgroupBallotExclusiveBitCount(ballot);
#else
    return wanted ? atomicAdd(wanted_places, 1) : 0;
#endif
}

// Adds the places that are wanted in this workgroup to `counter`. `place` is the one at `local_index`, which
// local_place gives; `end` is the count after the addition, 0 if none are wanted. In uniform control flow of the
// workgroup. A macro, because a buffer's member cannot be passed to a function and added to.
#define RESERVE(counter, local_index, place, end)                                    \
    {                                                                                \
        const uint index = local_index;                                              \
        barrier();                                                                   \
        const uint count = wanted_places;                                            \
        if (gl_LocalInvocationIndex == 0 && count > 0) {                             \
            first_place = atomicAdd(counter, count, gl_ScopeDevice, 0, 0);           \
        }                                                                            \
        barrier();                                                                   \
        if (gl_LocalInvocationIndex == 0) {                                          \
            wanted_places = 0;                                                       \
        }                                                                            \
        place = first_place + index;                                                 \
        end = count > 0 ? first_place + count : 0;                                   \
        barrier();                                                                   \
    }

void put_tile(uint place, uint level, Node node, uint key, uint threshold) {
    if (place < parameters.tile_capacity) {
        const uint flags = key < threshold ? 0 : TILE_CLAMPED;
        write_tile(place, Tile(tile_position(node.position.x, node.position.y),
                               tile_node(level, flags, node.layer),
                               uintBitsToFloat(bits_from_key(key)),
                               uintBitsToFloat(bits_from_key(threshold))));
    }
}

// Call it in uniform control flow of the workgroup.
void append_tile(bool wanted, uint level, Node node, uint key, uint threshold) {
    uint place;
    uint end;
    RESERVE(state.tile_count, local_place(wanted), place, end)
    if (wanted) {
        put_tile(place, level, node, key, threshold);
    }
}

// Adds to the next pass's list. Call it in uniform control flow of the workgroup. Returns the length
// of the list after the workgroup's additions, 0 where it made none.
uint append_node(bool wanted, uint level, Node node) {
    uint place;
    uint end;
    RESERVE(state.passes[parameters.pass + 1].node_count, local_place(wanted), place, end)
    if (wanted) {
        nodes[parameters.output_offset + place] = pack_node(node, level);
    }
    return end;
}

// The up to four texels of a split node of level 1: tiles in any case. Call it in uniform control flow of the workgroup.
void append_children(bool wanted, Node parent) {
    const uvec2 first = 2 * parent.position;
    const uvec2 count = wanted ? min(extent_of(0) - first, uvec2(2)) : uvec2(0);
    uint local[4];
    for (uint child = 0; child < 4; ++child) {
        local[child] = local_place(all(lessThan(uvec2(child & 1, child >> 1), count)));
    }
    uint place;  // of the workgroup's first
    uint end;
    RESERVE(state.tile_count, 0, place, end)
    for (uint child = 0; child < 4; ++child) {
        const uvec2 local_position = uvec2(child & 1, child >> 1);
        if (all(lessThan(local_position, count))) {
            const Node texel = Node(first + local_position, parent.layer);
            put_tile(place + local[child], 0, texel, importance_key(0, texel),
                     threshold_key(0, texel));
        }
    }
}

// Ends a pass. In the last one, the last workgroup completes the header and puts the state back to
// zero. Every workgroup of the pass must come here, with all its threads.
//
// Memory order: the hand-over of hand_over.glsl; its results are the additions to tile_count.
void finish_pass() {
    if ((parameters.pass_flags & PASS_LAST) == 0) {
        return;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease);
    if (gl_LocalInvocationIndex != 0) {
        return;
    }
    if (ARRIVE(state.finished_workgroups) + 1 != gl_NumWorkGroups.x * gl_NumWorkGroups.y) {
        return;
    }
    acquire_arrivals();
    const uint required = atomicExchange(state.tile_count, 0, gl_ScopeDevice, 0, 0);
    header = tile_list_header(required, 0, parameters.tile_capacity, parameters.max_workgroup_count,
                              1.0);
    state.finished_workgroups = 0;
    for (uint pass = 0; pass <= parameters.pass; ++pass) {
        state.passes[pass] = SubdivisionPass(0, 0, 0, 0);
    }
}
