// Parameters of the kernels (push constants), and their state between dispatches. For the library's
// own use; not part of the public API.

#ifndef QUADTILE_KERNEL_PARAMETERS_H
#define QUADTILE_KERNEL_PARAMETERS_H

#include "budget.h"
#include "language.h"
#include "limits.h"
#include "mip.h"
#include "quadtree.h"

QUADTILE_NAMESPACE_BEGIN

// ---- downsample.comp ---------------------------------------------------------------------------

// Levels that a workgroup makes from a block of 64 x 64 texels, down to one texel.
const QUADTILE_UINT BLOCK_LEVELS = 6;

// Returns the levels made in one step from the texels of a level: six from the base level (0), and
// up to five from the levels above, so that a subgroup can make them. The steps are as few as
// possible, and equal if possible.
QUADTILE_SHARED QUADTILE_UINT step_levels(QUADTILE_UINT level, QUADTILE_UINT top_level) {
    if (level == 0) {
        return BLOCK_LEVELS;
    }
    const QUADTILE_UINT rest = top_level - level;
    return rest > 5 ? (rest + 1) / 2 : rest;
}

// Most hand-overs: six levels first, and MAX_TOP_LEVEL = 16.
const QUADTILE_UINT MAX_HANDOVERS = 2;

struct DownsampleParameters {
    QUADTILE_UINT width;  // of the image, texels
    QUADTILE_UINT height;
    QUADTILE_UINT layers;
    QUADTILE_UINT base_level;  // level that is read
    QUADTILE_UINT top_level;   // last level that is made
    float base_texel_width;    // 1 / extents of the base level: divisions are slow
    float base_texel_height;
    QUADTILE_UINT state_words_per_layer;
    // If only some blocks of one layer run: x in bits 0-15, y in bits 16-31.
    QUADTILE_UINT first_block;
    QUADTILE_UINT last_block;
    QUADTILE_UINT first_layer;
    QUADTILE_UINT first_image;  // of the window (downsample.glsl), in levels above the base level
    // Members for the pyramid buffer, in floats.
    QUADTILE_UINT pitch;
    QUADTILE_UINT floats_per_layer;
    QUADTILE_UINT level_start[MAX_TOP_LEVEL];  // place of (0, 0) of level i + 1 in its layer
};

// The state buffer in words: the NaN texels of each layer (of the last run, if they are counted),
// then state_words_per_layer words per layer. These are the NaN texels counted so far, and the
// words of each level that is handed over (blocks.glsl).

// Returns the blocks (or groups) of 2^levels texels of a level along one axis. If the remainder is
// folded in, the last block holds it too, and is almost twice as long.
QUADTILE_SHARED QUADTILE_UINT blocks_along(QUADTILE_UINT extent, QUADTILE_UINT level,
                                           QUADTILE_UINT levels, QUADTILE_UINT edge_rule) {
    const QUADTILE_UINT texels = mip_extent(extent, level, edge_rule);
    return edge_rule == EDGE_FOLD ? mip_extent(extent, level + levels, edge_rule)
                                  : ((texels - 1) >> levels) + 1;
}

// Returns the block that texel `i` of a level lies in, along one axis with so many blocks.
QUADTILE_SHARED QUADTILE_UINT block_of(QUADTILE_UINT i, QUADTILE_UINT levels,
                                       QUADTILE_UINT blocks) {
    return i >> levels < blocks ? i >> levels : blocks - 1;
}

// Returns the texels of a level in a block, along one axis.
QUADTILE_SHARED QUADTILE_UINT block_extent(QUADTILE_UINT extent, QUADTILE_UINT level,
                                           QUADTILE_UINT levels, QUADTILE_UINT block,
                                           QUADTILE_UINT edge_rule) {
    const QUADTILE_UINT rest = mip_extent(extent, level, edge_rule) - (block << levels);
    const bool last = block + 1 == blocks_along(extent, level, levels, edge_rule);
    return last || rest < 1U << levels ? rest : 1U << levels;
}

// Returns the slots of a group of 2^levels texels a side (hand_over.glsl): for 8 x 8 texels or more.
QUADTILE_SHARED QUADTILE_UINT slots_of_group(QUADTILE_UINT levels) {
    return 1U << (levels > 3 ? 2 * levels : 6);
}

// Returns the words of one level that is handed over in groups of 2^levels, with so many words per
// node and per slot.
QUADTILE_SHARED QUADTILE_UINT handover_words(QUADTILE_UINT width, QUADTILE_UINT height,
                                             QUADTILE_UINT level, QUADTILE_UINT levels,
                                             QUADTILE_UINT edge_rule, QUADTILE_UINT node_words,
                                             QUADTILE_UINT slot_words) {
    const QUADTILE_UINT groups = blocks_along(width, level, levels, edge_rule) *
                                 blocks_along(height, level, levels, edge_rule);
    const QUADTILE_UINT nodes =
        mip_extent(width, level, edge_rule) * mip_extent(height, level, edge_rule);
    return 2 * groups + node_words * nodes + slot_words * groups * slots_of_group(levels);
}

QUADTILE_SHARED QUADTILE_UINT state_words_per_layer(QUADTILE_UINT width, QUADTILE_UINT height,
                                                    QUADTILE_UINT top_level,
                                                    QUADTILE_UINT edge_rule,
                                                    QUADTILE_UINT node_words,
                                                    QUADTILE_UINT slot_words) {
    QUADTILE_UINT words = 1;
    for (QUADTILE_UINT level = BLOCK_LEVELS; level < top_level;
         level += step_levels(level, top_level)) {
        words += handover_words(width, height, level, step_levels(level, top_level), edge_rule,
                                node_words, slot_words);
    }
    return words;
}

// ---- subtree.comp ------------------------------------------------------------------------------

const QUADTILE_UINT SUBDIVISION_WORKGROUP_SIZE = 256;

// Lowest level whose nodes are listed. Passes list nodes as (layer * height + y) * width + x, in
// nodes of their level. Nodes of level 1 are never listed: their children are tiles in any case.
const QUADTILE_UINT LOWEST_LISTED_LEVEL = 2;

struct SubdivisionParameters {
    QUADTILE_UINT width;  // of the map, texels
    QUADTILE_UINT height;
    QUADTILE_UINT layers;
    QUADTILE_UINT pass;           // 0: starts from the roots, not from a list
    QUADTILE_UINT upper_level;    // level of the nodes that the pass starts from
    QUADTILE_UINT lower_level;    // level that it descends to
    QUADTILE_UINT next_depth;     // levels that the next pass descends
    QUADTILE_UINT input_offset;   // of the pass's list in the node words
    QUADTILE_UINT output_offset;  // of the next pass's list
    QUADTILE_UINT max_workgroup_count;
    QUADTILE_UINT tile_capacity;
    QUADTILE_UINT unorm_bits;  // 8 or 16 for maps of unorm formats, else 0
    float thresholds[MAX_LEVELS];
};

// A pass over a list: VkDispatchIndirectCommand and the length of the list.
struct SubdivisionPass {
    QUADTILE_UINT dispatch_x;
    QUADTILE_UINT dispatch_y;
    QUADTILE_UINT dispatch_z;
    QUADTILE_UINT node_count;
};

// Counters, which are 0 between runs. The node lists lie behind them.
struct SubdivisionState {
    QUADTILE_UINT tile_count;
    QUADTILE_UINT finished_workgroups;  // of the last pass
    SubdivisionPass passes[MAX_LEVELS];
};

// ---- fused_*.comp ------------------------------------------------------------------------------

// Stages of fused_share.glsl.
const QUADTILE_UINT STAGE_ANY = 0;        // writes tiles in any order
const QUADTILE_UINT STAGE_COUNT = 1;      // counts tiles
const QUADTILE_UINT STAGE_CANONICAL = 2;  // writes tiles to their places in canonical order

struct FusedParameters {
    QUADTILE_UINT width;  // of the map, texels
    QUADTILE_UINT height;
    QUADTILE_UINT layers;
    QUADTILE_UINT top_level;
    float texel_width;  // 1 / extents: divisions are slow
    float texel_height;
    QUADTILE_UINT state_words_per_layer;
    QUADTILE_UINT max_workgroup_count;
    QUADTILE_UINT tile_capacity;
    QUADTILE_UINT max_tiles;  // budget, if WITH_BUDGET
    float thresholds[MAX_LEVELS];
};

// Counters. Behind them lie, in words: the NaN texels of each layer (of the last run), then
// fused_words_per_layer per layer, which are LAYER_WORDS and each level that is handed over
// (blocks.glsl), then the words for budgets, and last those of nodes. Counters and slots are 0
// between runs.
struct FusedState {
    QUADTILE_UINT place_count;  // in any order: places reserved so far
    QUADTILE_UINT finished_layers;
    QUADTILE_UINT required_count;  // tiles of the finished layers, in any order
};

const QUADTILE_UINT LAYER_WORDS = 4;
const QUADTILE_UINT LAYER_NAN_WORD = 0;       // NaN texels counted so far
const QUADTILE_UINT LAYER_TILES_WORD = 1;     // tiles, in canonical order
const QUADTILE_UINT LAYER_PLACE_WORD = 2;     // place of the first tile in the list
const QUADTILE_UINT LAYER_ARRIVALS_WORD = 3;  // workgroups that have finished, for balanced lists

// Words of a node's slots (hand_over.glsl): its importance, and for balanced lists its mask.
const QUADTILE_UINT FUSED_SLOT_WORDS = 2;

// Words for budgets: the factor's index, the number of tiles under it, and the histogram over
// budget_bin (0 between runs).
const QUADTILE_UINT BUDGET_FACTOR_WORD = 0;
const QUADTILE_UINT BUDGET_TILES_WORD = 1;
const QUADTILE_UINT BUDGET_HISTOGRAM_WORD = 2;
const QUADTILE_UINT BUDGET_WORDS = BUDGET_HISTOGRAM_WORD + 1 + BUDGET_FACTORS;

QUADTILE_SHARED QUADTILE_UINT fused_words_per_layer(QUADTILE_UINT width, QUADTILE_UINT height,
                                                    QUADTILE_UINT top_level) {
    return LAYER_WORDS - 1 +
           state_words_per_layer(width, height, top_level, EDGE_ROUND_UP, 0, FUSED_SLOT_WORDS);
}

// Words of a node of the blocks' level or above. Each word of all nodes comes before the next word.
// Nodes between two hand-overs have words only if the node that they are handed over in is split.
// The last one exists in canonical order.
const QUADTILE_UINT NODE_IMPORTANCE = 0;
const QUADTILE_UINT NODE_PLACE = 1;  // of its first tile, in the node that it was handed over in
const QUADTILE_UINT FUSED_NODE_WORDS = 2;

// Returns the rows of one layer, which have one length on all levels.
QUADTILE_SHARED QUADTILE_UINT fused_node_rows(QUADTILE_UINT height) {
    return 2 * level_extent(height, BLOCK_LEVELS) + MAX_LEVELS - BLOCK_LEVELS;
}

// Returns the place of a node. (On maps of one block the root takes the block's place.) With H rows
// of blocks, level BLOCK_LEVELS + i begins at row 2 H - floor(2 H / 2^i) + i. From there to the
// next level are more than H / 2^i rows, because floor(a) - floor(a / 2) + 1 > a / 2.
QUADTILE_SHARED QUADTILE_UINT fused_node_index(QUADTILE_UINT width, QUADTILE_UINT height,
                                               QUADTILE_UINT level, QUADTILE_UINT x,
                                               QUADTILE_UINT y, QUADTILE_UINT layer) {
    const QUADTILE_UINT rows = 2 * level_extent(height, BLOCK_LEVELS);
    const QUADTILE_UINT above = level - BLOCK_LEVELS;
    const QUADTILE_UINT first = rows - (rows >> above) + above;
    return (layer * fused_node_rows(height) + first + y) * level_extent(width, BLOCK_LEVELS) + x;
}

QUADTILE_SHARED QUADTILE_UINT fused_nodes(QUADTILE_UINT width, QUADTILE_UINT height,
                                          QUADTILE_UINT layers) {
    return layers * fused_node_rows(height) * level_extent(width, BLOCK_LEVELS);
}

// ---- balance_*.comp ----------------------------------------------------------------------------

// The buffer of balanced lists in words: the masks (balance.glsl) of all nodes of the blocks' level
// and above, their importances, then BALANCE_BLOCK_WORDS per block.

// Words of a block: rows of bits for the nodes that the block's own splits force to be split; for
// canonical order the number of its tiles and the place of the first one; the importances of its
// nodes of level 2 in Z-order. All except the second exist only if the block's node is split.
const QUADTILE_UINT BALANCE_ROWS = 70;  // rows of the levels 1 to 5 (balance_first_row)
const QUADTILE_UINT BALANCE_PLACE = 70;
const QUADTILE_UINT BALANCE_LEVEL_2 = 72;
const QUADTILE_UINT BALANCE_BLOCK_WORDS = BALANCE_LEVEL_2 + 256;

// Returns the first row of a level from 1 to 6. Level 1 has 32 rows. Other levels have 64 >> level
// rows, one more before and one behind, with one more bit on either side.
QUADTILE_SHARED QUADTILE_UINT balance_first_row(QUADTILE_UINT level) {
    return level == 1 ? 0 : 64 - (128U >> level) + 2 * (level - 2);
}

// ---- Dispatches --------------------------------------------------------------------------------

// Returns the workgroups for `nodes` nodes of 4^depth threads each.
QUADTILE_SHARED QUADTILE_UINT workgroups_for(QUADTILE_UINT nodes, QUADTILE_UINT depth) {
    const QUADTILE_UINT workgroup_depth = 4;  // 4^4 = SUBDIVISION_WORKGROUP_SIZE
    if (depth >= workgroup_depth) {
        return nodes << (2 * (depth - workgroup_depth));
    }
    const QUADTILE_UINT shift = 2 * (workgroup_depth - depth);
    return (nodes + (1U << shift) - 1) >> shift;
}

// Folds workgroups into x and y, neither above the device's limit; x * y may exceed their number.
QUADTILE_SHARED QUADTILE_UINT folded_x(QUADTILE_UINT workgroups, QUADTILE_UINT limit) {
    return workgroups < limit ? workgroups : limit;
}

QUADTILE_SHARED QUADTILE_UINT folded_y(QUADTILE_UINT workgroups, QUADTILE_UINT limit) {
    return workgroups <= limit ? (workgroups > 0 ? 1 : 0) : (workgroups + limit - 1) / limit;
}

QUADTILE_NAMESPACE_END

#endif
