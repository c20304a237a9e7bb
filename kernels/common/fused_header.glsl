// How fused_all.comp and fused_count.comp complete the headers of the list and of its parts.

TileListHeader make_header(uint required, uint first_tile, uint capacity) {
    const uint factor = WITH_BUDGET ? words[budget_words() + BUDGET_FACTOR_WORD] : 0;
    const bool is_lost = is_update() && state.is_counted == 0;
    TileListHeader made =
        tile_list_header(is_lost ? 0 : required, is_lost ? 0 : first_tile, capacity,
                         parameters.max_workgroup_count, budget_factor(factor));
    made.flags |= is_lost ? TILE_LIST_NOT_COUNTED : 0;
    return made;
}

void finish_list(uint required, uint written) {
    TileListHeader whole = make_header(required, 0, parameters.tile_capacity);
    if (in_parts()) {  // not one behind the other: there is nothing to dispatch or draw
        whole.written = written;
        whole.flags = written < required ? TILE_LIST_OVERFLOW : 0;
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
