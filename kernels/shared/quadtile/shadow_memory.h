/// \file
/// Fitted virtual shadow maps: what kernels and host must know alike of the memory and of
/// workgroups. kernels/shadow/bindings.glsl describes the parts. Not for callers.

#ifndef QUADTILE_SHADOW_MEMORY_H
#define QUADTILE_SHADOW_MEMORY_H

#include "shadow_types.h"

QUADTILE_NAMESPACE_BEGIN

// ---- Parts of the memory

/// Places of the parts, in words behind the header.
struct ShadowPlaces {
    uint tiles;        ///< ShadowTile[max_tiles]
    uint render;       ///< uint[max_tiles]
    uint work;         ///< of one frame
    uint events;       ///< by factor
    uint nodes;        ///< of all maps' quadtrees
    uint blocks;       ///< of all maps
    uint last_lights;  ///< of the last frame
};

const uint SHADOW_TILE_WORDS = 8;         ///< of a ShadowTile
const uint SHADOW_FOUND_WORDS = 8;        ///< of a tile that was found; the last one is unused
const uint SHADOW_TALLY_WORDS = 8;        ///< of a block's tallies
const uint SHADOW_LAST_LIGHT_WORDS = 21;  ///< of a layer

/// Blocks have 2^5 texels on a side. Smaller maps are one block.
const uint SHADOW_BLOCK_LEVELS = 5;
const uint SHADOW_BLOCK_TEXELS = 1U << (2 * SHADOW_BLOCK_LEVELS);
/// Three words, two with a bit per texel, and one of marks.
const uint SHADOW_BLOCK_WORDS = 3 + 2 * SHADOW_BLOCK_TEXELS / 32 + 1;

/// Returns the levels from the root of a map to its blocks.
QUADTILE_SHARED uint shadow_levels_above(ShadowParameters parameters) {
    return parameters.map_levels > SHADOW_BLOCK_LEVELS ? parameters.map_levels - SHADOW_BLOCK_LEVELS
                                                       : 0;
}

/// Returns the blocks of a layer.
QUADTILE_SHARED uint shadow_light_blocks(ShadowParameters parameters) {
    return 1U << (2 * shadow_levels_above(parameters));
}

/// Returns the number of nodes in the first `levels` levels of a quadtree, from its root on.
QUADTILE_SHARED uint shadow_first_nodes(uint levels) {
    return ((1U << (2 * levels)) - 1) / 3;
}

// ---- Parts of importance.comp

const uint SHADOW_WHOLE = 0;
const uint SHADOW_STEPS = 1;
const uint SHADOW_REQUESTS = 2;

// ---- Workgroups

const uint SHADOW_PICTURE_BLOCK = 56;   ///< pixels on a side, of importance.comp
const uint SHADOW_STEP_GROUP = 256;     ///< layers, of importance.comp's steps
const uint SHADOW_ALLOCATE_GROUP = 64;  ///< tiles, of allocate.comp
const uint SHADOW_CULL_GROUP = 64;      ///< objects, of cull.comp
const uint SHADOW_CHANGE_GROUP = 64;    ///< boxes, of change.comp
const uint SHADOW_CHANGE_TILES = 8;     ///< tiles, the same

QUADTILE_NAMESPACE_END

#endif
