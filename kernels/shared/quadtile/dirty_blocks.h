// Rectangles that have changed, for mip levels that are brought up to date.

#ifndef QUADTILE_DIRTY_BLOCKS_H
#define QUADTILE_DIRTY_BLOCKS_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

// Texels of one layer of the source that have changed.
struct DirtyRectangle {
    QUADTILE_UINT x;
    QUADTILE_UINT y;
    QUADTILE_UINT width;
    QUADTILE_UINT height;
    QUADTILE_UINT layer;
};

// What the library makes of a list of rectangles on the GPU: VkDispatchIndirectCommand, then the
// number of touched blocks. The blocks' numbers follow, (layer * rows + y) * columns + x in no
// order, then as many marks, one a block, that keep a block from being listed twice. Marks are zero
// between runs.
struct DirtyBlocksHeader {
    QUADTILE_UINT dispatch_x;
    QUADTILE_UINT dispatch_y;
    QUADTILE_UINT dispatch_z;
    QUADTILE_UINT block_count;
    QUADTILE_UINT blocks;  // of the image, touched or not
    QUADTILE_UINT listed;  // while the list is being made
    QUADTILE_UINT finished_workgroups;
    QUADTILE_UINT reserved;
};

QUADTILE_NAMESPACE_END

#endif
