/// \file
/// Fitted virtual shadow maps: what the kernels, their CPU twin, and the shaders of the user share.
///
/// A light sees the scene in its clip space. Its *map* is the square of that view, x and y from -1
/// to 1, as texels: column (x / w + 1) / 2 * map_extent. The map is cut into the tiles of a
/// quadtree, and each tile has a square *slot* in the atlas, a depth image that all lights share.
///
/// Slots have one of SHADOW_CLASSES extents: class c has tile_extent >> (SHADOW_CLASSES - 1 - c)
/// texels on a side. `gutter` texels at each edge show what lies around the tile, so that a filter
/// never reads another slot; the others, the *core*, show the tile. The atlas is made of *cells*,
/// the slots of class 0; a *page* is a slot of the largest class, 256 cells.
///
/// All arithmetic here is exact or rounded once by each operation, never by the device's division
/// or root: so that CPU and GPU come to the same bits.

#ifndef QUADTILE_SHADOW_H
#define QUADTILE_SHADOW_H

#include "shadow_culling.h"
#include "shadow_request.h"
#include "shadow_slots.h"
#include "shadow_types.h"
#include "tile_list.h"

#endif
