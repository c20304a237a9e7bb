// What becomes of each tile, for all workgroups of allocate.comp. They hand over what they write (hand_over.glsl).

void occupy(uint cell, uint slot_class) {
    const uint cells = shadow_slot_cells(slot_class);
    if (cells < 32) {
        atomicOr(work[cell / 32], ((1U << cells) - 1) << (cell % 32));
    } else {
        for (uint word = 0; word < cells / 32; ++word) {
            HAND_OVER(work[cell / 32 + word], 0xffffffffU);
        }
    }
}

shared uint changed_lights;  // a bit for each

void compare_lights() {
    for (uint i = gl_LocalInvocationIndex; i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
        if (clip_has_changed(i / 16, i % 16)) {
            atomicOr(changed_lights, 1U << (i / 16));
        }
    }
}

// Tells whether something has changed in what a slot shows.
bool is_touched(uint level, uvec2 node, uint light, uint slot_class) {
    const int gutter = int(shadow_gutter_map_texels(parameters, level, slot_class));
    const ivec2 first = ivec2(node << level) - gutter;
    const ivec2 end = ivec2((node + 1) << level) + gutter;
    bool touched = false;
    for (uint i = 0; i < frame.rectangle_count; ++i) {
        const ShadowRectangle rectangle = frame.rectangles[i];
        const ivec2 low = ivec2(rectangle.x, rectangle.y);
        const ivec2 high = ivec2(rectangle.end_x, rectangle.end_y);
        touched = touched || (rectangle.light == light && all(lessThan(low, high)) &&
                              all(lessThan(low, end)) && all(lessThan(first, high)));
    }
    return touched;
}

// Every so many-th key of the tiles of the last frame and of the list: a search begins in them.
shared uint last_keys[SCAN_THREADS];
shared uint list_keys[SCAN_THREADS];

uint key_step(uint count) { return (count + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x; }

void load_keys() {
    const uint thread = gl_LocalInvocationIndex;
    const uint last_place = thread * key_step(header.tiles);
    const uint list_place = thread * key_step(list_header.written);
    last_keys[thread] = last_place < header.tiles
                            ? shadow_key(tiles[last_place].position, tiles[last_place].node)
                            : 0xffffffffU;
    list_keys[thread] = list_place < list_header.written
                            ? shadow_key(list_tiles[list_place].position, list_tiles[list_place].node)
                            : 0xffffffffU;
}

// The last of `count` tiles, whose keys ascend, with this key or less; the first where there is none.
#define FIND_KEY(keys, tiles, count, key)                                                          \
    uint low = 0;                                                                                  \
    uint high = gl_WorkGroupSize.x;                                                                \
    for (uint step = 0; step < SCAN_LEVELS; ++step) {                                              \
        const uint middle = (low + high) / 2;                                                      \
        const bool is_behind = keys[middle] > key;                                                 \
        low = is_behind ? low : middle;                                                            \
        high = is_behind ? middle : high;                                                          \
    }                                                                                              \
    low *= key_step(count);                                                                        \
    high = min(low + key_step(count), count);                                                      \
    while (high - low > 1) {                                                                       \
        const uint middle = (low + high) / 2;                                                      \
        const bool is_behind = shadow_key(tiles[middle].position, tiles[middle].node) > key;       \
        low = is_behind ? low : middle;                                                            \
        high = is_behind ? middle : high;                                                          \
    }

bool is_same_node(uint position, uint node, uint other_position, uint other_node) {
    const uint flags = 0xff00U;
    return position == other_position && (node & ~flags) == (other_node & ~flags);
}

// The place of a node among the tiles of the last frame, or SHADOW_NONE.
uint find_last(Tile tile) {
    const uint key = shadow_key(tile.position, tile.node);
    FIND_KEY(last_keys, tiles, header.tiles, key)
    const bool found = header.tiles > 0 && is_same_node(tiles[low].position, tiles[low].node,
                                                        tile.position, tile.node);
    return found ? low : SHADOW_NONE;
}

bool is_gone(ShadowTile tile) {
    const uint key = shadow_key(tile.position, tile.node);
    FIND_KEY(list_keys, list_tiles, list_header.written, key)
    return !is_same_node(list_tiles[low].position, list_tiles[low].node, tile.position, tile.node);
}

void classify(uint index) {
    const Tile tile = list_tiles[index];
    const uint level = tile_level(tile);
    const uvec2 node = uvec2(tile_x(tile), tile_y(tile));
    const uint light = tile_layer(tile);
    const uint last = find_last(tile);
    const bool kept = last != SHADOW_NONE;
    uint last_class = 0;
    uint last_slot = 0;
    if (kept) {
        last_class = tiles[last].state & 0xffU;
        last_slot = tiles[last].slot;
    }
    const uint slot_class =
        shadow_class(parameters, level, tile.importance, last_class, header.factor_index);
    const bool render = (changed_lights >> light & 1U) != 0 || is_touched(level, node, light, slot_class);
    HAND_OVER(work[classified_word(index)],
              slot_class | (kept ? CLASSIFIED_KEPT : 0) | (render ? CLASSIFIED_RENDER : 0));
    uint cell = SHADOW_NONE;
    if (kept && slot_class == last_class) {
        cell = shadow_cell_of_slot(parameters.tile_extent, last_slot);
        occupy(cell, slot_class);
    }
    HAND_OVER(work[cell_word(index)], cell);
}

// Notes whether a tile of the last frame is none any more.
void classify_last(uint index) {
    HAND_OVER(work[removed_word(index)], is_gone(tiles[index]) ? 1U : 0U);
}
