#version 460
// Writes the tiles that an earlier pass has found: in canonical order each to the place that fused_count.comp has found,
// with a budget in any order, by STAGE. fused.glsl has the common parts of all fused kernels.
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
// and sets place_count back to 0. If layers have parts of the list, workgroups release their additions to these, and the
// last one acquires.

#define PASS PASS_EMIT
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_list.glsl"
#include "fused_header.glsl"
#include "fused_share.glsl"

bool was_split(uint level, uvec2 block) {
    const uvec2 index = block >> (max(level, BLOCK_LEVELS) - BLOCK_LEVELS);
    return uintBitsToFloat(words[node_word(NODE_IMPORTANCE, level, index)]) >= kept_threshold(level, index);
}

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
        const uint in_node = words[node_word(NODE_PLACE, from, block >> (max(from, BLOCK_LEVELS) - BLOCK_LEVELS))];
        place += level < to ? in_node : 0;
        from = to;
    }
    return parameters.layers > 1 ? place + words[layer_words() + LAYER_PLACE_WORD] : place;
}

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
    keep_thresholds(thread);
    if (thread == 0) {
        split_blocks = 0;
    }
    barrier();
    const uint own = thread & (blocks - 1);
    const uvec2 block = block_index(own);
    // On a map of one block the root takes the place of the block's node.
    const uint level = min(BLOCK_LEVELS, top) + (thread >> 2 * SHARE_LEVELS);
    const uint above = max(level, BLOCK_LEVELS) - BLOCK_LEVELS;  // the block
    const uvec2 index = block >> above;
    bool is_tile = false;
    float importance = 0.0;
    uint own_place = 0;
    if (level <= top && index << above == block && exists(BLOCK_LEVELS, block)) {
        importance = uintBitsToFloat(words[node_word(NODE_IMPORTANCE, level, index)]);
        const bool splits = importance >= kept_threshold(level, index);
        // The parent may be a node between two hand-overs, which is known only if the node above these is split. All
        // loads are issued together.
        const bool parent_splits = was_split(min(level + 1, top), block);
        const bool above_splits = was_split(handed_over_above(level), block);
        is_tile = !splits && (level == top || (parent_splits && above_splits));
        own_place = STAGE == STAGE_CANONICAL ? place_in_order(level, block) : 0;
        if (splits && above == 0) {
            places[own] = own_place;
            atomicOr(split_blocks, 1U << own);
        }
    }
    bool is_last = false;
    if (STAGE == STAGE_ANY) {
        uint total;
        own_place = scan(uint(is_tile), thread, total);
        if (thread == 0 && total > 0) {
            is_last = reserve(total);
        }
    }
    barrier();
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
            if (thread == 0 && STAGE == STAGE_ANY) {
                is_last = reserve(total);
            }
            barrier();
            write_tiles(split, thread, total, STAGE == STAGE_ANY ? place : places[i]);
            barrier();
        }
    }
    if (is_last) {
        finish();
    }
}
