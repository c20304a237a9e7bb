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
