/// \file
/// The tile list in C++ and in GLSL: one TileListHeader, and behind it the Tile records. In GLSL:
///
///     layout(std430, binding = 0) readonly buffer Tiles { TileListHeader header; Tile tiles[]; };

#ifndef QUADTILE_TILE_LIST_H
#define QUADTILE_TILE_LIST_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

// ---- Tile flags

const uint TILE_CLAMPED = 1;  ///< a texel whose importance is not below the threshold
// Only in balanced lists: the neighbour across that edge is one level coarser. If the flag is not
// set, the neighbours there are of the tile's level, one level finer, or outside the map.
const uint TILE_COARSER_LEFT = 2;     ///< at column x - 1
const uint TILE_COARSER_RIGHT = 4;    ///< at column x + 1
const uint TILE_COARSER_TOP = 8;      ///< at row y - 1
const uint TILE_COARSER_BOTTOM = 16;  ///< at row y + 1

// ---- Header flags

const uint TILE_LIST_OVERFLOW = 1;     ///< required > written: the buffer was too small
const uint TILE_LIST_OVER_BUDGET = 2;  ///< the largest factor leaves more tiles than the budget
/// The run has failed: it leaves no tiles, and what it counted is wrong (Subdivider::record).
const uint TILE_LIST_INCOMPLETE = 4;
const uint TILE_LIST_BALANCED = 8;  ///< its tiles have the flags TILE_COARSER_*

/// A tile: the node (level, x, y) of a layer's quadtree. It covers the texels
/// [x << level, (x + 1) << level) x [y << level, (y + 1) << level) that lie inside the map.
struct Tile {
    uint position;     ///< x in bits 0-15, y in bits 16-31, in units of 2^level texels
    uint node;         ///< level in bits 0-7, flags in bits 8-15, layer in bits 16-31
    float importance;  ///< the maximum over the covered texels; never NaN
    float threshold;   ///< value that the importance was compared with

#ifdef __cplusplus
    /// Returns the column, in units of 2^level texels.
    [[nodiscard]] constexpr std::uint32_t x() const {
        return position & 0xffffU;
    }
    /// Returns the row, in units of 2^level texels; row 0 is at the top.
    [[nodiscard]] constexpr std::uint32_t y() const {
        return position >> 16U;
    }
    /// Returns the level: 0 for a texel.
    [[nodiscard]] constexpr std::uint32_t level() const {
        return node & 0xffU;
    }
    /// Returns the flags: TILE_* combined, or 0.
    [[nodiscard]] constexpr std::uint32_t flags() const {
        return (node >> 8U) & 0xffU;
    }
    /// Returns the layer of the map.
    [[nodiscard]] constexpr std::uint32_t layer() const {
        return node >> 16U;
    }
    /// Returns whether the tile is a texel whose importance is not below its threshold.
    [[nodiscard]] constexpr bool clamped() const {
        return (flags() & TILE_CLAMPED) != 0;
    }
    /// Compares all members; importance and threshold compare as floats.
    friend constexpr bool operator==(const Tile&, const Tile&) = default;
#endif
};

#ifndef __cplusplus
// GLSL equivalents of the C++ members.
uint tile_x(Tile tile) {
    return tile.position & 0xffffU;
}
uint tile_y(Tile tile) {
    return tile.position >> 16;
}
uint tile_level(Tile tile) {
    return tile.node & 0xffU;
}
uint tile_flags(Tile tile) {
    return (tile.node >> 8) & 0xffU;
}
uint tile_layer(Tile tile) {
    return tile.node >> 16;
}
#endif

/// Header of a tile list, with everything that a consumer on the GPU needs.
struct TileListHeader {
    uint written;   ///< tiles in the buffer
    uint required;  ///< tiles of the subdivision, with those that did not fit
    uint flags;     ///< TILE_LIST_*
    uint capacity;  ///< tiles that the buffer has room for

    /// VkDispatchIndirectCommand: one workgroup per tile. The tile of a workgroup is
    /// gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; workgroups from `written` on do
    /// nothing.
    uint dispatch_x;
    uint dispatch_y;  ///< above 1 if there are more workgroups than x allows
    uint dispatch_z;  ///< 1
    uint reserved1;   ///< 0

    /// VkDrawIndirectCommand: one instance per tile, four vertices each (a triangle strip).
    uint draw_vertex_count;
    uint draw_instance_count;  ///< `written`
    uint draw_first_vertex;    ///< 0
    uint draw_first_instance;  ///< 0

    float threshold_factor;  ///< factor by which a budget scaled the thresholds; else 1
    uint reserved2;          ///< 0
    uint reserved3;          ///< 0
    uint reserved4;          ///< 0
};

/// Returns the word Tile::position, for x and y below 2^16.
QUADTILE_SHARED uint tile_position(uint x, uint y) {
    return x | (y << 16);
}

/// Returns the word Tile::node, for level and flags below 2^8 and layer below 2^16.
QUADTILE_SHARED uint tile_node(uint level, uint flags, uint layer) {
    return level | (flags << 8) | (layer << 16);
}

QUADTILE_NAMESPACE_END

#endif
