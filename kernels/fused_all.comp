#version 460
// Writes the tiles of a map in any order, in one pass. Each workgroup reserves places by one atomic addition.
//
// Memory order: workgroups without tiles release nothing. Tiles are counted with the arrivals of blocks; groups of groups
// release them. Reserved places are given back by subtraction, which may come before or after any addition.

#include "fused.glsl"
#include "fused_tiles.glsl"
#include "fused_ascent.glsl"

shared uint place;        // of the block's first tile in the list
shared uint tiles_below;  // tiles below the nodes of the group that was read last

// Returns the number of tiles below the nodes of a split group. Thread 0 calls this, which has the first node's key.
uint receive_tiles(Block block, uint first_key) {
    if (ahead.level > BLOCK_LEVELS) {
        acquire_arrivals();
        return TAKE_RELAXED(words[ahead.second]);
    }
    // If all blocks of the largest group are split into texels, their number reads 0.
    const bool is_full = ahead_tiles == 0 && is_split(ahead.level, first_of_step_1(block), item_of_key(first_key));
    return is_full ? 1U << (32 - ARRIVAL_BITS) : ahead_tiles;
}

// Sends a node with the number of its tiles: those of the block and below. Thread 0 calls this.
bool send(Group group, Ascent at, uint tiles) {
    const bool is_block = group.level == BLOCK_LEVELS;
    if (!is_block && tiles != 0) {
        ADD_RELAXED(words[group.second], tiles);
    }
    return send_node(group, at, is_block ? 1 + (tiles << ARRIVAL_BITS) : 1, !is_block && tiles != 0);
}

// Completes the layer, and the list behind the last one. One thread calls this: if there are tiles to write, another
// than 0, so that it works beside thread 0. `below`: tiles before those of the last block.
void finish_layer(Ascent at, uint total, uint below) {
    const float threshold = threshold_of(parameters.top_level, uvec2(0));
    if (at.importance < threshold) {
        write_node(place, parameters.tile_capacity, layer,
                   Node(parameters.top_level, uvec2(0), at.importance, threshold), 0);
    }
    finish_root(at);
    uint required = below + total;
    if (parameters.layers > 1) {
        ADD_RELAXED(state.required_count, required);
        if (!is_last_layer()) {
            return;
        }
        required = TAKE_RELAXED(state.required_count);
        below = required;
    }
    if (below != 0) {
        ADD_RELAXED(state.place_count, -below);
    }
    finish_list(required, 0, parameters.layers > 1 || may_hold_nan(at.importance));
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    Ascent at = start(thread);
    bool receives = starts_from_group();
    // Most blocks of most maps end here. Their code comes first, because contiguous code is fetched sooner.
    if (!receives && !at.splits && parameters.top_level > BLOCK_LEVELS) {
        if (thread == 0) {
            goes_on = send(group_of(at), at, 0);
        }
        barrier();
        if (!goes_on) {
            return;
        }
        receives = true;
    }
    for (; true; receives = true) {
        if (receives) {
            receive_group(at, thread);
        }
        const bool is_root = level_of(at) == parameters.top_level;
        uint total = uint(is_root);  // a root that is not split is a tile
        if (at.splits) {
            begin_search(at, false, thread);
            keep_thresholds(thread);
            float nodes[7];
            find_nodes(thread, nodes);
            float importance;
            const uint tiles = tiles_of(at.block, thread, nodes, importance);
            const uint before = scan(tile_count(tiles), thread, total);
            lay_out(at.block, thread, tiles, importance, before);
        }
        if (thread == 0) {
            const uint below = at.splits && at.handovers > 0 ? receive_tiles(at.block, at.keys.x) : 0;
            uint reserved = 0;
            if (at.splits || is_root) {
                reserved = is_root && parameters.layers == 1 ? below : ADD_RELAXED(state.place_count, total);
            }
            goes_on = !is_root && send(group_of(at), at, total + below);
            place = reserved;
            tiles_below = below;
        }
        if (at.splits || !is_root) {
            barrier();
        }
        if (at.splits) {
            write_tiles(at.block, thread, total, place);
        }
        if (is_root && thread == (at.splits ? WORKGROUP_SIZE - 1 : 0)) {
            finish_layer(at, total, at.splits ? tiles_below : 0);
        }
        if (is_root || !goes_on) {
            return;
        }
    }
}
