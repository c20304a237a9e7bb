// Classification of each tile, for list.comp. All threads take all steps of all loops, with a tile or without: lavapipe
// loses threads otherwise. Several workgroups set cells and `stays`; readers follow a barrier of the command buffer.

void occupy(bool has_slot, uint cell, uint slot_class) {
    const uint cells = shadow_slot_cells(slot_class);
    const uint first = cells_word() + cell / 32;
    if (has_slot && cells < 32) {
        atomicOr(words[first], ((1U << cells) - 1) << (cell % 32));
    }
    for (uint word = 0; word < PAGE_WORDS; ++word) {
        if (has_slot && word < cells / 32) {
            words[first + word] = 0xffffffffU;
        }
    }
}

shared uint light_has_changed;  // the workgroup's light: 1, else 0

// Sets light_has_changed, which is 0 before. All threads call it between barriers.
void compare_light(uint light) {
    const uint element = gl_LocalInvocationIndex;
    if (element < 16 && floatBitsToUint(frame.lights[light].clip_from_world[element]) !=
                            words[last_light_word(light, element)]) {
        atomicOr(light_has_changed, 1);
    }
}

float importance_of(uint level, uvec2 node, uint first_texel, uint block, uint light) {
    if (level == 0) {
        return uintBitsToFloat(imageLoad(importance_map, ivec3(node, light)).x);
    }
    const bool is_above = level > block_levels();
    const uint place = is_above ? gl_WorkGroupID.x >> (2 * (level - block_levels())) : first_texel >> (2 * level);
    const uint word = is_above ? upper_node_word(light, first_node(parameters.map_levels - level) + place)
                               : block_node_word(block, first_node(block_levels() - level) + place);
    return uintBitsToFloat(words[word + NODE_IMPORTANCE]);
}

// Writes the words of a found tile, if there is one. `item`: its first texel in the block, and its level << 16.
void write_found(uint found, bool is_tile, uint item, uint block, uint light) {
    const uint level = item >> 16;
    const uvec2 origin = z_order(gl_WorkGroupID.x) << block_levels();
    const uvec2 node = (origin + z_order(item & 0xffffU)) >> level;
    const float importance = importance_of(level, node, item & 0xffffU, block, light);
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
    }
    const uint slot_class = shadow_class(parameters, level, importance, last_class, header.factor_index);
    const bool has_slot = kept && slot_class == last_class;
    const uint cell = has_slot ? shadow_cell_of_slot(parameters.tile_extent, last_slot) : SHADOW_NONE;
    occupy(is_tile && has_slot, cell, slot_class);
    if (!is_tile) {
        return;
    }
    if (kept) {
        words[stays_word(shadow_page_tile(page))] = 1;
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
    words[first + FOUND_CLASSIFIED] = slot_class | (kept ? CLASSIFIED_KEPT : 0) |
                                      (light_has_changed != 0 ? CLASSIFIED_RENDER : 0);
    words[first + FOUND_CELL] = cell;
    words[first + FOUND_BLOCK] = block;
}
