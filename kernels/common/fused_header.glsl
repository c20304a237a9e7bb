// The header of the list, and places of layers.

void finish_list(uint required) {
    const uint factor = WITH_BUDGET ? words[budget_words() + BUDGET_FACTOR_WORD] : 0;
    TileListHeader made = tile_list_header(required, parameters.tile_capacity, parameters.max_workgroup_count,
                                           budget_factor(factor));
    made.flags |= PASS == PASS_TILES ? TILE_LIST_BALANCED : 0;
    made.flags |= WITH_BUDGET && required > parameters.max_tiles ? TILE_LIST_OVER_BUDGET : 0;
    header = made;
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
            }
            first += total;
            barrier();
        }
        if (thread == 0) {
            finish_list(first);
        }
    }
}
