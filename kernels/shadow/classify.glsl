// What becomes of each tile, for list.comp. Cells and what stays are set by several workgroups, and read behind a
// barrier of the command buffer.

void occupy(uint cell, uint slot_class) {
    const uint cells = shadow_slot_cells(slot_class);
    const uint first = cells_word() + cell / 32;
    if (cells < 32) {
        atomicOr(words[first], ((1U << cells) - 1) << (cell % 32));
    } else {
        for (uint word = 0; word < cells / 32; ++word) {
            words[first + word] = 0xffffffffU;
        }
    }
}

shared uint light_has_changed;  // that of the workgroup: 1, else 0

// All threads call this between barriers; light_has_changed is 0 before.
void compare_light(uint light) {
    const uint element = gl_LocalInvocationIndex;
    if (element < 16 && floatBitsToUint(frame.lights[light].clip_from_world[element]) !=
                            words[last_light_word(light, element)]) {
        atomicOr(light_has_changed, 1);
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

// Writes down what becomes of a tile.
void write_found(uint found, uint level, uvec2 node, uint light, float importance, uint block) {
    uint page = 0;
    if (has_last_frame()) {
        page = last_page(level, node, light);
    }
    const uint last_level = shadow_page_level(page);
    const bool kept = has_last_frame() && last_level == level;
    uint last_class = 0;
    uint last_slot = 0;
    if (kept) {
        const ShadowTile last = load_tile(shadow_page_tile(page));
        last_class = last.state & 0xffU;
        last_slot = last.slot;
        words[stays_word(shadow_page_tile(page))] = 1;
    }
    const uint slot_class = shadow_class(parameters, level, importance, last_class, header.factor_index);
    const bool render = light_has_changed != 0 || is_touched(level, node, light, slot_class);
    uint cell = SHADOW_NONE;
    if (kept && slot_class == last_class) {
        cell = shadow_cell_of_slot(parameters.tile_extent, last_slot);
        occupy(cell, slot_class);
    }
    float threshold = float_from_bits(BITS_INFINITY);
    if (level > 0) {
        threshold = scaled_threshold(
            shadow_split_threshold(parameters, level, has_last_frame() && last_level < level), header.factor_index);
    }
    const uint first = found_word(found);
    words[first + FOUND_POSITION] = tile_position(node.x, node.y);
    words[first + FOUND_NODE] = tile_node(level, 0, light);
    words[first + FOUND_IMPORTANCE] = floatBitsToUint(importance);
    words[first + FOUND_THRESHOLD] = floatBitsToUint(threshold);
    words[first + FOUND_CLASSIFIED] =
        slot_class | (kept ? CLASSIFIED_KEPT : 0) | (render ? CLASSIFIED_RENDER : 0);
    words[first + FOUND_CELL] = cell;
    HAND_OVER(words[first + FOUND_BLOCK], block);
}
