/// \file
/// Fitted virtual shadow maps: constants and structs, as buffers and push constants hold them.

#ifndef QUADTILE_SHADOW_TYPES_H
#define QUADTILE_SHADOW_TYPES_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT SHADOW_MAX_LIGHTS = 16;     ///< layers of the map
const QUADTILE_UINT SHADOW_FACES = 6;           ///< of a point light, a layer each
const QUADTILE_UINT SHADOW_MAX_LEVELS = 8;      ///< of a parallel light, a layer each
const QUADTILE_UINT SHADOW_CLASSES = 5;         ///< of slots, each twice as wide
const QUADTILE_UINT SHADOW_PAGE_CELLS = 256;    ///< 4^(SHADOW_CLASSES - 1)
const QUADTILE_UINT SHADOW_NONE = 0xffffffffU;  ///< no tile, no slot
const QUADTILE_UINT SHADOW_EDGE_BLOCK = 8;      ///< pixels on a side: where edges are looked for
const QUADTILE_UINT SHADOW_ASKED_BLOCK = 8;     ///< texels of the map on a side: asked for at once
const QUADTILE_UINT SHADOW_REQUEST_STRIDE = 2;  ///< pixels from one that asks to the next
const QUADTILE_UINT SHADOW_SIGHT_STRIDE = 4;    ///< pixels from one that is looked up to the next

// ---- Lit masks: words of ShadowFitter::Resources::lit; those of many pixels are put together with
// |

/// Bit l: light l (of several layers: its first one) reaches the pixel. Bit 16 + l: what is seen
/// faces light l, but lies in shadow.
const QUADTILE_UINT SHADOW_LIT = 0x0000ffffU;

// ---- Header flags

/// The atlas was too scattered for the slots that came new: all were laid out and are drawn again.
const QUADTILE_UINT SHADOW_REPACKED = 1;

// ---- Tile states

const QUADTILE_UINT SHADOW_KEPT = 1;    ///< was a tile of the last frame, too
const QUADTILE_UINT SHADOW_RENDER = 2;  ///< its slot must be cleared and drawn in this frame

/// A light as the GPU sees it.
struct ShadowLight {
    float clip_from_world[16];  ///< by column, as GLSL has matrices; depth 0 near the light, 1 far
    /// Map coordinates, homogeneous (x, y, w), from (column, row, depth, 1) of the depth buffer: 3
    /// rows of 4. Columns and rows are those of pixel centres: 0.5 in the first.
    float map_from_pixel[12];
    /// Depth in the light's clip space, times w, from the same.
    float depth_from_pixel[4];
    float facing;  ///< the sign of the Jacobian where a surface faces camera and light: 1 or -1
    float texel_extent;  ///< of the map, in units of the world; at w = 1 where there is perspective
    float perspective;   ///< 1 where w is a distance, 0 where it is 1
    float weight;        ///< as many times the shadow texels, along a side
    /// Layers from this one on that are one light: 1; SHADOW_FACES for the first face of a point
    /// light, up to SHADOW_MAX_LEVELS for the first level of a parallel one; 0 for others of
    /// theirs.
    QUADTILE_UINT layers;
};

/// A box in the world in which something that casts shadows has changed since the last frame. What
/// moves has two of them: where it was, and where it is. Of no extent where low > high along an
/// axis.
struct ShadowChange {
    float low[3];              ///< corner with the least coordinates
    QUADTILE_UINT light_mask;  ///< bit l: casts shadows in light l
    float high[3];             ///< the opposite corner
    QUADTILE_UINT reserved;    ///< 0
};

/// What changes from frame to frame; made by make_shadow_frame (quadtile/shadow.hpp).
struct ShadowFrame {
    QUADTILE_UINT depth_width;              ///< of the depth buffer, pixels
    QUADTILE_UINT depth_height;             ///< of the depth buffer, pixels
    float background_depth;                 ///< that the depth buffer has where there is nothing
    QUADTILE_UINT reserved;                 ///< 0
    ShadowLight lights[SHADOW_MAX_LIGHTS];  ///< one for each layer of the map
};

/// What stays from frame to frame. Push constants.
struct ShadowParameters {
    QUADTILE_UINT lights;        ///< layers of the map
    QUADTILE_UINT map_levels;    ///< the map has 2^map_levels texels on a side
    QUADTILE_UINT atlas_levels;  ///< the atlas has 2^atlas_levels texels on a side
    QUADTILE_UINT tile_extent;   ///< of the largest slot, texels on a side, a power of two
    QUADTILE_UINT gutter;        ///< texels at each edge of a slot
    QUADTILE_UINT max_tiles;     ///< in all layers together
    QUADTILE_UINT max_cells;     ///< of the atlas, that slots take
    /// The least ratio of a pixel's area on the map to the sum of its squared lengths: 1 / (s + 1 /
    /// s) for an ellipse whose axes have the ratio s, ShadowOptions::max_stretch.
    float least_area;
    float resolution_scale;  ///< shadow texels for each pixel, along a side
    float edge_scale;        ///< as many more beside shadows' edges
    float importance_decay;  ///< of what was needed in the last frame
    /// Cores of the classes in texels, as floats: what a slot of the class below must not need to
    /// reach; that of the largest class is the threshold for splitting.
    float cores[SHADOW_CLASSES];
    float kept_cores[SHADOW_CLASSES];  ///< the same for what was above it in the last frame
};

/// A tile, its slot, and how to draw into it.
struct ShadowTile {
    QUADTILE_UINT position;  ///< as Tile::position: x, y << 16 in units of 2^level texels
    QUADTILE_UINT node;      ///< as Tile::node: level, flags << 8, layer (the light) << 16
    QUADTILE_UINT slot;      ///< first column and row << 16 in the atlas, texels
    QUADTILE_UINT state;     ///< class in bits 0-7, SHADOW_KEPT, SHADOW_RENDER << 8
    /// The crop matrix: clip coordinates of the atlas are (crop_scale * x + crop_x * w, crop_scale
    /// * y + crop_y * w, z, w) of those of the light.
    float crop_scale;
    float crop_x;      ///< of the crop matrix
    float crop_y;      ///< of the crop matrix
    float importance;  ///< texels needed across a texel of the map: the tile's maximum
};

/// The outcome of a frame, for consumers on the GPU.
struct ShadowHeader {
    QUADTILE_UINT tiles;         ///< in the list; 0 before the first frame
    QUADTILE_UINT kept;          ///< of them, that were tiles of the last frame
    QUADTILE_UINT added;         ///< of them, that were not
    QUADTILE_UINT removed;       ///< tiles of the last frame that are none any more
    QUADTILE_UINT flags;         ///< SHADOW_REPACKED
    QUADTILE_UINT used_cells;    ///< of the atlas
    QUADTILE_UINT factor_index;  ///< of budget_factor
    float factor;                ///< that all resolutions were divided by to keep the budgets
    /// VkDrawIndirectCommand: one instance a tile of `render`, four vertices each (a triangle
    /// strip): to clear the slots.
    QUADTILE_UINT render_vertex_count;    ///< 4
    QUADTILE_UINT render_count;           ///< tiles to draw
    QUADTILE_UINT render_first_vertex;    ///< 0
    QUADTILE_UINT render_first_instance;  ///< 0
    QUADTILE_UINT resized;                ///< tiles that are kept, but with another slot
    QUADTILE_UINT instances;  ///< of record_cull: pairs of an object and a tile, found room or not
    QUADTILE_UINT reserved0;  ///< 0
    QUADTILE_UINT reserved1;  ///< 0
};

/// A box of triangles that are drawn in one go, for culling against the tiles.
struct ShadowObject {
    float low[3];                ///< corner of the bounding box in the world
    QUADTILE_UINT index_count;   ///< VkDrawIndexedIndirectCommand, as the others
    float high[3];               ///< the opposite corner
    QUADTILE_UINT first_index;   ///< into the index buffer
    QUADTILE_INT vertex_offset;  ///< added to indices
    QUADTILE_UINT light_mask;    ///< bit l: casts shadows in light l
    QUADTILE_UINT reserved0;     ///< 0
    QUADTILE_UINT reserved1;     ///< 0
};

QUADTILE_NAMESPACE_END

#endif
