/// \file
/// The limits that follow from the tile record and from the kernels' shapes.

#ifndef QUADTILE_LIMITS_H
#define QUADTILE_LIMITS_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

/// Tile coordinates have 16 bits, so a map has at most 2^16 texels on a side: levels 0 to 16.
const QUADTILE_UINT MAX_MAP_EXTENT = 65536;
const QUADTILE_UINT MAX_TOP_LEVEL = 16;              ///< of the root of the largest map
const QUADTILE_UINT MAX_LEVELS = MAX_TOP_LEVEL + 1;  ///< from level 0 to that root

/// A tile's layer has 16 bits.
const QUADTILE_UINT MAX_LAYERS = 65536;

/// Subtrees of the strategy `subtree` have 1 to 8 levels below their root.
const QUADTILE_UINT MAX_SUBTREE_LEVELS = 8;

/// A tile list or a pyramid may be longer than one storage buffer descriptor reaches; the kernels
/// see each through this many descriptors, one after the other in the same buffer.
const QUADTILE_UINT BUFFER_CHUNKS = 4;

QUADTILE_NAMESPACE_END

#endif
