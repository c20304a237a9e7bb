#version 460
// Writes tiles, by STAGE: in canonical order each to the place that fused_count.comp has found, with a budget in any order.
// Reads the texels of blocks with small tiles again.
//
// Memory order: places in any order are reserved by additions to place_count. The workgroup whose addition makes it the
// known number of tiles is the last one: it completes the header and sets place_count back to 0.

#include "fused.glsl"
#include "fused_tiles.glsl"
#include "fused_share.glsl"

// Returns the node of a level around a block.
uvec2 node_around(uint level, uvec2 block) { return block >> (level - BLOCK_LEVELS); }

float kept_importance(uint level, uvec2 index) {
    return uintBitsToFloat(words[node_word(NODE_IMPORTANCE, level, index)]);
}

// Returns the lowest level above a level that was handed over, or the root's.
uint handed_over_above(uint level) {
    const uint next = BLOCK_LEVELS + step_levels(BLOCK_LEVELS, root_level());
    return level < next ? next : root_level();
}

// Returns the place of the first tile in a block, which is of a level or below, in canonical order.
uint place_in_order(uint level, uvec2 block) {
    uint first = 0;
    // Each level that was handed over has places in the node above.
    uint from = BLOCK_LEVELS;
    [[unroll]] for (uint i = 0; i < MAX_HANDOVERS; ++i) {
        const uint to = handed_over_above(from);
        const uint in_node = words[node_word(NODE_PLACE, from, node_around(from, block))];
        first += level < to ? in_node : 0;
        from = to;
    }
    return parameters.layers > 1 ? first + words[layer_words() + LAYER_PLACE_WORD] : first;
}

// Returns whether the node is a tile, its importance and, in canonical order, its place. Marks a split block. All threads
// call this.
bool find_large(Around around, uint thread, out float importance, out uint own_place) {
    const uint top = root_level();
    const uint level_above = handed_over_above(around.level);
    const uvec2 above = node_around(level_above, around.block);
    const uint level = min(around.level, parameters.top_level);  // of the threshold
    float of_parent = 0.0;
    float of_above = 0.0;
    importance = 0.0;
    own_place = 0;
    if (around.begins) {  // all loads are issued together
        importance = kept_importance(around.level, around.index);
        of_parent = kept_importance(min(around.level + 1, top), around.index >> 1);
        of_above = kept_importance(level_above, above);
        own_place = STAGE == STAGE_CANONICAL ? place_in_order(around.level, around.block) : 0;
    }
    keep_thresholds(thread);
    barrier();
    bool is_tile = false;
    if (around.begins) {
        if (importance < kept_threshold(level, around.index)) {
            // The parent may be a node between two hand-overs, which is known only if the node above these is split.
            is_tile = around.level == top ||
                      (of_parent >= kept_threshold(level + 1, around.index >> 1) &&
                       of_above >= kept_threshold(level_above, above));
        } else if (around.level == BLOCK_LEVELS) {
            places[around.own] = own_place;
            atomicOr(split_blocks, 1U << around.own);
        }
    }
    return is_tile;
}

// Reserves places in any order. Returns whether they are the last ones. Thread RESERVER calls this.
bool reserve(uint total) {
    place = ADD_RELAXED(state.place_count, total);
    return place + total == words[budget_words() + BUDGET_TILES_WORD];
}

// Completes the list in any order. The thread that has reserved the last places calls this.
void finish() {
    CLEAR_MESSAGE(state.place_count);
    finish_list(words[budget_words() + BUDGET_TILES_WORD], 0, true);
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const bool reserves = STAGE == STAGE_ANY && thread == RESERVER;
    const Around around = around_of(thread);
    clear_share(thread);
    float importance;
    uint own_place;
    const bool is_tile = find_large(around, thread, importance, own_place);
    if (is_tile && STAGE == STAGE_ANY) {
        atomicOr(tile_blocks, 1U << around.own);
    }
    barrier();
    bool is_last = false;
    if (reserves && tile_blocks != 0) {
        is_last = reserve(bitCount(tile_blocks));
    }
    if (STAGE == STAGE_ANY) {
        barrier();
        own_place = place_in_share(around.own);
    }
    if (is_last && split_blocks == 0) {
        finish();
    }
    if (is_tile) {
        write_node(own_place, parameters.tile_capacity, layer, node_of(around, importance), 0);
    }
    [[dont_unroll]] for (uint i = 0; i < SHARE_BLOCKS; ++i) {
        if ((split_blocks >> i & 1) != 0) {
            barrier();  // the shared variables are free again
            const Block split = split_block(i);
            keep_step_1(true, read_quads(split, true, thread), thread);
            float nodes[7];
            find_nodes(thread, nodes);
            float tile_importance;
            const uint tiles = tiles_of(split, thread, nodes, tile_importance);
            uint total;
            const uint before = scan(tile_count(tiles), thread, total);
            if (reserves) {
                is_last = reserve(total);
            }
            lay_out(split, thread, tiles, tile_importance, before);
            barrier();
            if (is_last && is_last_split(i)) {
                finish();
            }
            write_tiles(split, thread, total, STAGE == STAGE_ANY ? place : places[i]);
        }
    }
}
