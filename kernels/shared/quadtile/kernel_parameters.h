// Parameters of the kernels (push constants), and their state between dispatches; not public.

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
const uint BLOCK_LEVELS = 6;

// Returns the levels made in one step from the texels of a level: six from the base level (0), and
// up to five from the levels above, in steps that are few and equal if possible.
QUADTILE_SHARED uint step_levels(uint level, uint top_level) {
    if (level == 0) {
        return BLOCK_LEVELS;
    }
    const uint rest = top_level - level;
    return rest > 5 ? (rest + 1) / 2 : rest;
}

// Most hand-overs: six levels first, and MAX_TOP_LEVEL = 16.
const uint MAX_HANDOVERS = 2;

struct DownsampleParameters {
    uint width;  // of the image, texels
    uint height;
    uint layers;
    uint base_level;         // level that is read
    uint top_level;          // last level that is made
    float base_texel_width;  // 1 / extents of the base level: divisions are slow
    float base_texel_height;
    uint state_words_per_layer;
    // If only some blocks of one layer run: x in bits 0-15, y in bits 16-31.
    uint first_block;
    uint last_block;
    uint first_layer;
    uint first_image;  // of the window (downsample.glsl), in levels above the base level
    // Members for the pyramid buffer, in floats.
    uint pitch;
    uint floats_per_layer;
    uint handovers;  // before this dispatch, if each is a dispatch of its own (blocks.glsl)
    uint level_start[MAX_TOP_LEVEL];  // place of (0, 0) of level i + 1 in its layer
};

// The state buffer in words: the NaN texels of each layer (of the last run, if they are counted),
// then per layer those counted so far, and the words of each level that is handed over
// (blocks.glsl).

// Returns the blocks (or groups) of 2^levels texels of a level along one axis. If the remainder is
// folded in, the last block holds it too, and is almost twice as long.
QUADTILE_SHARED uint blocks_along(uint extent, uint level, uint levels, uint edge_rule) {
    const uint texels = mip_extent(extent, level, edge_rule);
    return edge_rule == EDGE_FOLD ? mip_extent(extent, level + levels, edge_rule)
                                  : ((texels - 1) >> levels) + 1;
}

// Returns the texels of a level in a block, along one axis.
QUADTILE_SHARED uint block_extent(uint extent, uint level, uint levels, uint block,
                                  uint edge_rule) {
    const uint rest = mip_extent(extent, level, edge_rule) - (block << levels);
    const bool last = block + 1 == blocks_along(extent, level, levels, edge_rule);
    return last || rest < 1U << levels ? rest : 1U << levels;
}

// Returns the slots of a group of 2^levels texels a side (hand_over.glsl), or of 8 x 8.
QUADTILE_SHARED uint slots_of_group(uint levels) {
    return 1U << (levels > 3 ? 2 * levels : 6);
}

// ---- subtree.comp ------------------------------------------------------------------------------

const uint SUBDIVISION_WORKGROUP_SIZE = 256;

// Lowest level whose nodes are listed. Passes list nodes as (layer * height + y) * width + x, in
// nodes of their level. Nodes of level 1 are never listed: their children are tiles in any case.
const uint LOWEST_LISTED_LEVEL = 2;

struct SubdivisionParameters {
    uint width;  // of the map, texels
    uint height;
    uint layers;
    uint pass;           // 0: starts from the roots, not from a list
    uint upper_level;    // level of the nodes that the pass starts from
    uint lower_level;    // level that it descends to
    uint next_depth;     // levels that the next pass descends
    uint input_offset;   // of the pass's list in the node words
    uint output_offset;  // of the next pass's list
    uint max_workgroup_count;
    uint tile_capacity;
    uint unorm_bits;  // 8 or 16 for maps of unorm formats, else 0
    float thresholds[MAX_LEVELS];
};

// A pass over a list: VkDispatchIndirectCommand and the length of the list.
struct SubdivisionPass {
    uint dispatch_x;
    uint dispatch_y;
    uint dispatch_z;
    uint node_count;
};

// Counters, which are 0 between runs. The node lists lie behind them.
struct SubdivisionState {
    uint tile_count;
    uint finished_workgroups;  // of the last pass
    uint is_incomplete;        // whether the pyramid is that of a lost run
    SubdivisionPass passes[MAX_LEVELS];
};

// ---- fused_*.comp ------------------------------------------------------------------------------

// Stages of fused_share.glsl.
const uint STAGE_ANY = 0;        // writes tiles in any order
const uint STAGE_COUNT = 1;      // counts tiles
const uint STAGE_CANONICAL = 2;  // writes tiles to their places in canonical order

struct FusedParameters {
    uint width;  // of the map, texels
    uint height;
    uint layers;
    uint top_level;
    float texel_width;  // 1 / extents: divisions are slow
    float texel_height;
    uint state_words_per_layer;
    uint max_workgroup_count;
    uint tile_capacity;
    uint max_tiles;  // budget, if WITH_BUDGET
    uint handovers;  // before this dispatch, if each is a dispatch of its own (blocks.glsl)
    float thresholds[MAX_LEVELS];
};

// Counters. Behind them lie, in words: the NaN texels of each layer (of the last run), then
// fused_words_per_layer per layer, which are LAYER_WORDS and each level that is handed over
// (blocks.glsl), then the words for budgets, and last those of nodes. Counters and slots are 0
// between runs.
struct FusedState {
    uint place_count;  // in any order: places reserved so far
    uint finished_layers;
    uint required_count;  // tiles of the finished layers, in any order
    uint lost;            // LOST_RUN after a lost run (hand_over.glsl), until the host sets it to 0
};

const uint LAYER_WORDS = 4;
const uint LAYER_NAN_WORD = 0;       // NaN texels counted so far
const uint LAYER_TILES_WORD = 1;     // tiles, in canonical order
const uint LAYER_PLACE_WORD = 2;     // place of the first tile in the list
const uint LAYER_ARRIVALS_WORD = 3;  // workgroups that have finished, for balanced lists

// Words of a node's slots (hand_over.glsl): its importance, and for balanced lists its mask.
const uint FUSED_SLOT_WORDS = 2;

// Words for budgets: the factor's index, the number of tiles under it, and the histogram over
// budget_bin (0 between runs).
const uint BUDGET_FACTOR_WORD = 0;
const uint BUDGET_TILES_WORD = 1;
const uint BUDGET_HISTOGRAM_WORD = 2;
const uint BUDGET_WORDS = BUDGET_HISTOGRAM_WORD + 1 + BUDGET_FACTORS;

// Words of a node of the blocks' level or above, word by word for all nodes. Nodes between two
// hand-overs have words only if the node that they are handed over in is split.
const uint NODE_IMPORTANCE = 0;
const uint NODE_PLACE = 1;  // of its first tile, in the node that it was handed over in

// Returns the rows of one layer, which have one length on all levels.
QUADTILE_SHARED uint fused_node_rows(uint height) {
    return 2 * level_extent(height, BLOCK_LEVELS) + MAX_LEVELS - BLOCK_LEVELS;
}

// Returns the place of a node. (On maps of one block the root takes the block's place.) With H rows
// of blocks, level BLOCK_LEVELS + i begins at row 2 H - floor(2 H / 2^i) + i. From there to the
// next level are more than H / 2^i rows, because floor(a) - floor(a / 2) + 1 > a / 2.
QUADTILE_SHARED uint fused_node_index(uint width, uint height, uint level, uint x, uint y,
                                      uint layer) {
    const uint rows = 2 * level_extent(height, BLOCK_LEVELS);
    const uint above = level - BLOCK_LEVELS;
    const uint first = rows - (rows >> above) + above;
    return (layer * fused_node_rows(height) + first + y) * level_extent(width, BLOCK_LEVELS) + x;
}

QUADTILE_SHARED uint fused_nodes(uint width, uint height, uint layers) {
    return layers * fused_node_rows(height) * level_extent(width, BLOCK_LEVELS);
}

// ---- balance_*.comp ----------------------------------------------------------------------------

// The buffer of balanced lists in words: the masks (balance.glsl) of all nodes of the blocks' level
// and above, their importances, then BALANCE_BLOCK_WORDS per block.

// Words of a block: rows of bits for the nodes that the block's own splits force to be split; for
// canonical order the number of its tiles, then the place of the first; the importances of its
// nodes of level 2 in Z-order. All except the second exist only if the block's node is split.
const uint BALANCE_ROWS = 70;  // rows of the levels 1 to 5 (balance_first_row)
const uint BALANCE_PLACE = 70;
const uint BALANCE_LEVEL_2 = 72;
const uint BALANCE_BLOCK_WORDS = BALANCE_LEVEL_2 + 256;

// Returns the first row of a level from 1 to 6. Level 1 has 32 rows. Other levels have 64 >> level
// rows, one more before and one behind, with one more bit on either side.
QUADTILE_SHARED uint balance_first_row(uint level) {
    return level == 1 ? 0 : 64 - (128U >> level) + 2 * (level - 2);
}

// ---- Dispatches --------------------------------------------------------------------------------

// Returns the workgroups for `nodes` nodes of 4^depth threads each.
QUADTILE_SHARED uint workgroups_for(uint nodes, uint depth) {
    const uint workgroup_depth = 4;  // 4^4 = SUBDIVISION_WORKGROUP_SIZE
    if (depth >= workgroup_depth) {
        return nodes << (2 * (depth - workgroup_depth));
    }
    const uint shift = 2 * (workgroup_depth - depth);
    return (nodes + (1U << shift) - 1) >> shift;
}

// Folds workgroups into x and y, neither above the device's limit; x * y may exceed their number.
QUADTILE_SHARED uint folded_x(uint workgroups, uint limit) {
    return workgroups < limit ? workgroups : limit;
}

QUADTILE_SHARED uint folded_y(uint workgroups, uint limit) {
    return workgroups <= limit ? (workgroups > 0 ? 1 : 0) : (workgroups + limit - 1) / limit;
}

QUADTILE_NAMESPACE_END

#endif
