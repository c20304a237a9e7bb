#version 460
// Tiles of a balanced list, found from the results of balance_marks.comp: written or counted, by STAGE. A block that its
// own texels split has its nodes of level 2, so few texels are read; one that only neighbours split reads all. Independent
// loads are issued together, because latency dominates this kernel's time.
//
// Memory order: workgroups arrive when they have reserved their places by relaxed atomics, or handed over their counts.
// Those that reserve nothing release nothing. The last one of a layer acquires, then completes the list or places blocks.

#include "fused.glsl"
#include "balance.glsl"

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

// Counts the workgroup in. Returns whether it was the layer's last.
bool count_in(bool releases) {
    const uint word = layer_words() + LAYER_ARRIVALS_WORD;
    const uint before = releases ? ARRIVE(words[word]) : ADD_RELAXED(words[word], 1);
    if (before + 1 != gl_NumWorkGroups.x * gl_NumWorkGroups.y) {
        return false;
    }
    acquire_arrivals();
    words[word] = 0;
    return true;
}

// In any order, ends the workgroup's reservations. One thread calls this. `has_tiles`: whether there are any.
void finish(bool has_tiles) {
    if (count_in(has_tiles) && is_last_layer()) {
        finish_list(TAKE_RELAXED(state.place_count), TILE_LIST_BALANCED, true);
    }
}

// Ends the counting stage. All threads call this.
void finish_counts(uint thread) {
    order_threads();
    if (thread == 0) {
        goes_on = count_in(true);
    }
    order_threads();
    if (goes_on) {
        finish_layers(place_blocks(thread), TILE_LIST_BALANCED, thread);
    }
}

// Bits of the levels whose node around a block is split.
shared uint split_levels[1 << 2 * MAX_SHARE_LEVELS];

// Returns whether the node is a tile, its importance and, in canonical order, its place. Marks a split block. All threads
// call this.
bool find_large(Around around, uint thread, out float importance, out uint own_place) {
    const uint level = around.level;
    if (thread < 1U << 2 * SHARE_LEVELS) {
        split_levels[thread] = 0;
    }
    keep_thresholds(thread);
    barrier();
    importance = 0.0;
    own_place = 0;
    if (around.begins) {
        importance = uintBitsToFloat(records[word_of_importance(level, around.index)]);
        if (STAGE == STAGE_CANONICAL) {
            own_place = records[words_of_block(around.block) + BALANCE_PLACE] + words[layer_words() + LAYER_PLACE_WORD];
        }
    }
    // Nodes also count as parents of those of which the block is the first one.
    const uint below = max(level, BLOCK_LEVELS + 1) - 1 - BLOCK_LEVELS;
    if (around.exists && around.block >> below << below == around.block && is_split_by_masks(level, around.index)) {
        atomicOr(split_levels[around.own], 1U << level);
        if (level == BLOCK_LEVELS) {
            places[around.own] = own_place;
            atomicOr(split_blocks, 1U << around.own);
        }
    }
    barrier();
    // A node is a tile if it is not split and its parent is.
    const uint split = split_levels[around.own] >> level;
    return around.begins && (split & 1) == 0 && (level == root_level() || (split & 2) != 0);
}

bool is_known;  // whether the block's own texels split it

// Returns the tiles of a split block that begin in the thread's texels. All threads call this.
uint find_small(Block block, uint thread, out float importance) {
    is_known = records[word_of_mask(BLOCK_LEVELS, block.index)] != 0;
    float nodes[7];
    nodes[2] = STAGE == STAGE_COUNT
                   ? 0.0 : uintBitsToFloat(records[words_of_block(block.index) + BALANCE_LEVEL_2 + thread]);
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
    return tiles_of(block, thread, nodes, importance);
}

// Leaves the importances of tiles of step 1 in step_1. All threads call this before lay_out.
void keep_importances(Block block, uint thread, uint tiles) {
    const vec2 texel = vec2(parameters.texel_width, parameters.texel_height);
    if (is_known) {
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            if ((tiles >> (QUAD_TILES_SHIFT + i) & 1) != 0) {
                const uvec2 quad = 2 * position_of(block, thread) + morton(i);
                const vec4 texels = textureGather(map, vec3(vec2(2 * quad + 1) * texel, layer), 0);
                step_1[4 * thread + i] = item_of_key(key_of_quad(texels));
            }
        }
    }
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
    if (is_tile && STAGE != STAGE_CANONICAL) {
        atomicOr(tile_blocks, 1U << around.own);
    }
    barrier();
    if (STAGE == STAGE_COUNT) {
        if (thread < SHARE_BLOCKS && around.exists && (split_blocks >> thread & 1) == 0) {
            HAND_OVER(records[words_of_block(around.block) + BALANCE_PLACE], tile_blocks >> thread & 1);
        }
    } else {
        if (reserves && tile_blocks != 0) {
            place = ADD_RELAXED(state.place_count, bitCount(tile_blocks));
        }
        Node node;
        uint sides = 0;
        if (is_tile) {
            node = node_of(around, importance);
            sides = around.level < parameters.top_level ? sides_of_large(node) : 0;
        }
        if (STAGE == STAGE_ANY) {
            barrier();
            own_place = place_in_share(around.own);
        }
        if (reserves && split_blocks == 0) {
            finish(tile_blocks != 0);
        }
        if (is_tile) {
            write_node(own_place, parameters.tile_capacity, layer, node, sides);
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
            if (STAGE == STAGE_COUNT) {
                if (thread == 0) {
                    HAND_OVER(records[words_of_block(split.index) + BALANCE_PLACE], total);
                }
            } else {
                if (reserves) {
                    place = ADD_RELAXED(state.place_count, total);
                }
                keep_importances(split, thread, tiles);
                lay_out(split, thread, tiles, tile_importance, before);
                barrier();
                if (reserves && is_last_split(i)) {
                    finish(true);
                }
                write_tiles(split, thread, total, STAGE == STAGE_ANY ? place : places[i]);
            }
        }
    }
    if (STAGE == STAGE_COUNT) {
        finish_counts(thread);
    }
}
