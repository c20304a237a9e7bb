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

// The tiles of the last frame are searched for those of the list.
#define SEARCH_THREADS SCAN_THREADS
#include "find_tile.glsl"

uint searched_tiles() { return header.tiles; }
uint searched_key(uint i) { return shadow_key(tiles[i].position, tiles[i].node); }

// The place of a node among the tiles of the last frame, or SHADOW_NONE.
uint find_last(Tile tile) {
    const uint flags = 0xff00U;
    const uint place = find_tile(shadow_key(tile.position, tile.node));
    const bool found = header.tiles > 0 && tiles[place].position == tile.position &&
                       (tiles[place].node & ~flags) == (tile.node & ~flags);
    return found ? place : SHADOW_NONE;
}

void classify(uint index, uint last) {
    const Tile tile = list_tiles[index];
    const uint level = tile_level(tile);
    const uvec2 node = uvec2(tile_x(tile), tile_y(tile));
    const uint light = tile_layer(tile);
    const bool kept = last != SHADOW_NONE;
    uint last_class = 0;
    uint last_slot = 0;
    if (kept) {
        last_class = tiles[last].state & 0xffU;
        last_slot = tiles[last].slot;
        HAND_OVER(work[stays_word(last)], 1U);
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
