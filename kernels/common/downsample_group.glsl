// Nodes (texels) of a level that are handed over to one workgroup. Their words in the downsampler's state buffer: for
// each group a counter, for each group the number of arrivals to expect if blocks run from a list, then the nodes of the
// level row by row, then for each group its slots.
struct Group {
    uint level;   // of the nodes
    uint levels;  // that are made of the nodes
    uvec2 index;
    uint counter;   // word of the nodes that have arrived
    uint expected;  // word of the arrivals to expect
    uint nodes;     // first word of the level's nodes
    uint slots;     // first word
};

// Returns a group of a level that has so many groups, in a hand-over whose words begin at `counters`.
// `extent`: of the level, in nodes.
Group make_group(uint level, uint levels, uvec2 index, uvec2 groups, uvec2 extent, uint counters,
                 uint node_words) {
    const uint place = index.y * groups.x + index.x;
    const uint count = groups.x * groups.y;
    const uint nodes = counters + 2 * count;
    return Group(level, levels, index, counters + place, counters + count + place, nodes,
                 nodes + node_words * (extent.x * extent.y + place * slots_of_group(levels)));
}
