// What kernels that read blocks of 64 x 64 texels share: the groups in which they hand nodes over, and NaN texels.

// Nodes (texels) of a level that are handed over to one workgroup. Their words in the state buffer: two counters per
// group; the nodes of the level row by row; the slots (hand_over.glsl) group by group.
struct Group {
    uint level;   // of the nodes
    uint levels;  // levels that are made from the nodes
    uvec2 index;
    uint counter;  // word of the number of arrived nodes
    uint second;   // word of the number of tiles below the group, in fused kernels
    uint nodes;    // first word of the level's nodes
    uint slots;    // first word
    uint end;      // first word of the next hand-over
};

// Returns the group of a node, in a hand-over whose words begin at `counters` and which has so many per node and slot.
// ONE_GROUP: all nodes are one group, from which GROUP_LEVELS are made.
Group group_of(uint level, uvec2 node, uint counters, uint node_words, uint slot_words) {
    uint levels = GROUP_LEVELS;
    uvec2 groups = uvec2(1);
    uvec2 index = uvec2(0);
    if (!ONE_GROUP) {
        levels = step_levels(level, parameters.top_level);
        groups = blocks_of(level, levels);
        index = block_of(node, levels, groups);
    }
    const uint place = index.y * groups.x + index.x;
    const uint count = groups.x * groups.y;
    const uint nodes = counters + 2 * count;
    const uint slots = nodes + node_words * extent_of(level).x * extent_of(level).y;
    const uint group_words = slot_words * slots_of_group(levels);
    return Group(level, levels, index, counters + place, counters + count + place, nodes, slots + place * group_words,
                 slots + count * group_words);
}

// Whether each hand-over is a dispatch of its own: a workgroup for each group, which is counted in by the barrier between
// dispatches. parameters.handovers is the number of hand-overs before this dispatch.
layout(constant_id = 29) const bool BY_STEPS = false;

bool starts_from_group() { return BY_STEPS && parameters.handovers > 0; }

// Returns the group that the workgroup starts from. `level`: of the first hand-over; the others as for group_of.
Group group_of_workgroup(uint level, uint counters, uint node_words, uint slot_words) {
    Group group = group_of(level, uvec2(0), counters, node_words, slot_words);
    if (parameters.handovers > 1) {  // MAX_HANDOVERS = 2
        level += group.levels;
        counters = group.end;
        group = group_of(level, uvec2(0), counters, node_words, slot_words);
    }
    return group_of(level, gl_WorkGroupID.xy << group.levels, counters, node_words, slot_words);
}

#if COUNTS_NAN
// Number of NaN texels in a block, of which each thread has read four quads, one in each quarter.

shared uint nan_texels;  // 0 before

// Returns whether a node may hold NaN texels, which count as infinity.
bool may_hold_nan(float importance) { return importance == uintBitsToFloat(INFINITY_BITS); }

// Counts the NaN texels inside the map of a thread that has met one, from its first quad. It reads its texels again.
void count_nan(uvec2 first_quad) {
    uint count = 0;
    // Not a constant, so that drivers do not unroll the loop: code costs time even if it is not run.
    const uint step = 1 + (parameters.layers >> 31);
    [[dont_unroll]] for (uint i = 0; i < 16; i += step) {
        const uvec2 quad = first_quad + 16 * uvec2(i >> 2 & 1, i >> 3);
        const uvec2 texel = 2 * quad + uvec2(i & 1, i >> 1 & 1);
        if (all(lessThan(texel, extent_of(0)))) {
            count += uint(counts_as_nan(key_of(texel_at(texel))));
        }
    }
    atomicAdd(nan_texels, count);
}
#endif
