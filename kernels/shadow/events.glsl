// Events of the nodes that a workgroup counts, for count.comp and choose.comp: under which factors a node is split, is
// a tile, and has which class (docs/shadows_definition.md, steps 3 and 4; the bins are those of budget.h). Many nodes
// have the same events, and atomics on one word of memory wait for each other. So they are summed in shared memory first:
// per factor the cells in the lower 20 bits, and tiles << 20, both signed. Between two flushes there are less than 2^19
// cells and 2^11 tiles.

const uint CELL_BITS = 20;
shared uint events_here[BUDGET_FACTORS];

void clear_events() {
    for (uint i = 0; i < BUDGET_FACTORS; i += gl_WorkGroupSize.x) {
        if (i + gl_LocalInvocationIndex < BUDGET_FACTORS) {
            events_here[i + gl_LocalInvocationIndex] = 0;
        }
    }
}

void add(uint factor, uint more_tiles, uint more_cells) {
    if (factor < BUDGET_FACTORS) {
        atomicAdd(events_here[factor], (more_tiles << CELL_BITS) + more_cells);
    }
}

// Returns the workgroup's differences at a factor, of tiles and of cells.
uvec2 event_here(uint factor) {
    const int more = int(events_here[factor]);
    const int cells = bitfieldExtract(more, 0, int(CELL_BITS));
    return uvec2((more - cells) >> CELL_BITS, cells);
}

// Adds the events to those of all workgroups, and clears them.
void flush_events() {
    for (uint i = 0; i < BUDGET_FACTORS; i += gl_WorkGroupSize.x) {
        const uint factor = i + gl_LocalInvocationIndex;
        if (factor < BUDGET_FACTORS && events_here[factor] != 0) {
            const uvec2 more = event_here(factor);
            atomicAdd(words[places.events + factor], more.x);
            atomicAdd(words[places.events + BUDGET_FACTORS + factor], more.y);
            events_here[factor] = 0;
        }
    }
}

// Returns the class of the last frame's tile if it was this node, else 0. It always loads, so that loads do not wait
// for each other. `page`: of the node's first texel.
uint last_class_of(uint page, uint level) {
    const bool was_tile = shadow_page_level(page) == level;
    const uint state = words[places.tiles + SHADOW_TILE_WORDS * (was_tile ? shadow_page_tile(page) : 0) + 3];
    return was_tile ? state & 0xffU : 0;
}

// Adds the events of the classes of a node that is a tile with the factors from `first` to below `end`. Returns its
// cells with the first one.
uint count_classes(uint level, float importance, uint last_class, uint first, uint end) {
    uint cells = 1;
    for (uint c = 1; c < SHADOW_CLASSES; ++c) {
        const float threshold = shadow_threshold(parameters, level, c - 1, last_class >= c);
        const uint class_end = min(budget_bin(importance, threshold), end);
        if (class_end > first) {
            const uint more = shadow_slot_cells(c) - shadow_slot_cells(c - 1);
            cells += more;
            add(class_end, 0, 0U - more);
        }
    }
    return cells;
}

void count_tile(uint level, float importance, uint last_class, uint first, uint end) {
    if (first < end) {
        const uint cells = count_classes(level, importance, last_class, first, end);
        add(first, 1, cells);
        add(end, 0U - 1U, 0U - 1U);
    }
}

// Returns the number of factors with which a node of level 1 or above is split. `page`: of its first texel.
uint split_end(uint level, float importance, uint page) {
    return budget_bin(importance, shadow_threshold(parameters, level, SHADOW_CLASSES - 1, shadow_page_level(page) < level));
}
