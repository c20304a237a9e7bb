/// \file
/// Fitted virtual shadow maps: what kernels and host must know alike of the memory and of
/// workgroups. kernels/shadow/bindings.glsl describes the parts. Not for callers.

#ifndef QUADTILE_SHADOW_MEMORY_H
#define QUADTILE_SHADOW_MEMORY_H

#include "shadow_types.h"

QUADTILE_NAMESPACE_BEGIN

// ---- Parts of the memory

/// Bytes from which the frame's header and the words behind it begin at multiples: Vulkan's largest
/// alignment of storage buffers.
const QUADTILE_UINT SHADOW_ALIGNMENT_BYTES = 256;

/// Places of the parts, in words behind the header.
struct ShadowPlaces {
    QUADTILE_UINT tiles;        ///< ShadowTile[max_tiles]
    QUADTILE_UINT render;       ///< uint[max_tiles]
    QUADTILE_UINT work;         ///< of one frame
    QUADTILE_UINT events;       ///< by factor
    QUADTILE_UINT nodes;        ///< of all maps' quadtrees
    QUADTILE_UINT blocks;       ///< of all maps
    QUADTILE_UINT last_lights;  ///< of the last frame
};

const QUADTILE_UINT SHADOW_TILE_WORDS = 8;   ///< of a ShadowTile
const QUADTILE_UINT SHADOW_FOUND_WORDS = 8;  ///< of a tile that was found; the last one is unused
const QUADTILE_UINT SHADOW_TALLY_WORDS = 8;  ///< of a block's tallies
const QUADTILE_UINT SHADOW_LAST_LIGHT_WORDS = 21;  ///< of a layer
const QUADTILE_UINT SHADOW_CULLS = 48;             ///< counters of instances, behind the header

/// Blocks have 2^5 texels on a side. Smaller maps are one block.
const QUADTILE_UINT SHADOW_BLOCK_LEVELS = 5;
const QUADTILE_UINT SHADOW_BLOCK_TEXELS = 1U << (2 * SHADOW_BLOCK_LEVELS);
/// Three words, two with a bit per texel, and one of marks.
const QUADTILE_UINT SHADOW_BLOCK_WORDS = 3 + 2 * SHADOW_BLOCK_TEXELS / 32 + 1;

/// Returns the levels from the root of a map to its blocks.
QUADTILE_SHARED QUADTILE_UINT shadow_levels_above(ShadowParameters parameters) {
    return parameters.map_levels > SHADOW_BLOCK_LEVELS ? parameters.map_levels - SHADOW_BLOCK_LEVELS
                                                       : 0;
}

/// Returns the blocks of a layer.
QUADTILE_SHARED QUADTILE_UINT shadow_light_blocks(ShadowParameters parameters) {
    return 1U << (2 * shadow_levels_above(parameters));
}

/// Returns the number of nodes in the first `levels` levels of a quadtree, from its root on.
QUADTILE_SHARED QUADTILE_UINT shadow_first_nodes(QUADTILE_UINT levels) {
    return ((1U << (2 * levels)) - 1) / 3;
}

// ---- Workgroups

const QUADTILE_UINT SHADOW_PICTURE_BLOCK = 32;   ///< pixels on a side, of importance.comp
const QUADTILE_UINT SHADOW_ALLOCATE_GROUP = 64;  ///< tiles, of allocate.comp
const QUADTILE_UINT SHADOW_ALLOCATE_BYTES = 24;  ///< of shared memory for a thread, the same
const QUADTILE_UINT SHADOW_CULL_GROUP = 64;      ///< objects, of cull.comp
const QUADTILE_UINT SHADOW_CHANGE_GROUP = 64;    ///< boxes, of change.comp
const QUADTILE_UINT SHADOW_CHANGE_TILES = 8;     ///< tiles, the same

QUADTILE_NAMESPACE_END

#endif
