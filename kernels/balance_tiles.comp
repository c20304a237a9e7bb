#version 460
// Tiles of a balanced list, found from the results of balance_marks.comp: counted in one pass, then written in canonical
// order in the next. Independent loads are issued together, because latency dominates this kernel's time.
//
// Memory order: workgroups that count hand over their counts and arrive. The last one of a layer places its blocks.

#include "fused.glsl"
#include "balance.glsl"

layout(constant_id = 28) const bool COUNTS = false;  // whether tiles are counted, not written

// Returns whether a node inside the map, of level BLOCK_LEVELS or above, is split.
bool is_split_by_masks(uint level, uvec2 index) {
    const uvec2 extent = extent_of(level);
    uint pointing = 0;
    // No loop: LOST_THREADS (cpu_drivers.glsl).
#define MASK_FROM(x, y, bit) {                                                                \
        const uvec2 from = index + uvec2(x, y);                                               \
        const uint mask = records[word_of_mask(level, min(from, extent - 1))];                \
        pointing |= all(lessThan(from, extent)) ? mask >> bit : 0;                            \
    }
    FOR_NODES_AROUND(MASK_FROM)
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

// Combines the split rows of a block; those of BLOCK_LEVELS are 0. All threads call this, between barriers.
void find_splits(Block block, uint thread) {
    const uvec2 extent = extent_of(BLOCK_LEVELS);
    const uint rows = first_split_row(BLOCK_LEVELS);
    if (thread < rows) {
        const uint level = 1 + uint(thread >= first_split_row(2)) + uint(thread >= first_split_row(3)) +
                           uint(thread >= first_split_row(4)) + uint(thread >= first_split_row(5));
        const int nodes = int(64U >> level);  // of the block, along a side
        const int margin = level > 1 ? 1 : 0;  // of a block's rows
        const int y = int(thread - first_split_row(level)) - 1;
        uint low = 0;
        uint high = 0;
        // The blocks on either side, and at a horizontal edge those above or below, whose rows reach that edge.
        [[unroll]] for (uint i = 0; i < 6; ++i) {
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

// Returns the column and the row of the two neighbours that are not siblings. One is coarser if its place's parent is
// not split.
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

uint sides_of(Block block, Node node) {
    const ivec2 first = ivec2(block.index << (block.steps - 1 - node.level));
    const ivec2 parent = ivec2(node.position >> 1) - first;
    const ivec2 beside = (ivec2(outward(node.position)) >> 1) - first;
    return flags_of_sides(node, bvec2(is_split_at(node.level + 1, ivec2(beside.x, parent.y)),
                                      is_split_at(node.level + 1, ivec2(parent.x, beside.y))));
}

uint sides_of_large(Node node) {
    const uvec2 parent = node.position >> 1;
    const uvec2 beside = outward(node.position) >> 1;
    return flags_of_sides(node, bvec2(is_split_by_masks(node.level + 1, uvec2(beside.x, parent.y)),
                                      is_split_by_masks(node.level + 1, uvec2(parent.x, beside.y))));
}

// How fused_tiles.glsl finds these.
#define IS_SPLIT(block, step, position, importance) \
    is_split_at(step, ivec2((position) - (block.index << (block.steps - (step)))))
#define SIDES_OF(block, tile) sides_of(block, tile)
#include "fused_tiles.glsl"
#include "fused_share.glsl"

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

// Ends the pass that counts: the last workgroup of a layer gives its blocks their places. All threads call this.
void finish_counts(uint thread) {
    order_threads();
    const uint word = layer_words() + LAYER_ARRIVALS_WORD;
    if (thread == 0) {
        goes_on = ARRIVE(words[word]) + 1 == gl_NumWorkGroups.x * gl_NumWorkGroups.y;
        if (goes_on) {
            acquire_arrivals();
            words[word] = 0;
        }
    }
    order_threads();
    if (goes_on) {
        finish_layers(place_blocks(thread), TILE_LIST_BALANCED, thread);
    }
}

shared uint tile_blocks;  // bits of blocks where a tile of the blocks' level or above begins
// Bits of the levels whose node around a block is split.
shared uint split_levels[1 << 2 * MAX_SHARE_LEVELS];

// Returns whether the node is a tile, its importance and its place. Marks a split block. All threads call this.
bool find_large(Around around, uint thread, out float importance, out uint place) {
    const uint level = around.level;
    if (thread < 1U << 2 * SHARE_LEVELS) {
        split_levels[thread] = 0;
    }
    keep_thresholds(thread);
    barrier();
    importance = 0.0;
    place = 0;
    if (around.begins) {
        importance = uintBitsToFloat(records[word_of_importance(level, around.index)]);
        if (!COUNTS) {
            place = records[words_of_block(around.block) + BALANCE_PLACE] + words[layer_words() + LAYER_PLACE_WORD];
        }
    }
    // Nodes also count as parents of those of which the block is the first one.
    const uint below = max(level, BLOCK_LEVELS + 1) - 1 - BLOCK_LEVELS;
    if (around.exists && around.block >> below << below == around.block && is_split_by_masks(level, around.index)) {
        atomicOr(split_levels[around.own], 1U << level);
        if (level == BLOCK_LEVELS) {
            places[around.own] = place;
            atomicOr(split_blocks, 1U << around.own);
        }
    }
    barrier();
    // A node is a tile if it is not split and its parent is.
    const uint split = split_levels[around.own] >> level;
    return around.begins && (split & 1) == 0 && (level == root_level() || (split & 2) != 0);
}

// Returns the tiles of a split block that begin in the thread's texels. All threads call this.
uint find_small(Block block, uint thread, out float importance) {
    if (thread < 6) {
        split_rows[2 * first_split_row(BLOCK_LEVELS) + thread] = 0;
    }
    barrier();
    find_splits(block, thread);
    float nodes[7] = float[](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    if (!COUNTS) {
        keep_step_1(true, read_quads(block, true, thread), thread);
        find_nodes(thread, nodes);
    }
    barrier();
    return tiles_of(block, thread, nodes, importance);
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const Around around = around_of(thread);
    if (thread == 0) {
        split_blocks = 0;
        tile_blocks = 0;
    }
    float importance;
    uint place;
    const bool is_tile = find_large(around, thread, importance, place);
    if (COUNTS) {
        if (is_tile) {
            atomicOr(tile_blocks, 1U << around.own);
        }
        barrier();
        if (thread < SHARE_BLOCKS && around.exists && (split_blocks >> thread & 1) == 0) {
            HAND_OVER(records[words_of_block(around.block) + BALANCE_PLACE], tile_blocks >> thread & 1);
        }
    } else {
        barrier();
        if (is_tile) {
            const Node node = node_of(around, importance);
            write_node(place, parameters.tile_capacity, layer, node,
                       around.level < parameters.top_level ? sides_of_large(node) : 0);
        }
    }
    [[dont_unroll]] for (uint i = 0; i < SHARE_BLOCKS; ++i) {
        if ((split_blocks >> i & 1) != 0) {
            barrier();  // the shared variables are free again
            const Block split = split_block(i);
            float tile_importance;
            const uint tiles = find_small(split, thread, tile_importance);
            uint total;
            const uint before = scan(tile_count(tiles), thread, total);
            if (!COUNTS) {
                lay_out(split, thread, tiles, tile_importance, before);
                barrier();
                write_tiles(split, thread, total, places[i]);
            } else if (thread == 0) {
                HAND_OVER(records[words_of_block(split.index) + BALANCE_PLACE], total);
            }
        }
    }
    if (COUNTS) {
        finish_counts(thread);
    }
}
