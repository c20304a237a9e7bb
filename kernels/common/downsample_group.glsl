// Nodes (texels) of a level that are handed over to one workgroup. Their words in the downsampler's state buffer: for
// each group a counter, for each group the number of arrivals to expect if blocks run from a list, then the nodes.
struct Group {
    uint level;   // of the nodes
    uint levels;  // that are made of the nodes
    uvec2 index;
    uint counter;   // word of the nodes that have arrived
    uint expected;  // word of the arrivals to expect
    uint nodes;     // first word of the level's nodes
};

// Returns a group of a level that has so many groups, in a hand-over whose words begin at `counters`.
Group make_group(uint level, uint levels, uvec2 index, uvec2 groups, uint counters) {
    const uint counter = counters + index.y * groups.x + index.x;
    return Group(level, levels, index, counter, counter + groups.x * groups.y,
                 counters + 2 * groups.x * groups.y);
}

// Returns the first word of the next hand-over. `extent`: of the level, in nodes.
uint next_counters(Group group, uvec2 extent, uint node_words) {
    return group.nodes + node_words * extent.x * extent.y;
}
