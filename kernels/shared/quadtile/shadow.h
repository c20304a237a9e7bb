/// \file
/// Fitted virtual shadow maps: definitions shared by the kernels, their CPU twin and user shaders.
///
/// A light sees the scene in its clip space. Its *map* is the square of that view, x and y from -1
/// to 1, as texels: column (x / w + 1) / 2 * map_extent. The map is cut into the tiles of a
/// quadtree. Each tile has a square *slot* in the atlas, a depth image that all lights share.
///
/// Slots have one of SHADOW_CLASSES extents: class c has tile_extent >> (SHADOW_CLASSES - 1 - c)
/// texels on a side. `gutter` texels at each edge show the surroundings of the tile, so that a
/// filter never reads another slot. The other texels, the *core*, show the tile. The atlas is made
/// of *cells*, the slots of class 0. A slot of the largest class has SHADOW_PAGE_CELLS of them.
///
/// Each operation is exact or rounded once, and none uses the device's division or root. So results
/// on CPU and GPU are bit-identical.

#ifndef QUADTILE_SHADOW_H
#define QUADTILE_SHADOW_H

#include "shadow_request.h"
#include "tile_list.h"

#endif
