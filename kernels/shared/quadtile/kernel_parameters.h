// What the host tells the kernels (push constants) and what they keep between dispatches (state).
// For the library's own use: nothing here is part of the public API.

#ifndef QUADTILE_KERNEL_PARAMETERS_H
#define QUADTILE_KERNEL_PARAMETERS_H

#include "language.h"
#include "limits.h"
#include "quadtree.h"

QUADTILE_NAMESPACE_BEGIN

// ---- pyramid.comp ----------------------------------------------------------------------------

// A workgroup reduces a block of 64 x 64 texels to one node of level 6, then hands over to the last
// workgroup of a group of 64 x 64, which goes on for another 6 levels, and so on.
const QUADTILE_UINT PYRAMID_WORKGROUP_SIZE = 256;
const QUADTILE_UINT PYRAMID_STEP_LEVELS = 6;
const QUADTILE_UINT PYRAMID_GROUP_NODES = 4096;  // 64 x 64

struct PyramidParameters {
    QUADTILE_UINT width;   // of the map, texels
    QUADTILE_UINT height;
    float texel_width;  // 1 / width: divisions are slow
    float texel_height;
    QUADTILE_UINT layers;
    QUADTILE_UINT top_level;
    QUADTILE_UINT state_words_per_layer;
    QUADTILE_UINT unorm_bits;  // 8 or 16 for maps of unorm formats, else 0
    QUADTILE_UINT pitch;       // of the pyramid, floats
    QUADTILE_UINT floats_per_layer;
    QUADTILE_UINT level_start[MAX_LEVELS];  // of level i + 1 in its layer: its place of (0, 0)
};

// The state buffer, in words: the NaN texels of each layer (the last run's), then for each layer
// state_words_per_layer words: the NaN texels counted so far, and for each hand-over level a counter
// for each group, then the nodes of each group.

// Groups of 64 x 64 nodes of `level`.
QUADTILE_SHARED QUADTILE_UINT handover_groups(QUADTILE_UINT width, QUADTILE_UINT height,
                                              QUADTILE_UINT level) {
    return level_extent(width, level + PYRAMID_STEP_LEVELS) *
           level_extent(height, level + PYRAMID_STEP_LEVELS);
}

// Words of one hand-over level.
QUADTILE_SHARED QUADTILE_UINT handover_words(QUADTILE_UINT width, QUADTILE_UINT height,
                                             QUADTILE_UINT level) {
    return handover_groups(width, height, level) * (1 + PYRAMID_GROUP_NODES);
}

QUADTILE_SHARED QUADTILE_UINT state_words_per_layer(QUADTILE_UINT width, QUADTILE_UINT height,
                                                    QUADTILE_UINT top_level) {
    QUADTILE_UINT words = 1;
    for (QUADTILE_UINT level = PYRAMID_STEP_LEVELS; level < top_level;
         level += PYRAMID_STEP_LEVELS) {
        words += handover_words(width, height, level);
    }
    return words;
}

// ---- per_level.comp, per_level_arguments.comp, subtree.comp ------------------------------------

const QUADTILE_UINT SUBDIVISION_WORKGROUP_SIZE = 256;

// Nodes of a list are handed from pass to pass as (layer * height + y) * width + x, in nodes of their
// level. Nodes of level 1 never are: their children are tiles whatever they hold.
const QUADTILE_UINT LOWEST_LISTED_LEVEL = 2;

const QUADTILE_UINT PASS_FIRST = 1;  // starts at the roots, not at a list
const QUADTILE_UINT PASS_LAST = 2;   // leaves no list, completes the header

struct SubdivisionParameters {
    QUADTILE_UINT width;  // of the map, texels
    QUADTILE_UINT height;
    QUADTILE_UINT layers;
    QUADTILE_UINT pass;
    QUADTILE_UINT pass_flags;
    QUADTILE_UINT upper_level;  // of the nodes that the pass starts from
    QUADTILE_UINT lower_level;  // of the nodes that it descends to
    QUADTILE_UINT next_depth;   // levels that the next pass descends
    QUADTILE_UINT input_offset;   // of the pass's list in the node words
    QUADTILE_UINT output_offset;  // of the next pass's
    QUADTILE_UINT max_workgroup_count;
    QUADTILE_UINT tile_capacity;
    QUADTILE_UINT unorm_bits;  // 8 or 16 for maps of unorm formats, else 0
    float thresholds[MAX_LEVELS];
};

// A pass over a list: VkDispatchIndirectCommand, then the length of the list.
struct SubdivisionPass {
    QUADTILE_UINT dispatch_x;
    QUADTILE_UINT dispatch_y;
    QUADTILE_UINT dispatch_z;
    QUADTILE_UINT node_count;
};

// All zero between runs. The node lists follow it.
struct SubdivisionState {
    QUADTILE_UINT tile_count;
    QUADTILE_UINT finished_workgroups;  // of the last pass
    QUADTILE_UINT reserved0;
    QUADTILE_UINT reserved1;
    SubdivisionPass passes[MAX_LEVELS];
};

// Workgroups for `nodes` nodes of 4^depth threads each.
QUADTILE_SHARED QUADTILE_UINT workgroups_for(QUADTILE_UINT nodes, QUADTILE_UINT depth) {
    const QUADTILE_UINT workgroup_depth = 4;  // 4^4 = SUBDIVISION_WORKGROUP_SIZE
    if (depth >= workgroup_depth) {
        return nodes << (2 * (depth - workgroup_depth));
    }
    const QUADTILE_UINT shift = 2 * (workgroup_depth - depth);
    return (nodes + (1U << shift) - 1) >> shift;
}

// A count of workgroups folded into x and y, neither above the device's limit; x * y may exceed it.
QUADTILE_SHARED QUADTILE_UINT folded_x(QUADTILE_UINT workgroups, QUADTILE_UINT limit) {
    return workgroups < limit ? workgroups : limit;
}

QUADTILE_SHARED QUADTILE_UINT folded_y(QUADTILE_UINT workgroups, QUADTILE_UINT limit) {
    return (workgroups + limit - 1) / limit;
}

QUADTILE_NAMESPACE_END

#endif
