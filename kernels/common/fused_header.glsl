// Headers of the list and of its parts, and places of layers.

TileListHeader make_header(uint required, uint first_tile, uint capacity) {
    const uint factor = WITH_BUDGET ? words[budget_words() + BUDGET_FACTOR_WORD] : 0;
    const bool is_lost = is_update() && state.is_counted == 0;
    TileListHeader made = tile_list_header(is_lost ? 0 : required, is_lost ? 0 : first_tile, capacity,
                                           parameters.max_workgroup_count, budget_factor(factor));
    made.flags |= is_lost ? TILE_LIST_NOT_COUNTED : 0;
    made.flags |= PASS == PASS_TILES ? TILE_LIST_BALANCED : 0;
    return made;
}

// Completes the header of the layer's part of the list. Returns the tiles in it.
uint finish_part(uint required) {
    layer_headers[layer] = make_header(required, first_of_part(), part_capacity());
    return min(required, part_capacity());
}

void finish_list(uint required, uint written) {
    TileListHeader whole = make_header(required, 0, parameters.tile_capacity);
    if (in_parts()) {  // parts do not follow each other, so there are no arguments for dispatch and draw
        whole.written = written;
        whole.flags &= ~TILE_LIST_OVERFLOW;
        whole.flags |= written < required ? TILE_LIST_OVERFLOW : 0;
        whole.dispatch_x = 0;
        whole.draw_instance_count = 0;
    }
    if (WITH_BUDGET && required > parameters.max_tiles) {
        whole.flags |= TILE_LIST_OVER_BUDGET;
    }
    header = whole;
    if (!is_update()) {
        state.is_counted = uint(PASS == PASS_COUNT && !WITH_BUDGET);
    }
}

// In canonical order, gives each layer its first place and completes the list after the last layer. `tiles`: of this
// one. All threads of the workgroup that finishes a layer call this.
void finish_layers(uint tiles, uint thread) {
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
                if (LAYER_LISTS) {
                    const uint rest = parameters.tile_capacity - min(parameters.tile_capacity, place);
                    layer_headers[start + thread] = make_header(required, place, rest);
                }
            }
            first += total;
            barrier();
        }
        if (thread == 0) {
            finish_list(first, 0);
        }
    }
}
