/// \file
/// The quadtree over a map of any size, and the layout of the pyramid buffer.
///
/// Level l of a map of w x h texels has ceil(w / 2^l) x ceil(h / 2^l) nodes; level 0 is the map.
/// The pyramid holds the levels from 1 on, as 32-bit floats, side by side in rows of one pitch:
///
///     +---------+----+
///     | level 1 | 2  |   Level 1 at (0, 0). The others in a column to its right, level 2 on top.
///     |         +----+   Layer after layer.
///     |         | 3 .|
///     +---------+----+

#ifndef QUADTILE_QUADTREE_H
#define QUADTILE_QUADTREE_H

#include "language.h"
#include "limits.h"

QUADTILE_NAMESPACE_BEGIN

/// Returns the nodes along one axis of a level: ceil(extent / 2^level), for extent >= 1.
QUADTILE_SHARED uint level_extent(uint extent, uint level) {
    return ((extent - 1) >> level) + 1;
}

/// Returns the sum of floor(n / 2^i) over all i >= 1 (Legendre's formula).
QUADTILE_SHARED uint sum_of_halves(uint n) {
    return n - QUADTILE_BIT_COUNT(n);
}

/// Returns the left column of a level (>= 1) in the pyramid of a map of `width` texels.
QUADTILE_SHARED uint level_offset_x(uint width, uint level) {
    return level == 1 ? 0 : level_extent(width, 1);
}

/// Returns the top row of a level (>= 1): the summed heights of the levels 2 to level - 1. With n =
/// height - 1 each height is (n >> i) + 1, which gives a closed form.
QUADTILE_SHARED uint level_offset_y(uint height, uint level) {
    if (level == 1) {
        return 0;
    }
    return (level - 2) + sum_of_halves((height - 1) >> 1) -
           sum_of_halves((height - 1) >> (level - 1));
}

/// Returns the floats from one row of the pyramid to the next: whole cache lines of 128 bytes.
QUADTILE_SHARED uint pyramid_pitch(uint width) {
    return (level_extent(width, 1) + level_extent(width, 2) + 31) & ~31U;
}

/// Returns the rows of one layer of the pyramid, with some for levels above the root for brevity.
QUADTILE_SHARED uint pyramid_rows(uint height) {
    const uint column = level_offset_y(height, MAX_LEVELS);
    const uint level_1 = level_extent(height, 1);
    return column > level_1 ? column : level_1;
}

/// Returns the place of a node of level 1 or above in the pyramid, in floats.
QUADTILE_SHARED uint pyramid_index(uint width, uint height, uint level, uint x, uint y,
                                   uint layer) {
    const uint row = layer * pyramid_rows(height) + level_offset_y(height, level) + y;
    return row * pyramid_pitch(width) + level_offset_x(width, level) + x;
}

/// Returns the place of a node in a buffer of thresholds, in floats: level 0 of all layers row by
/// row, then the other levels as in the pyramid.
QUADTILE_SHARED uint threshold_map_index(uint width, uint height, uint layers, uint level, uint x,
                                         uint y, uint layer) {
    if (level == 0) {
        return (layer * height + y) * width + x;
    }
    return layers * height * width + pyramid_index(width, height, level, x, y, layer);
}

/// Returns the lower 16 bits of a word, with a 0 above each.
QUADTILE_SHARED uint spread_bits(uint v) {
    v = (v | (v << 8)) & 0x00ff00ffU;
    v = (v | (v << 4)) & 0x0f0f0f0fU;
    v = (v | (v << 2)) & 0x33333333U;
    v = (v | (v << 1)) & 0x55555555U;
    return v;
}

/// Reverses spread_bits: returns every second bit of a word, from the lowest on.
QUADTILE_SHARED uint gather_bits(uint v) {
    v = v & 0x55555555U;
    v = (v | (v >> 1)) & 0x33333333U;
    v = (v | (v >> 2)) & 0x0f0f0f0fU;
    v = (v | (v >> 4)) & 0x00ff00ffU;
    v = (v | (v >> 8)) & 0x0000ffffU;
    return v;
}

/// Returns the place of (x, y), each below 2^16, on the Z-order curve (Morton 1966).
QUADTILE_SHARED uint morton_encode(uint x, uint y) {
    return spread_bits(x) | (spread_bits(y) << 1);
}

/// Returns the x of a place on the Z-order curve.
QUADTILE_SHARED uint morton_x(uint code) {
    return gather_bits(code);
}
/// Returns the y of a place on the Z-order curve.
QUADTILE_SHARED uint morton_y(uint code) {
    return gather_bits(code >> 1);
}

QUADTILE_NAMESPACE_END

#endif
