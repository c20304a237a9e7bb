// What the kernels of the subdivision share: their resources, and the appending of tiles and nodes.
//
// Bindings, set 0:
//   0    map      sampler2DArray: level 0
//   1    state    counters and arguments of the passes, then the node lists
//   2-5  pyramid  the levels from 1 on (quadtree.h), in chunks (pyramid_chunks.glsl)
//   6-9  tiles    the tile list, seen from the places of its chunks of 2^TILE_CHUNK_SHIFT tiles:
//                 a descriptor may reach less far than the list. Each view begins as many bytes
//                 before its chunk as the header has; only the first view's is the header.
//
// Appending: one atomic addition for a subgroup (or for a thread, without subgroup operations)
// reserves places; a place beyond the capacity is counted and not written.

layout(local_size_x = 64) in;

layout(constant_id = 2) const uint TILE_CHUNK_SHIFT = 23;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, std430) nonprivate buffer State {
    SubdivisionState state;
    uint nodes[];
};
layout(set = 0, binding = 6, std430) writeonly buffer Tiles0 {
    TileListHeader header;
    Tile tiles_0[];
};
layout(set = 0, binding = 7, std430) writeonly buffer Tiles1 {
    TileListHeader before_1;
    Tile tiles_1[];
};
layout(set = 0, binding = 8, std430) writeonly buffer Tiles2 {
    TileListHeader before_2;
    Tile tiles_2[];
};
layout(set = 0, binding = 9, std430) writeonly buffer Tiles3 {
    TileListHeader before_3;
    Tile tiles_3[];
};
#define PYRAMID_BINDING 2
#include "pyramid_chunks.glsl"
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

uint threshold_key(uint level) {
    return key_from_bits(floatBitsToUint(parameters.thresholds[level]));
}

// Adds 1 to `counter` for each thread with `wanted` and gives each its place. Call it in uniform
// control flow of the subgroup. `end` is the count after the subgroup's additions.
#if SUBGROUPS
#define RESERVE(counter, wanted, place, end)                                        \
    {                                                                               \
        const uvec4 reserving = subgroupBallot(wanted);                             \
        const uint reserved = subgroupBallotBitCount(reserving);                    \
        uint first = 0;                                                             \
        if (reserved > 0 && subgroupElect()) {                                      \
            first = atomicAdd(counter, reserved, gl_ScopeDevice, 0, 0);             \
        }                                                                           \
        first = subgroupBroadcastFirst(first);                                      \
        place = first + subgroupBallotExclusiveBitCount(reserving);                 \
        end = first + reserved;                                                     \
    }
#else
#define RESERVE(counter, wanted, place, end)                                        \
    {                                                                               \
        place = 0;                                                                  \
        if (wanted) {                                                               \
            place = atomicAdd(counter, 1, gl_ScopeDevice, 0, 0);                    \
        }                                                                           \
        end = place + 1;                                                            \
    }
#endif

// One thread of those of the subgroup that come here.
bool elected() {
#if SUBGROUPS
    return subgroupElect();
#else
    return true;
#endif
}

void write_tile(uint place, Tile tile) {
    const uint chunk = place >> TILE_CHUNK_SHIFT;
    const uint index = place & ((1U << TILE_CHUNK_SHIFT) - 1);
    switch (chunk) {
        case 0:
            tiles_0[index] = tile;
            break;
        case 1:
            tiles_1[index] = tile;
            break;
        case 2:
            tiles_2[index] = tile;
            break;
        default:
            tiles_3[index] = tile;
            break;
    }
}

// Call it in uniform control flow of the subgroup.
void append_tile(bool wanted, uint level, Node node, uint key) {
    uint place;
    uint end;
    RESERVE(state.tile_count, wanted, place, end)
    if (wanted && place < parameters.tile_capacity) {
        const uint flags = key < threshold_key(level) ? 0 : TILE_CLAMPED;
        write_tile(place, Tile(tile_position(node.position.x, node.position.y),
                               tile_node(level, flags, node.layer),
                               uintBitsToFloat(bits_from_key(key)), parameters.thresholds[level]));
    }
}

// Reserves a place in the next pass's list. Call it in uniform control flow of the subgroup.
// Returns the length of the list after the additions of this subgroup (or thread).
uint append_node(bool wanted, uint level, Node node) {
    uint place;
    uint end;
    RESERVE(state.passes[parameters.pass + 1].node_count, wanted, place, end)
    if (wanted) {
        nodes[parameters.output_offset + place] = pack_node(node, level);
    }
    return end;
}

// The four texels of a split node of level 1: tiles in any case.
void append_children(bool wanted, Node parent) {
    for (uint child = 0; child < 4; ++child) {
        const Node texel =
            Node(2 * parent.position + uvec2(child & 1, child >> 1), parent.layer);
        const bool inside = wanted && all(lessThan(texel.position, extent_of(0)));
        append_tile(inside, 0, texel, inside ? importance_key(0, texel) : 0);
    }
}

// Ends a pass. In the last one, the last workgroup completes the header and puts the state back to
// zero. Every workgroup of the pass must come here, with all its threads.
//
// Memory order: a workgroup's additions to tile_count come before its barrier, that before its
// addition to finished_workgroups, a release; the last workgroup's addition is the acquire.
void finish_pass() {
    if ((parameters.pass_flags & PASS_LAST) == 0) {
        return;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease);
    if (gl_LocalInvocationIndex != 0) {
        return;
    }
    const uint finished = atomicAdd(
        state.finished_workgroups, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
        gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    if (finished + 1 != gl_NumWorkGroups.x * gl_NumWorkGroups.y) {
        return;
    }
    const uint required = atomicExchange(state.tile_count, 0, gl_ScopeDevice, 0, 0);
    const uint written = min(required, parameters.tile_capacity);
    header.written = written;
    header.required = required;
    header.flags = required > written ? TILE_LIST_OVERFLOW : 0;
    header.capacity = parameters.tile_capacity;
    header.dispatch_x = folded_x(written, parameters.max_workgroup_count);
    header.dispatch_y = folded_y(written, parameters.max_workgroup_count);
    header.dispatch_z = 1;
    header.draw_vertex_count = 4;
    header.draw_instance_count = written;
    header.draw_first_vertex = 0;
    header.draw_first_instance = 0;
    state.finished_workgroups = 0;
    for (uint pass = 0; pass <= parameters.pass; ++pass) {
        state.passes[pass] = SubdivisionPass(0, 0, 0, 0);
    }
}
