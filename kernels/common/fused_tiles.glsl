// Search for the tiles of a block, their output to the list, and its header.

// Tiles that begin in a thread's texels: bits of texels (0-15) and of nodes of step 1 (16-19), or a larger one's step.
const uint QUAD_TILES_SHIFT = 16;
const uint TILE_STEP_SHIFT = 20;

uint tile_count(uint tiles) { return tiles >= 1U << TILE_STEP_SHIFT ? 1 : bitCount(tiles); }

// Whether a node of a step is split; balance_tiles.comp has its own.
#ifndef IS_SPLIT
#define IS_SPLIT(block, step, position, importance) is_split(block.base + step, position, importance)
#endif

// Returns the tiles that begin in a thread's texels. `importance`: of the larger tile.
uint tiles_of(Block block, uint thread, float nodes[7], out float importance) {
    const uvec2 position = position_of(block, thread);
    // The highest step whose node is not split. Its parent is split, or it is the root. (Other blocks have no tiles.)
    uint unsplit = 1;
    importance = 0.0;
    [[unroll]] for (uint step = 2; step <= 6; ++step) {
        if (step <= block.steps && !IS_SPLIT(block, step, position >> (step - 2), nodes[step])) {
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
    // The tiles below a split node of step 2.
    const bool is_texel = block.steps == 0;  // the map
    const uint quads = is_texel ? 1 : inside(2 * position, extent_of(block.base + 1));
    uint split = uint(is_texel);
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        split |= uint(IS_SPLIT(block, 1, 2 * position + morton(i), step_1[4 * thread + i])) << i;
    }
    split &= quads;
    uint tiles = (quads & ~split) << QUAD_TILES_SHIFT;
    if (block.base == 0) {
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            if ((split >> i & 1) != 0) {
                tiles |= inside(2 * (2 * position + morton(i)), extent_of(0)) << 4 * i;
            }
        }
    }
    return tiles;
}

// ---- Output of a block's tiles: each thread lays out its own in shared memory, after keep_thresholds. Then neighbouring
// threads write to neighbouring places.

shared uint thread_tiles[WORKGROUP_SIZE];
shared uint thread_places[WORKGROUP_SIZE];

void lay_out(Block block, uint thread, uint tiles, float importance, uint before) {
    thread_tiles[thread] = tiles;
    thread_places[thread] = before;
    if (tiles >> TILE_STEP_SHIFT != 0) {
        step_1[4 * thread] = importance;
    }
}

Node make_node(Block block, uint step, uvec2 position, float importance) {
    const uint level = block.base + step;
    return Node(level, position, importance, kept_threshold(level, position));
}

// Returns the last thread whose tiles begin at a place or before. No loop: LOST_THREADS (cpu_drivers.glsl).
uint owner_of(uint place) {
    uint owner = 0;
#define DESCEND(reach) owner += thread_places[owner + reach] <= place ? reach : 0;
    FOR_BITS_OF_256(DESCEND)
#undef DESCEND
    return owner;
}

// Returns the tile of a place, counted from the block's first tile.
Node tile_at(Block block, uint place) {
    const uint owner = owner_of(place);
    uint rest = place - thread_places[owner];
    const uint tiles = thread_tiles[owner];
    const uvec2 position = position_of(block, owner);
    const uint step = tiles >> TILE_STEP_SHIFT;
    if (step != 0) {
        return make_node(block, step, position >> (step - 2), step_1[4 * owner]);
    }
    // A quad and its texels are not tiles together.
    uint quad = 0;
    [[unroll]] for (uint i = 0; i < 3; ++i) {
        const uint in_quad = bitCount(tiles & (0xfU << 4 * i)) + (tiles >> (QUAD_TILES_SHIFT + i) & 1);
        if (quad == i && rest >= in_quad) {
            rest -= in_quad;
            ++quad;
        }
    }
    const uvec2 node = 2 * position + morton(quad);
    if ((tiles >> (QUAD_TILES_SHIFT + quad) & 1) != 0) {
        return make_node(block, 1, node, step_1[4 * owner + quad]);
    }
    // At the right edge of the map only the first and the third exist.
    const uint texels = tiles >> 4 * quad & 0xfU;
    const uvec2 texel = 2 * node + morton(texels == 0x5U ? 2 * rest : rest);
    return make_node(block, 0, texel, item_of(texel_at(texel)));
}

// Flags of a tile in a block; balance_tiles.comp has its own.
#ifndef SIDES_OF
#define SIDES_OF(block, tile) 0
#endif

void write_tiles(Block block, uint thread, uint total, uint first_place) {
    [[dont_unroll]] for (uint start = 0; start < total; start += WORKGROUP_SIZE) {
        const uint place = start + thread;
        if (place < total) {
            const Node tile = tile_at(block, place);
            write_node(first_place + place, parameters.tile_capacity, layer, tile, SIDES_OF(block, tile));
        }
    }
}

// Completes the header. `flags`: of the kernel's kind of lists. `may_be_lost`: false saves a load.
void finish_list(uint required, uint flags, bool may_be_lost) {
    if (may_be_lost && HANDED_OVER(state.lost) != 0) {
        header = incomplete_list();
        return;
    }
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
            finish_list(first, flags, true);
        }
    }
}
