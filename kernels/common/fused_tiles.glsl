// Search for the tiles of a block, and the header of the list.

// Tiles that begin in a thread's texels: bits of texels (0-15) and of nodes of step 1 (16-19), or a larger one's step.
const uint QUAD_TILES_SHIFT = 16;
const uint TILE_STEP_SHIFT = 20;

uint tile_count(uint tiles) { return tiles >= 1U << TILE_STEP_SHIFT ? 1 : bitCount(tiles); }

// Returns whether a thread's texels lie in the block and the map.
bool has_texels(Block block, uint thread) {
    return block.steps < 2 || (is_in_block(block, thread) && exists(block.base + 2, position_of(block, thread)));
}

// Returns the tile of a step from 2 on if it begins in the thread's texels.
uint larger_tile(uint step, uint thread) { return begins(step, thread) ? step << TILE_STEP_SHIFT : 0; }

// Returns the tiles below a thread's split node of step 2. `split`: bits of its split nodes of step 1.
uint smaller_tiles(Block block, uint thread, uint split) {
    const uvec2 position = position_of(block, thread);
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

// Returns the tiles that begin in a thread's texels, if nodes are split by their own importance. `importance`: of the
// larger tile.
uint tiles_of(Block block, uint thread, float nodes[7], out float importance) {
    const uvec2 position = position_of(block, thread);
    // The highest step whose node is not split. Its parent is split, or it is the root. (Other blocks have no tiles.)
    uint unsplit = 1;
    importance = 0.0;
    [[unroll]] for (uint step = 2; step <= 6; ++step) {
        if (step <= block.steps && !is_split(block.base + step, position >> (step - 2), nodes[step])) {
            unsplit = step;
            importance = nodes[step];
        }
    }
    if (!has_texels(block, thread)) {
        return 0;
    }
    if (unsplit >= 2) {
        return larger_tile(unsplit, thread);
    }
    uint split = 0;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        split |= uint(is_split(block.base + 1, 2 * position + morton(i), step_1[4 * thread + i])) << i;
    }
    return smaller_tiles(block, thread, split);
}

// Does the same from the nodes of step 1. All threads call this after keep_step_1.
uint find_tiles(Block block, uint thread, out float importance) {
    float nodes[7];
    find_nodes(thread, nodes);
    return tiles_of(block, thread, nodes, importance);
}

// ---- The header, and places of layers -----------------------------------------------------------------------

// Completes the header. `flags`: of the kernel's kind of lists.
void finish_list(uint required, uint flags) {
    const uint factor = WITH_BUDGET ? words[budget_words() + BUDGET_FACTOR_WORD] : 0;
    TileListHeader made = tile_list_header(required, parameters.tile_capacity, parameters.max_workgroup_count,
                                           budget_factor(factor));
    made.flags |= flags;
    made.flags |= WITH_BUDGET && required > parameters.max_tiles ? TILE_LIST_OVER_BUDGET : 0;
    header = made;
}

// In canonical order, gives each layer its first place and completes the list after the last layer. `tiles`: of this
// one. All threads of the workgroup that finishes a layer call this.
void finish_layers(uint tiles, uint flags, uint thread) {
    if (thread == 0) {
        HAND_OVER(words[layer_words() + LAYER_TILES_WORD], tiles);
        goes_on = is_last_layer();
    }
    order_threads();
    if (goes_on) {
        uint first = 0;
        for (uint start = 0; start < parameters.layers; start += WORKGROUP_SIZE) {
            const uint word = parameters.layers + (start + thread) * parameters.state_words_per_layer;
            const bool is_there = start + thread < parameters.layers;
            const uint required = is_there ? HANDED_OVER(words[word + LAYER_TILES_WORD]) : 0;
            uint total;
            const uint place = first + scan(required, thread, total);
            if (is_there) {
                words[word + LAYER_PLACE_WORD] = place;
            }
            first += total;
            barrier();
        }
        if (thread == 0) {
            finish_list(first, flags);
        }
    }
}
