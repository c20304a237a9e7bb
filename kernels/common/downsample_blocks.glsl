// How a workgroup reduces a block whose edges need no care: each level halves evenly, or what is missing changes
// nothing.

// Place in the state of a texel of the level that is handed over; see kernel_parameters.h.
uint handed_over(uint texels, uint width, uvec2 position) {
    return texels + CHANNELS * (position.y * width + position.x);
}

ITEM load_item(uint place) {
    ITEM item;
    [[unroll]]
    for (uint i = 0; i < CHANNELS; ++i) {
        set_word(item, i, HANDED_OVER(state[place + i]));
    }
    return item;
}

// A block: of texels of `level`, the base level, or a level whose texels were handed over and lie from `texels` on in
// the state.
struct Block {
    uint level;
    uint levels;  // that are made of it: its sides have 2^levels texels
    uvec2 index;
    uvec2 extent;  // texels of the level in the block: fewer, or more, at the edges
    uint texels;
};

// Returns a block of the base level.
Block block_at(uvec2 index) {
    const uint level = parameters.base_level;
    return Block(level, BLOCK_LEVELS, index, extent_of_block(level, BLOCK_LEVELS, index), 0);
}

uvec2 first_texel(Block block) { return block.index << block.levels; }

// Nodes of five levels of a block: 16 x 16, 8 x 8, 4 x 4, 2 x 2 and 1, each level row by row.
shared ITEM nodes[256 + 64 + 16 + 4 + 1];

// Where a level begins in nodes: 0 is that of 16 x 16.
uint nodes_start(uint step) { return (1024 - (1024 >> 2 * step)) / 3; }

// Keeps a node of a block in nodes (`step` is its level there) and stores it; it is `levels` above the block's
// texels.
void make_node(Block block, uint step, uint levels, uvec2 local, ITEM item) {
    nodes[nodes_start(step) + (local.y << (4 - step)) + local.x] = item;
    if ((WHOLE_BLOCKS && block.level == parameters.base_level) ||
        (levels <= min(block.levels, parameters.top_level - block.level) &&
         all(lessThan(local << levels, block.extent)))) {
        put(block.level + levels, (first_texel(block) >> levels) + local, item);
    }
}

// Makes the nodes of a level, `levels` above the block's texels, of those of the level below; returns the last that
// the thread made.
ITEM reduce_level(Block block, uint step, uint levels, uint thread) {
    crew_barrier();
    const uint width = 16 >> step;
    const uint below = nodes_start(step - 1);
    ITEM item;
    for (uint start = 0; start < width * width; start += CREW_SIZE) {
        const uint node = start + thread;
        if (node < width * width) {
            const uvec2 local = uvec2(node & (width - 1), node >> (4 - step));
            const uint child = below + 4 * width * local.y + 2 * local.x;
            item = reduce_four(nodes[child], nodes[child + 1], nodes[child + 2 * width],
                               nodes[child + 2 * width + 1]);
            make_node(block, step, levels, local, item);
        }
    }
    return item;
}

// Makes the levels above 8 x 8 nodes, which are `levels` above the block's texels; the last is returned to thread 0.
ITEM reduce_nodes(Block block, uint levels, uint thread) {
    reduce_level(block, 2, levels + 1, thread);
    reduce_level(block, 3, levels + 2, thread);
    return reduce_level(block, 4, levels + 3, thread);
}

// A texel of a group; no branch, so that many loads get under way at once.
ITEM load_inside(Block block, uint width, uvec2 local) {
    const bool inside = all(lessThan(local, block.extent));
    const uint place = handed_over(block.texels, width, first_texel(block) + local);
    const ITEM item = load_item(inside ? place : block.texels);
    return inside ? item : nothing();
}

// A group's texels, or the level above them if they are more than 16 x 16, in nodes.
void load_group(Block block, uint thread) {
    const uint width = extent_of(block.level).x;
    const uint share = 256 / CREW_SIZE;  // of a column, for each thread: 8 at most
    const uvec2 first = uvec2(thread & 15, (thread >> 4) * share);
    for (uint n = 0; n < share; ++n) {
        const uvec2 local = first + uvec2(0, n);
        if (WIDE_GROUPS && block.levels > 4) {
            const ITEM item = reduce_four(load_inside(block, width, 2 * local),
                                          load_inside(block, width, 2 * local + uvec2(1, 0)),
                                          load_inside(block, width, 2 * local + uvec2(0, 1)),
                                          load_inside(block, width, 2 * local + uvec2(1, 1)));
            make_node(block, 0, 1, local, item);
        } else {
            nodes[16 * local.y + local.x] = load_inside(block, width, local);
        }
    }
}

// Each thread has four quads of a block, one in each quarter, where all have the same place: along the Z-order curve,
// so that loads and stores of a subgroup are of compact patches, as images are laid out.
uvec2 place_in_quarter(uint thread) {
    return uvec2((thread & 1) | ((thread >> 1) & 2) | ((thread >> 2) & 4) | ((thread >> 3) & 8),
                 ((thread >> 1) & 1) | ((thread >> 2) & 2) | ((thread >> 3) & 4) | ((thread >> 4) & 8));
}
uvec2 quarter(uint i) { return uvec2(i & 1, i >> 1); }

// Makes and stores the first levels of a block of the base level, and leaves the last of them in nodes. All loads are
// under way before the first is used.
void reduce_base(Block block, uint thread) {
    const uvec2 place = place_in_quarter(thread);
    const uvec2 first = 32 * block.index + place;
    const bool copies_tables =
        SOURCE_ENCODING == ENCODING_SRGB8 || TARGET_ENCODING == ENCODING_SRGB8;
    Quad quads[4];
    if (copies_tables && !FILTERED) {  // all its texels are too many registers to hold meanwhile
        copy_srgb_tables(thread, WORKGROUP_SIZE);
    }
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        quads[i] = read_quad(first + 16 * quarter(i));
    }
    if (copies_tables && FILTERED) {
        copy_srgb_tables(thread, WORKGROUP_SIZE);
    }
    if (WEIGHS) {
        make_edge_weights(thread);
    }
    ITEM items[4];
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uvec2 position = first + 16 * quarter(i);
        items[i] = reduce_quad(quads[i], position);
        if (WHOLE_BLOCKS || is_made(block.level + 1, position)) {
            put(block.level + 1, position, items[i]);
        }
    }
    note_quads(first, thread);
    ITEM item = reduce_neighbours(items, thread);
    const uvec2 local = 8 * quarter(thread & 3) + place / 2;
    const uvec2 position = 16 * block.index + local;
    if (WHOLE_BLOCKS || is_made(block.level + 2, position)) {
        put(block.level + 2, position, item);
    }
    if (has_sixteen()) {
        item = reduce_sixteen(item);
        if ((thread & 12) == 0) {
            make_node(block, 1, 3, local / 2, item);
        }
        return;
    }
    nodes[16 * local.y + local.x] = item;
}
