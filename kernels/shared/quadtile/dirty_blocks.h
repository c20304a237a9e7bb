/// \file
/// Rectangles that have changed, for mip levels and tile lists that are brought up to date.

#ifndef QUADTILE_DIRTY_BLOCKS_H
#define QUADTILE_DIRTY_BLOCKS_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

/// Texels of one layer of the source that have changed.
struct DirtyRectangle {
    QUADTILE_UINT x;       ///< of its left column, texels
    QUADTILE_UINT y;       ///< of its top row
    QUADTILE_UINT width;   ///< texels
    QUADTILE_UINT height;  ///< texels
    QUADTILE_UINT layer;   ///< the one that it lies in
};

/// What the library makes of a list of rectangles on the GPU: VkDispatchIndirectCommand, then the
/// number of touched blocks. The blocks' numbers follow, (layer * rows + y) * columns + x in no
/// order, then as many marks, one a block, that keep a block from being listed twice. Marks are
/// zero between runs.
struct DirtyBlocksHeader {
    QUADTILE_UINT dispatch_x;   ///< VkDispatchIndirectCommand: a workgroup for each touched block
    QUADTILE_UINT dispatch_y;   ///< above 1 where there are more than x may have
    QUADTILE_UINT dispatch_z;   ///< 1
    QUADTILE_UINT block_count;  ///< touched blocks
    QUADTILE_UINT blocks;       ///< of the image, touched or not
    QUADTILE_UINT listed;       ///< while the list is being made
    QUADTILE_UINT finished_workgroups;  ///< while the list is being made
    QUADTILE_UINT reserved;             ///< not used
};

QUADTILE_NAMESPACE_END

#endif
