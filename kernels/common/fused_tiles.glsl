// Search for the tiles of a block.

// Tiles that begin in a thread's texels: bits of texels (0-15) and of nodes of step 1 (16-19), or a larger one's step.
const uint QUAD_TILES_SHIFT = 16;
const uint TILE_STEP_SHIFT = 20;

uint tile_count(uint tiles) { return tiles >= 1U << TILE_STEP_SHIFT ? 1 : bitCount(tiles); }

#if PASS == PASS_TILES
// Returns whether the balanced list splits a node inside the map that begins in the thread's texels.
bool splits_node(Block block, uint step, uvec2 position, float importance);
#else
bool splits_node(Block block, uint step, uvec2 position, float importance) {
    return is_split(block.base + step, position, importance);
}
#endif

// Returns the tiles that begin in a thread's texels, among the nodes around them. `importance`: of the larger tile.
uint tiles_of(Block block, uint thread, float nodes[7], out float importance) {
    const uvec2 position = position_of(block, thread);
    // The highest step whose node is not split. Its parent is split, or it is the root. (Other blocks have no tiles.)
    uint unsplit = 1;
    importance = 0.0;
    [[unroll]] for (uint step = 2; step <= 6; ++step) {
        if (step <= block.steps && !splits_node(block, step, position >> (step - 2), nodes[step])) {
            unsplit = step;
            importance = nodes[step];
        }
    }
    if (block.steps >= 2 && !(is_in_block(block, thread) && exists(block.base + 2, position))) {
        return 0;
    }
    if (unsplit >= 2) {
        return begins(unsplit, thread) ? unsplit << TILE_STEP_SHIFT : 0;
    }
    uint split = 0;  // bits of the thread's nodes of step 1
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const float quad = step_1[4 * thread + i];
        split |= uint(splits_node(block, 1, 2 * position + morton(i), quad)) << i;
    }
    uint tiles = 0;
    if (block.steps == 0) {  // a map of one texel
        split = 0xfU;
    } else {
        const uint quads = inside(2 * position, extent_of(block.base + 1));
        tiles = (quads & ~split) << QUAD_TILES_SHIFT;
        split &= quads;
    }
    if (block.base == 0) {
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            if ((split >> i & 1) != 0) {
                tiles |= inside(2 * (2 * position + morton(i)), extent_of(0)) << 4 * i;
            }
        }
    }
    return tiles;
}

// Does the same from the nodes of step 1. All threads call this after keep_step_1.
uint find_tiles(Block block, uint thread, out float importance) {
    float nodes[7];
    find_nodes(thread, nodes);
    return tiles_of(block, thread, nodes, importance);
}
