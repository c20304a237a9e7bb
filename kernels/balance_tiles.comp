#version 460
// Tiles of a balanced list, found from the results of balance_marks.comp. By STAGE they are written in any order, or
// counted, or written to their places in canonical order. balance.glsl has the method, fused.glsl the common parts of
// all fused kernels.
//
// Dispatch: workgroups of 256 threads, one per share of blocks (fused_share.glsl).
//
// A thread per block and level finds from masks whether the node of that level around the block is split. This gives
// the split blocks, and the other blocks in which a tile begins. Then all threads treat the split blocks. From the 3 x
// 3 blocks around each they find its split nodes, and those one node around it: splits reach no further. If the block's
// own texels split it, the importances of its nodes exist from level 2 on, and few texels are read. If only neighbours
// split it, all texels are read.
//
// Independent loads are issued together, because latency dominates the time of this kernel.
//
// Bindings: those of fused.glsl, and
//   11   balance  results of balance_marks.comp (kernel_parameters.h)
//
// Memory order: places are reserved by relaxed atomics. Workgroups count themselves in by ARRIVE when they have
// reserved their places, and write tiles afterwards; in the counting stage when they have handed over their counts.
// Workgroups that reserve nothing release nothing. The last one of a layer acquires. Layers do the same, and the last
// layer completes the header. All counters are 0 again then.

#define PASS PASS_TILES
#define BALANCED
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_list.glsl"
#include "fused_header.glsl"
#include "fused_share.glsl"
#include "balance.glsl"

// ---- Split nodes ---------------------------------------------------------------------------------------------

// Returns whether a node inside the map, of level BLOCK_LEVELS or above, is split.
bool is_split_by_masks(uint level, uvec2 index) {
    const uvec2 extent = extent_of(level);
    uint pointing = 0;
    // Unrolled by a macro: lavapipe (Mesa 22.3) loses threads if a branch leads into a loop.
#define MASK_FROM(x, y, bit) {                                                                \
        const uvec2 from = index + uvec2(x, y);                                               \
        const uint mask = records[word_of_mask(level, min(from, extent - 1))];                \
        pointing |= all(lessThan(from, extent)) ? mask >> bit : 0;                            \
    }
    MASK_FROM(-1, -1, 8)
    MASK_FROM(0, -1, 7)
    MASK_FROM(1, -1, 6)
    MASK_FROM(-1, 0, 5)
    MASK_FROM(0, 0, 4)
    MASK_FROM(1, 0, 3)
    MASK_FROM(-1, 1, 2)
    MASK_FROM(0, 1, 1)
    MASK_FROM(1, 1, 0)
#undef MASK_FROM
    return (pointing & 1) != 0;
}

// Bits of the split nodes: per level from 1 to 6 those of the block and one more on each side. A row has two words.
const uint SPLIT_ROWS = BALANCE_ROWS + 2 + 3;
shared uint split_rows[2 * SPLIT_ROWS];

uint first_split_row(uint level) { return balance_first_row(level) + (level > 1 ? 2 : 0); }

// Returns whether a node of a level from 1 to 6 is split. `local` is in the block, from -1 on.
bool is_split_at(uint level, ivec2 local) {
    const uvec2 place = uvec2(local + 1);
    const uint word = 2 * (first_split_row(level) + place.y) + (level == 1 ? place.x >> 5 : 0);
    return (split_rows[word] >> (place.x & 31) & 1) != 0;
}

// Returns the level of a split row of the levels 1 to 5.
uint level_of_row(uint row) {
    return 1 + uint(row >= first_split_row(2)) + uint(row >= first_split_row(3)) +
           uint(row >= first_split_row(4)) + uint(row >= first_split_row(5));
}

// Combines the split rows of a block; those of BLOCK_LEVELS are 0. All threads call this, between barriers.
void find_splits(Block block, uint thread) {
    const uvec2 extent = extent_of(BLOCK_LEVELS);
    const uint rows = first_split_row(BLOCK_LEVELS);
    if (thread < rows) {
        const uint level = level_of_row(thread);
        const int nodes = int(64U >> level);  // of the block, along a side
        const int margin = level > 1 ? 1 : 0;  // of a block's rows
        const int y = int(thread - first_split_row(level)) - 1;
        uint low = 0;
        uint high = 0;
        // The blocks on either side, and at a horizontal edge those above or below, whose rows reach that edge.
        [[unroll]]
        for (uint i = 0; i < 6; ++i) {
            const ivec2 apart = ivec2(int(i % 3) - 1, i < 3 ? 0 : (y <= 0 ? -1 : 1));
            const int row = y - apart.y * nodes + margin;
            const int last_row = nodes - 1 + 2 * margin;
            const uvec2 from = block.index + uvec2(apart);
            const uvec2 nearest = min(from, extent - 1);
            const uint mask = records[word_of_mask(BLOCK_LEVELS, nearest)];
            const uint word = words_of_block(nearest) + balance_first_row(level);
            const uint found = records[word + uint(clamp(row, 0, last_row))];
            const bool counts = all(lessThan(from, extent)) && mask != 0 && row >= 0 && row <= last_row;
            const uint bits = counts ? found : 0;
            if (level == 1) {
                low |= apart.x < 0 ? bits >> 31 : (apart.x == 0 ? bits << 1 : 0);
                high |= apart.x == 0 ? bits >> 31 : (apart.x > 0 ? (bits & 1) << 1 : 0);
            } else {
                low |= apart.x < 0 ? bits >> nodes : (apart.x == 0 ? bits : bits << nodes);
            }
        }
        split_rows[2 * thread] = low;
        split_rows[2 * thread + 1] = high;
    }
    // Otherwise idle threads treat the block itself and its four neighbours.
    const uint side = thread - WORKGROUP_SIZE / 2;
    if (side < 5) {
        const uvec2 around = uvec2(side == 1 ? 0 : (side == 2 ? 2 : 1), side == 3 ? 0 : (side == 4 ? 2 : 1));
        const uvec2 node = block.index + around - 1;
        if (exists(BLOCK_LEVELS, node) && is_split_by_masks(BLOCK_LEVELS, node)) {
            atomicOr(split_rows[2 * (first_split_row(BLOCK_LEVELS) + around.y)], 1U << around.x);
        }
    }
}

bool splits_node(Block block, uint step, uvec2 position, float importance) {
    return is_split_at(step, ivec2(position - (block.index << (block.steps - step))));
}

// ---- Sides -------------------------------------------------------------------------------------------------

// Two of a tile's four neighbours are its siblings. Another one is coarser if the parent of its place is not split.

// Returns the column and the row of the neighbours that are not siblings.
uvec2 outward(uvec2 position) { return position + 2 * (position & 1) - 1; }

// Returns the flags of a tile's sides. `are_parents_split`: of the neighbours in that column and row.
uint flags_of_sides(Node node, bvec2 are_parents_split) {
    const uvec2 beside = outward(node.position);
    const bvec2 is_odd = notEqual(node.position & 1, uvec2(0));
    uint sides = 0;
    if (exists(node.level, uvec2(beside.x, node.position.y)) && !are_parents_split.x) {
        sides |= is_odd.x ? TILE_COARSER_RIGHT : TILE_COARSER_LEFT;
    }
    if (exists(node.level, uvec2(node.position.x, beside.y)) && !are_parents_split.y) {
        sides |= is_odd.y ? TILE_COARSER_BOTTOM : TILE_COARSER_TOP;
    }
    return sides;
}

// Returns the flags of a tile in a split block.
uint sides_of(Block block, Node node) {
    const ivec2 first = ivec2(block.index << (block.steps - 1 - node.level));
    const ivec2 parent = ivec2(node.position >> 1) - first;
    const ivec2 beside = (ivec2(outward(node.position)) >> 1) - first;
    return flags_of_sides(node, bvec2(is_split_at(node.level + 1, ivec2(beside.x, parent.y)),
                                      is_split_at(node.level + 1, ivec2(parent.x, beside.y))));
}

// Returns the flags of a tile of the blocks' level or above.
uint sides_of_large(Node node) {
    const uvec2 parent = node.position >> 1;
    const uvec2 beside = outward(node.position) >> 1;
    return flags_of_sides(node, bvec2(is_split_by_masks(node.level + 1, uvec2(beside.x, parent.y)),
                                      is_split_by_masks(node.level + 1, uvec2(parent.x, beside.y))));
}

// ---- Places ------------------------------------------------------------------------------------------------

// Returns the place of the first tile that begins in a block, in canonical order.
uint place_in_order(uvec2 block) {
    return records[words_of_block(block) + BALANCE_PLACE] + words[layer_words() + LAYER_PLACE_WORD];
}

// Gives each block its place in the layer. Returns the layer's tiles. All threads of the last workgroup call this.
uint place_blocks(uint thread) {
    const uint top = parameters.top_level;
    const uint codes = top > BLOCK_LEVELS ? 1U << 2 * (top - BLOCK_LEVELS) : 1;
    uint first = 0;
    for (uint start = 0; start < codes; start += WORKGROUP_SIZE) {
        const uvec2 block = morton(start + thread);
        const bool is_there = start + thread < codes && exists(BLOCK_LEVELS, block);
        const uint word = words_of_block(block) + BALANCE_PLACE;
        const uint tiles = is_there ? HANDED_OVER(records[word]) : 0;
        uint total;
        const uint before = scan(tiles, thread, total);
        if (is_there) {
            records[word] = first + before;
        }
        first += total;
        barrier();
    }
    return first;
}

// Completes a layer's part of the list, and the list after the last layer. One thread of the last workgroup calls this,
// in any order.
void finish_layer() {
    if (in_parts()) {
        const uint required = atomicExchange(words[layer_words() + LAYER_PART_WORD], 0, gl_ScopeDevice, 0, 0);
        const uint capacity = part_capacity();
        WRITE_LAYER_HEADER(layer, make_header(required, first_of_part(), capacity));
        atomicAdd(state.place_count, min(required, capacity), gl_ScopeDevice, 0, 0);
        atomicAdd(state.required_count, required, gl_ScopeDevice, 0, 0);
    }
    if (is_last_layer()) {
        const uint places = atomicExchange(state.place_count, 0, gl_ScopeDevice, 0, 0);
        const uint required = in_parts() ? atomicExchange(state.required_count, 0, gl_ScopeDevice, 0, 0) : places;
        finish_list(required, places);
    }
}

// Counts the workgroup in. Returns whether it was the layer's last.
bool count_in(bool releases) {
    const uint word = layer_words() + LAYER_ARRIVALS_WORD;
    const uint before = releases ? ARRIVE(words[word]) : atomicAdd(words[word], 1, gl_ScopeDevice, 0, 0);
    if (before + 1 != gl_NumWorkGroups.x * gl_NumWorkGroups.y) {
        return false;
    }
    acquire_arrivals();
    words[word] = 0;
    return true;
}

// Finishes the reservations of the workgroup. One thread calls this.
void finish_reservations(bool has_tiles) {
    if (STAGE == STAGE_ANY && count_in(has_tiles)) {
        finish_layer();
    }
}

shared bool is_last;

void order_threads() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                   gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Finishes the counts. All threads call this after the counts are handed over.
void finish_counts(uint thread) {
    order_threads();
    if (thread == 0) {
        is_last = count_in(true);
    }
    order_threads();
    if (!is_last) {
        return;
    }
    const uint tiles = place_blocks(thread);
    if (thread == 0) {
        HAND_OVER(words[layer_words() + LAYER_TILES_WORD], tiles);
        is_last = is_last_layer();
    }
    order_threads();
    if (is_last) {
        const uint required = place_layers(thread);
        if (thread == 0) {
            finish_list(required, 0);
        }
    }
}

// ---- Blocks ------------------------------------------------------------------------------------------------

float importance_of_quad(uvec2 quad) {
    const vec2 texel = vec2(parameters.texel_width, parameters.texel_height);
    return item_of_key(key_of_quad(textureGather(map, vec3(vec2(2 * quad + 1) * texel, layer), 0)));
}

// Thread that reserves places: the last one writes the fewest tiles.
const uint RESERVER = WORKGROUP_SIZE - 1;
shared uint place;

// Finds a split block's tiles, and writes or counts them. `is_final`: the block is the workgroup's last.
void list_tiles(Block block, uint thread, bool is_final) {
    const uint first_word = words_of_block(block.index);
    const bool is_known = records[word_of_mask(BLOCK_LEVELS, block.index)] != 0;
    float nodes[7];
    nodes[2] = STAGE == STAGE_COUNT ? 0.0 : uintBitsToFloat(records[first_word + BALANCE_LEVEL_2 + thread]);
    if (thread < 6) {
        split_rows[2 * first_split_row(BLOCK_LEVELS) + thread] = 0;
    }
    barrier();
    find_splits(block, thread);
    if (STAGE != STAGE_COUNT && !is_known) {
        const uvec4 keys = read_quads(block, true, thread);
        keep_step_1(true, keys, thread);
        nodes[2] = item_of_key(largest_of_four(keys));
    }
    find_upper_nodes(thread, nodes);  // contains a barrier
    float importance;
    const uint tiles = tiles_of(block, thread, nodes, importance);
    uint total;
    const uint before = scan(tile_count(tiles), thread, total);
    if (STAGE == STAGE_COUNT) {
        if (thread == 0) {
            HAND_OVER(records[first_word + BALANCE_PLACE], total);
        }
        return;
    }
    if (thread == RESERVER) {
        place = STAGE == STAGE_ANY ? reserve_places(total) : place_in_order(block.index);
    }
    if (is_known) {
        [[unroll]]
        for (uint i = 0; i < 4; ++i) {
            if ((tiles >> (QUAD_TILES_SHIFT + i) & 1) != 0) {
                step_1[4 * thread + i] = importance_of_quad(2 * position_of(block, thread) + morton(i));
            }
        }
    }
    lay_out(block, thread, tiles, importance, before);
    barrier();
    if (thread == RESERVER && is_final) {
        finish_reservations(true);
    }
    write_tiles(block, thread, total, place);
}

shared uint split_levels[1 << 2 * MAX_SHARE_LEVELS];  // of each block: bits of the levels whose node around it is split
shared uint split_blocks;                             // bits of blocks
shared uint tile_blocks;                              // bits of the blocks where a tile of their level or above begins

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const uint top = max(parameters.top_level, BLOCK_LEVELS);
    const uint blocks = 1U << 2 * SHARE_LEVELS;
    if (thread < blocks) {
        split_levels[thread] = 0;
    }
    if (thread == 0) {
        split_blocks = 0;
        tile_blocks = 0;
    }
    keep_thresholds(thread);
    barrier();
    // On a map of one block the root takes the place of the block's node.
    const uint own = thread & (blocks - 1);
    const uvec2 own_block = block_index(own);
    const uint level = BLOCK_LEVELS + (thread >> 2 * SHARE_LEVELS);
    bool is_first = false;  // whether the block is the first one of its node of this level
    uvec2 index = uvec2(0);
    float importance = 0.0;
    if (level <= top && exists(BLOCK_LEVELS, own_block)) {
        index = own_block >> (level - BLOCK_LEVELS);
        is_first = index << (level - BLOCK_LEVELS) == own_block;
        importance = uintBitsToFloat(records[word_of_importance(level, index)]);
        // Irrelevant if nothing begins below the node.
        const uint below = max(level, BLOCK_LEVELS + 1) - 1 - BLOCK_LEVELS;
        if (own_block >> below << below == own_block && is_split_by_masks(level, index)) {
            atomicOr(split_levels[own], 1U << level);
            if (level == BLOCK_LEVELS) {
                atomicOr(split_blocks, 1U << own);
            }
        }
    }
    barrier();
    // A node is a tile if it is not split and its parent is.
    const bool is_tile = is_first && (split_levels[own] >> level & 1) == 0 &&
                         (level == top || (split_levels[own] >> (level + 1) & 1) != 0);
    if (is_tile) {
        atomicOr(tile_blocks, 1U << own);
    }
    barrier();
    if (STAGE == STAGE_COUNT) {
        if (thread < blocks && exists(BLOCK_LEVELS, own_block) && (split_blocks >> own & 1) == 0) {
            HAND_OVER(records[words_of_block(own_block) + BALANCE_PLACE], tile_blocks >> own & 1);
        }
    } else {
        const uint large_tiles = bitCount(tile_blocks);
        if (thread == RESERVER && STAGE == STAGE_ANY && large_tiles > 0) {
            place = reserve_places(large_tiles);
        }
        Node node = Node(min(level, parameters.top_level), index, importance, 0.0);
        uint sides = 0;
        if (is_tile) {
            node.threshold = kept_threshold(node.level, index);
            sides = level < parameters.top_level ? sides_of_large(node) : 0;
        }
        barrier();
        if (thread == RESERVER && split_blocks == 0) {
            finish_reservations(large_tiles > 0);
        }
        if (is_tile) {
            const uint own_place = STAGE == STAGE_ANY ? place + bitCount(tile_blocks & ((1U << own) - 1))
                                                      : place_in_order(own_block);
            write_node(own_place, end_of_places(), layer, node, sides);
        }
    }
    [[dont_unroll]]
    for (uint i = 0; i < blocks; ++i) {
        if ((split_blocks >> i & 1) != 0) {
            barrier();  // the shared variables are free again
            list_tiles(Block(0, min(BLOCK_LEVELS, parameters.top_level), block_index(i)), thread,
                       split_blocks >> i == 1);
        }
    }
    if (STAGE == STAGE_COUNT) {
        finish_counts(thread);
    }
}
