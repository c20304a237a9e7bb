/// \file
/// Dirty rectangles, for incremental updates of mip levels and tile lists.

#ifndef QUADTILE_DIRTY_BLOCKS_H
#define QUADTILE_DIRTY_BLOCKS_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

/// A rectangle of texels in one layer of the source that have changed.
struct DirtyRectangle {
    QUADTILE_UINT x;       ///< left column, texels
    QUADTILE_UINT y;       ///< top row
    QUADTILE_UINT width;   ///< texels
    QUADTILE_UINT height;  ///< texels
    QUADTILE_UINT layer;   ///< layer of the source
};

/// Header of the list of blocks that the library makes from rectangles on the GPU. It begins with a
/// VkDispatchIndirectCommand. Behind it lie the touched blocks' numbers, (layer * rows + y) *
/// columns + x, in no order. Then comes a mark per block of the image, which keeps a block from
/// being listed twice. Marks are 0 between runs.
struct DirtyBlocksHeader {
    QUADTILE_UINT dispatch_x;   ///< VkDispatchIndirectCommand: a workgroup per touched block
    QUADTILE_UINT dispatch_y;   ///< above 1 if there are more workgroups than x allows
    QUADTILE_UINT dispatch_z;   ///< 1
    QUADTILE_UINT block_count;  ///< number of touched blocks
    QUADTILE_UINT blocks;       ///< number of blocks of the image
    QUADTILE_UINT listed;       ///< touched blocks so far, while the list is made
    QUADTILE_UINT finished_workgroups;  ///< workgroups so far, while the list is made
    QUADTILE_UINT reserved;             ///< not used
};

QUADTILE_NAMESPACE_END

#endif
