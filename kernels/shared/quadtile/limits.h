/// \file
/// Limits that follow from the tile record and from the kernels' shapes.

#ifndef QUADTILE_LIMITS_H
#define QUADTILE_LIMITS_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

/// Largest extent of a map: tile coordinates have 16 bits, so the levels are 0 to 16.
const uint MAX_MAP_EXTENT = 65536;
const uint MAX_TOP_LEVEL = 16;              ///< level of the root of the largest map
const uint MAX_LEVELS = MAX_TOP_LEVEL + 1;  ///< from level 0 to that root

/// Most layers of a map: a tile's layer has 16 bits.
const uint MAX_LAYERS = 65536;

/// Most levels below the root of a subtree, for the strategy `subtree`.
const uint MAX_SUBTREE_LEVELS = 8;

/// Word that Pyramid and Downsampler leave for a layer after a run that has failed.
const uint LOST_RUN = 0xffffffffU;

/// Descriptors through which the kernels see a tile list or a pyramid, one after the other in the
/// same buffer. It may be longer than one storage buffer descriptor reaches.
const uint BUFFER_CHUNKS = 4;

QUADTILE_NAMESPACE_END

#endif
