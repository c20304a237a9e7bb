#version 460
// The tiles of a balanced list, behind balance_marks.comp: written in any order; or counted, and then written to their
// places in canonical order (STAGE). balance.glsl has the method, fused.glsl what all fused kernels do alike.
//
// Dispatch: workgroups of 256 threads, one for 2^SHARE_LEVELS x 2^SHARE_LEVELS blocks (x, y) and layer (z). These
// blocks lie as far apart as they can, as blocks with small tiles lie together.
//
// A thread for each block finds out by masks whether its node is split, and otherwise which tile begins in it, if one
// does. Then all threads go to the split blocks. For each they put together which nodes are split in it and one node
// around it, from what its 3 x 3 blocks force: splits reach no further. If a block is split by itself, its nodes'
// importances are there from level 2 on, and few texels are read; if only neighbours have split it, all are.
//
// Bindings: fused.glsl; and
//   11   balance  what balance_marks.comp has left (kernel_parameters.h)
//
// Memory order: places are reserved by relaxed atomics. Workgroups count themselves in by ARRIVE when they have reserved
// theirs, or handed their counts over; the last one of a layer acquires. Layers do the same, and the last one completes
// the header. All counters are then back at 0.

#define PASS PASS_TILES
#define BALANCED
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_list.glsl"
#include "fused_header.glsl"
#include "balance.glsl"

// 2 at most.
layout(constant_id = 26) const uint SHARE_LEVELS = 0;
const uint MAX_SHARE_LEVELS = 2;

// ---- What is split -----------------------------------------------------------------------------------------

// Tells whether a node inside the map, of level BLOCK_LEVELS or above, is split.
bool is_split_by_masks(uint level, uvec2 index) {
    const uvec2 extent = extent_of(level);
    uint pointing = 0;
    // No loop: lavapipe (Mesa 22.3) loses threads where a branch leads into one.
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

// Bits of the nodes that are split: of each level from 1 to 6 those of the block and one more on each side. Two words a
// row.
const uint SPLIT_ROWS = BALANCE_ROWS + 2 + 3;
shared uint split_rows[2 * SPLIT_ROWS];
shared uint known_blocks;  // bits of the 3 x 3 blocks that are split by themselves

uint first_split_row(uint level) { return balance_first_row(level) + (level > 1 ? 2 : 0); }

// Tells whether a node of a level from 1 to 6 is split. `local`: in the block, from -1 on.
bool is_split_at(uint level, ivec2 local) {
    const uvec2 place = uvec2(local + 1);
    const uint word = 2 * (first_split_row(level) + place.y) + (place.x >> 5);
    return (split_rows[word] >> (place.x & 31) & 1) != 0;
}

// Returns the level of a split row of the levels 1 to 5.
uint level_of_row(uint row) {
    return 1 + uint(row >= first_split_row(2)) + uint(row >= first_split_row(3)) +
           uint(row >= first_split_row(4)) + uint(row >= first_split_row(5));
}

// Puts a block's split rows together. All threads call this, and a barrier lies before and behind.
void find_splits(Block block, uint thread) {
    const uvec2 extent = extent_of(BLOCK_LEVELS);
    if (thread < 6) {
        split_rows[2 * first_split_row(BLOCK_LEVELS) + thread] = 0;
    }
    if (thread == 0) {
        known_blocks = 0;
    }
    barrier();
    const uvec2 around = uvec2(thread % 3, thread / 3);
    const uvec2 neighbour = block.index + around - 1;
    if (thread < 9 && all(lessThan(neighbour, extent))) {
        if (records[word_of_mask(BLOCK_LEVELS, neighbour)] != 0) {
            atomicOr(known_blocks, 1U << thread);
        }
        if (is_split_by_masks(BLOCK_LEVELS, neighbour)) {
            atomicOr(split_rows[2 * (first_split_row(BLOCK_LEVELS) + around.y)], 1U << around.x);
        }
    }
    barrier();
    const uint rows = first_split_row(BLOCK_LEVELS);
    const uint level = level_of_row(thread);
    const int nodes = int(64U >> level);  // of the block, along a side
    const int y = int(thread - first_split_row(level)) - 1;
    uint low = 0;
    uint high = 0;
    [[unroll]]
    for (uint i = 0; i < 9; ++i) {
        const ivec2 apart = ivec2(i % 3, i / 3) - 1;
        const int row = y - apart.y * nodes;
        // The blocks' rows of level 1 are without margins.
        const int margin = level > 1 ? 1 : 0;
        if (thread < rows && (known_blocks >> i & 1) != 0 && row >= -margin && row < nodes + margin) {
            const uint bits = records[words_of_block(block.index + uvec2(apart)) + balance_first_row(level) +
                                      uint(row + margin)];
            if (level == 1) {
                low |= apart.x < 0 ? bits >> 31 : (apart.x == 0 ? bits << 1 : 0);
                high |= apart.x == 0 ? bits >> 31 : (apart.x > 0 ? (bits & 1) << 1 : 0);
            } else {
                low |= apart.x < 0 ? bits >> nodes : (apart.x == 0 ? bits : bits << nodes);
            }
        }
    }
    if (thread < rows) {
        split_rows[2 * thread] = low;
        split_rows[2 * thread + 1] = high;
    }
}

bool splits_node(Block block, uint step, uvec2 position, float importance) {
    return is_split_at(step, ivec2(position - (block.index << (block.steps - step))));
}

// ---- Sides -------------------------------------------------------------------------------------------------

// SIDES(is_parent_split): the flags of a node's sides where its neighbour is inside the map and coarser: if the parent of
// the neighbour that the node would have is not split.
#define SIDE(flag, x, y, is_parent_split) {                                                   \
        const uvec2 neighbour = node.position + uvec2(x, y);                                  \
        const uvec2 parent = neighbour >> 1;                                                  \
        if (exists(node.level, neighbour) && !(is_parent_split)) {                            \
            sides |= flag;                                                                    \
        }                                                                                     \
    }
#define SIDES(is_parent_split)                                                                \
    uint sides = 0;                                                                           \
    SIDE(TILE_COARSER_LEFT, -1, 0, is_parent_split)                                           \
    SIDE(TILE_COARSER_RIGHT, 1, 0, is_parent_split)                                           \
    SIDE(TILE_COARSER_TOP, 0, -1, is_parent_split)                                            \
    SIDE(TILE_COARSER_BOTTOM, 0, 1, is_parent_split)

// Of a tile in a split block.
uint sides_of(Block block, Node node) {
    SIDES(is_split_at(node.level + 1, ivec2(parent - (block.index << (block.steps - 1 - node.level)))))
    return sides;
}

// Of a tile of the blocks' level or above.
uint sides_of_large(Node node) {
    SIDES(is_split_by_masks(node.level + 1, parent))
    return sides;
}

// ---- Places ------------------------------------------------------------------------------------------------

uint first_of_part() { return in_parts() ? layer * part_capacity() : 0; }

// Returns a place for so many tiles, in any order. Thread 0 calls this.
uint reserve(uint total) {
    return in_parts() ? first_of_part() + atomicAdd(words[layer_words() + LAYER_PART_WORD], total,
                                                    gl_ScopeDevice, 0, 0)
                      : atomicAdd(state.place_count, total, gl_ScopeDevice, 0, 0);
}

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

shared uint place;
shared bool is_last;

// Ends a layer, and the list if it is the last layer. All threads call this, but in STAGE_CANONICAL.
void finish(uint thread) {
    // The counts of all threads lie before the release.
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease);
    const uint layer_state = layer_words();
    if (thread == 0) {
        is_last = ARRIVE(words[layer_state + LAYER_ARRIVALS_WORD]) + 1 ==
                  gl_NumWorkGroups.x * gl_NumWorkGroups.y;
        if (is_last) {
            acquire_arrivals();
            words[layer_state + LAYER_ARRIVALS_WORD] = 0;
        }
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                   gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (!is_last) {
        return;
    }
    if (STAGE == STAGE_COUNT) {
        const uint tiles = place_blocks(thread);
        if (thread == 0) {
            HAND_OVER(words[layer_state + LAYER_TILES_WORD], tiles);
            is_last = is_last_layer();
        }
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                       gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
        if (is_last) {
            const uint required = place_layers(thread);
            if (thread == 0) {
                finish_list(required, 0);
            }
        }
        return;
    }
    if (thread != 0) {
        return;
    }
    if (in_parts()) {
        const uint required =
            atomicExchange(words[layer_state + LAYER_PART_WORD], 0, gl_ScopeDevice, 0, 0);
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

// ---- Blocks ------------------------------------------------------------------------------------------------

// Returns the index of a block of the workgroup's share.
uvec2 block_index(uint i) { return gl_WorkGroupID.xy + gl_NumWorkGroups.xy * morton(i); }

float importance_of_quad(uvec2 quad) {
    const vec2 texel = vec2(parameters.texel_width, parameters.texel_height);
    return item_of_key(key_of_quad(textureGather(map, vec3(vec2(2 * quad + 1) * texel, layer), 0)));
}

// Finds a split block's tiles and writes them, or counts them.
void list_tiles(Block block, uint thread) {
    const uint first_word = words_of_block(block.index);
    const bool is_known = records[word_of_mask(BLOCK_LEVELS, block.index)] != 0;
    float nodes[7];
    nodes[2] = 0.0;
    if (STAGE != STAGE_COUNT) {
        if (is_known) {
            nodes[2] = uintBitsToFloat(records[first_word + BALANCE_LEVEL_2 + thread]);
        } else {
            const uvec4 keys = read_quads(block, true, thread);
            keep_step_1(true, keys, thread);
            nodes[2] = item_of_key(largest_of_four(keys));
        }
    }
    find_splits(block, thread);
    find_upper_nodes(thread, nodes);  // with a barrier
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
    if (thread == 0) {
        place = STAGE == STAGE_ANY ? reserve(total) : place_in_order(block.index);
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
    write_tiles(block, thread, total, place);
}

shared bool is_block_split[1 << 2 * MAX_SHARE_LEVELS];
shared uint large_tiles;
shared uint large_place;

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const uint blocks = 1U << 2 * SHARE_LEVELS;
    if (thread == 0) {
        large_tiles = 0;
    }
    barrier();
    // From the block's node up, as long as neither the node's parent is split nor another block begins in it.
    const uvec2 own_block = block_index(thread % blocks);
    const bool is_there = thread < blocks && exists(BLOCK_LEVELS, own_block);
    uint level = min(BLOCK_LEVELS, parameters.top_level);
    Node node = Node(level, own_block, 0.0, threshold_of(level, own_block));
    bool is_split_block = false;
    if (is_there) {
        is_split_block = is_split_by_masks(BLOCK_LEVELS, own_block);
    }
    bool is_tile = is_there && !is_split_block;
    bool rises = is_tile;
    for (level = BLOCK_LEVELS + 1; level <= parameters.top_level; ++level) {
        const uvec2 parent = node.position >> 1;
        const float threshold = threshold_of(level, parent);
        if (rises) {
            rises = !is_split_by_masks(level, parent);
            if (rises) {
                is_tile = parent << 1 == node.position;
                rises = is_tile;
                node = Node(level, parent, 0.0, threshold);
            }
        }
    }
    if (thread < blocks) {
        is_block_split[thread] = is_split_block;
    }
    uint own_place = 0;
    if (is_tile) {
        own_place = atomicAdd(large_tiles, 1);
    }
    barrier();
    if (STAGE == STAGE_COUNT) {
        if (is_there && !is_split_block) {
            HAND_OVER(records[words_of_block(own_block) + BALANCE_PLACE], uint(is_tile));
        }
    } else {
        if (STAGE == STAGE_ANY) {
            if (thread == 0 && large_tiles > 0) {
                large_place = reserve(large_tiles);
            }
            barrier();
        }
        if (is_tile) {
            node.importance = uintBitsToFloat(records[word_of_importance(max(node.level, BLOCK_LEVELS), node.position)]);
            write_node(STAGE == STAGE_ANY ? large_place + own_place : place_in_order(own_block), end_of_places(), layer,
                       node, sides_of_large(node));
        }
    }
    [[dont_unroll]]
    for (uint i = 0; i < blocks; ++i) {
        if (is_block_split[i]) {
            list_tiles(Block(0, min(BLOCK_LEVELS, parameters.top_level), block_index(i), 0), thread);
            barrier();
        }
    }
    if (STAGE != STAGE_CANONICAL) {
        finish(thread);
    }
}
