// Nodes (texels) of a level that are handed over to one workgroup. Their words in the state buffer: two counters per
// group; the nodes of the level row by row; the slots (messages.glsl) group by group.
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

// The fused kernels round up. With a choice by EDGE_RULE, SwiftShader compiles them in more than twice the time.
#ifdef PASS
uvec2 extent_of(uint level) {
    return uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
}
uvec2 blocks_of(uint level, uint levels) { return extent_of(level + levels); }
uvec2 block_of(uvec2 texel, uint levels, uvec2 blocks) { return texel >> levels; }
#else
uvec2 extent_of(uint level) {
    return uvec2(mip_extent(parameters.width, level, EDGE_RULE), mip_extent(parameters.height, level, EDGE_RULE));
}

uvec2 blocks_of(uint level, uint levels) {
    return uvec2(blocks_along(parameters.width, level, levels, EDGE_RULE),
                 blocks_along(parameters.height, level, levels, EDGE_RULE));
}

// Returns the block, of so many, that a texel lies in.
uvec2 block_of(uvec2 texel, uint levels, uvec2 blocks) {
    return EDGE_RULE == EDGE_FOLD ? min(texel >> levels, blocks - 1) : texel >> levels;
}
#endif

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
