#version 460
// Writes the tiles that an earlier pass has found: in canonical order each to the place that fused_count.comp has
// found, with a budget in any order, by STAGE. fused.glsl has the common parts of all fused kernels.
//
// Dispatch: workgroups of 256 threads, one per share of blocks (fused_share.glsl).
//
// A thread per block and level reads the importances that the earlier pass has kept, and writes the tile of that level
// that begins in the block. Then all threads read the blocks with small tiles again, and write these tiles.
//
// Bindings: those of fused.glsl.
//
// Memory order: barriers of the workgroup order shared memory. Places in any order are reserved by additions to
// place_count. The workgroup whose addition makes it the known number of tiles is the last one: it completes the header
// and sets place_count back to 0. If layers have parts of the list, workgroups release their additions to these, and
// the last one acquires.

#define PASS PASS_EMIT
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_list.glsl"
#include "fused_header.glsl"
#include "fused_share.glsl"

// Returns the node of a level around a block. On a map of one block the root takes the place of the block's node.
uvec2 node_around(uint level, uvec2 block) { return block >> (max(level, BLOCK_LEVELS) - BLOCK_LEVELS); }

uint kept_word(uint kind, uint level, uvec2 block) { return words[node_word(kind, level, node_around(level, block))]; }

// Returns the lowest level above a level that was handed over, or the root's.
uint handed_over_above(uint level) {
    const uint top = parameters.top_level;
    const uint next = BLOCK_LEVELS + step_levels(BLOCK_LEVELS, top);
    return level < next && next < top ? next : top;
}

// Returns the place of the first tile in a block, which is of a level or below, in canonical order.
uint place_in_order(uint level, uvec2 block) {
    uint place = 0;
    // Each level that was handed over has places in the node above.
    uint from = BLOCK_LEVELS;
    [[unroll]]
    for (uint i = 0; i < MAX_HANDOVERS; ++i) {
        const uint to = handed_over_above(from);
        const uint in_node = kept_word(NODE_PLACE, from, block);
        place += level < to ? in_node : 0;
        from = to;
    }
    return parameters.layers > 1 ? place + words[layer_words() + LAYER_PLACE_WORD] : place;
}

// Thread that reserves places: the last one writes the fewest tiles.
const uint RESERVER = WORKGROUP_SIZE - 1;
shared uint place;  // of the first tile, in any order

// Reserves places in any order. Returns whether they are the last ones. One thread calls this.
bool reserve(uint total) {
    place = reserve_places(total);
    uint before = place;
    if (in_parts()) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        before = atomicAdd(state.place_count, total, gl_ScopeDevice, 0, 0);
    }
    return before + total == words[budget_words() + BUDGET_TILES_WORD];
}

// Completes the headers after the last places are reserved. One thread calls this.
void finish() {
    CLEAR_MESSAGE(state.place_count);
    uint written = 0;
    if (in_parts()) {
        acquire_arrivals();
        for (layer = 0; layer < parameters.layers; ++layer) {
            const uint required = atomicExchange(words[layer_words() + LAYER_PART_WORD], 0, gl_ScopeDevice, 0, 0);
            WRITE_LAYER_HEADER(layer, make_header(required, layer * part_capacity(), part_capacity()));
            written += min(required, part_capacity());
        }
        layer = gl_WorkGroupID.z;
    }
    finish_list(words[budget_words() + BUDGET_TILES_WORD], written);
}

shared uint places[1 << 2 * MAX_SHARE_LEVELS];  // of the first tile of each block, in canonical order
shared uint split_blocks;                       // bits of the blocks with small tiles

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const uint top = parameters.top_level;
    const uint blocks = 1U << 2 * SHARE_LEVELS;
    const uint own = thread & (blocks - 1);
    const uvec2 block = block_index(own);
    const uint level = min(BLOCK_LEVELS, top) + (thread >> 2 * SHARE_LEVELS);
    const uint level_above = handed_over_above(level);
    const uvec2 index = node_around(level, block);
    // Whether the block is the first one of its node of this level.
    const bool is_first = level <= top && exists(BLOCK_LEVELS, block) &&
                          index << (max(level, BLOCK_LEVELS) - BLOCK_LEVELS) == block;
    float importance = 0.0;
    float of_parent = 0.0;
    float of_above = 0.0;
    uint own_place = 0;
    if (is_first) {  // all loads are issued together
        importance = uintBitsToFloat(kept_word(NODE_IMPORTANCE, level, block));
        of_parent = uintBitsToFloat(kept_word(NODE_IMPORTANCE, min(level + 1, top), block));
        of_above = uintBitsToFloat(kept_word(NODE_IMPORTANCE, level_above, block));
        own_place = STAGE == STAGE_CANONICAL ? place_in_order(level, block) : 0;
    }
    keep_thresholds(thread);
    if (thread == 0) {
        split_blocks = 0;
    }
    barrier();
    bool is_tile = false;
    if (is_first) {
        if (importance < kept_threshold(level, index)) {
            // The parent may be a node between two hand-overs, which is known only if the node above these is split.
            is_tile = level == top || (of_parent >= kept_threshold(level + 1, node_around(level + 1, block)) &&
                                       of_above >= kept_threshold(level_above, node_around(level_above, block)));
        } else if (level <= BLOCK_LEVELS) {
            places[own] = own_place;
            atomicOr(split_blocks, 1U << own);
        }
    }
    bool is_last = false;
    if (STAGE == STAGE_ANY) {
        uint total;
        own_place = scan(uint(is_tile), thread, total);
        if (thread == RESERVER && total > 0) {
            is_last = reserve(total);
        }
    }
    barrier();
    if (is_last) {
        finish();
    }
    if (is_tile) {
        write_node(own_place + (STAGE == STAGE_ANY ? place : 0), end_of_places(), layer,
                   Node(level, index, importance, kept_threshold(level, index)));
    }
    [[dont_unroll]]
    for (uint i = 0; i < blocks; ++i) {
        if ((split_blocks >> i & 1) != 0) {
            const Block split = Block(0, min(BLOCK_LEVELS, top), block_index(i));
            keep_step_1(true, read_quads(split, true, thread), thread);
            float tile_importance;
            const uint tiles = find_tiles(split, thread, tile_importance);
            uint total;
            const uint before = scan(tile_count(tiles), thread, total);
            lay_out(split, thread, tiles, tile_importance, before);
            if (thread == RESERVER && STAGE == STAGE_ANY) {
                is_last = reserve(total);
            }
            barrier();
            if (is_last) {
                finish();
            }
            write_tiles(split, thread, total, STAGE == STAGE_ANY ? place : places[i]);
            barrier();
        }
    }
}
