/// \file
/// Fitted virtual shadow maps: constants and structs, as buffers and push constants hold them;
/// slots in the atlas, thresholds for splits and slot classes, crop matrices.

#ifndef QUADTILE_SHADOW_TYPES_H
#define QUADTILE_SHADOW_TYPES_H

#include "budget.h"
#include "quadtree.h"

QUADTILE_NAMESPACE_BEGIN

const uint SHADOW_MAX_LIGHTS = 256;    ///< layers of the map
const uint SHADOW_FACES = 6;           ///< of a point light, one layer each
const uint SHADOW_MAX_LEVELS = 8;      ///< sun levels, at most; one layer each
const uint SHADOW_CLASSES = 5;         ///< of slots, each twice as wide as the class below
const uint SHADOW_PAGE_CELLS = 256;    ///< of the largest slot: 4^(SHADOW_CLASSES - 1)
const uint SHADOW_NONE = 0xffffffffU;  ///< no tile, no slot
const uint SHADOW_SQUARE = 4;          ///< pixels on a side, of which one requests and is looked up
const uint SHADOW_ASKED_BLOCK = 8;     ///< texels of the map on a side, of a mark

/// Hysteresis. Slots grow, and tiles are split, at their threshold t. Slots shrink, and tiles are
/// merged, below SHADOW_MERGE_RATIO * t.
QUADTILE_SHARED const float SHADOW_MERGE_RATIO = 0.8F;
/// Share of its importance that a texel of the map keeps from frame to frame: half in 14 frames. It
/// prevents tiles from coming and going with requests that do, for example at edges of objects.
QUADTILE_SHARED const float SHADOW_IMPORTANCE_DECAY = 0.95F;
/// Factor on the shadow texels at edges of shadows, the only places where texels can be seen.
QUADTILE_SHARED const float SHADOW_EDGE_SCALE = 8.0F;
/// Least ratio of a pixel's area on the map to the sum of its squared lengths: 1 / (s + 1 / s) for
/// an ellipse whose axes have the ratio s = 4. Surfaces get more texels at grazing light up to that
/// ratio of a shadow's length to its width.
QUADTILE_SHARED const float SHADOW_LEAST_AREA = 4.0F / 17.0F;

// What a pixel that faces a light tells of it; | joins several pixels.
const uint SHADOW_LIT = 1;     ///< the light reaches it
const uint SHADOW_SHADED = 2;  ///< the light does not

// ---- Header flags

/// The atlas was too fragmented for the new slots: all slots were laid out and are drawn again.
const uint SHADOW_REPACKED = 1;

// ---- Tile states

const uint SHADOW_KEPT = 1;    ///< it was a tile of the last frame, too
const uint SHADOW_RENDER = 2;  ///< its slot must be drawn in this frame

/// A layer of a light.
struct ShadowLight {
    float clip_from_world[16];  ///< by column, as in GLSL; depth 0 near the light, 1 far
    /// Homogeneous map coordinates (x, y, depth in the light's clip space, w) from (column, row,
    /// depth, 1) of the depth buffer: 4 rows of 4. Columns and rows are those of pixel centres,
    /// which begin at 0.5.
    float map_from_pixel[16];
    float facing;        ///< sign of the Jacobian of surfaces that face camera and light: 1, -1
    float texel_extent;  ///< of a texel of the map, in units of the world; at w = 1
    float perspective;   ///< 1: perspective, w is a distance; 0: a sun, w is 1
    float weight;        ///< shadow texels per pixel, along a side
    /// Number of layers, from this one on, that form one light: 1; SHADOW_FACES for the first face
    /// of a point light; up to SHADOW_MAX_LEVELS for the first sun level; 0 for the others.
    uint layers;
    /// Greatest w of a pixel that the light reaches; infinite for suns. Pixels beyond request
    /// nothing.
    float range;
};

/// A box in the world in which a caster of shadows has changed since the last frame. A moving
/// object has two: its old and its new bounds. Empty if low > high along an axis.
struct ShadowChange {
    float low[3];    ///< corner with the least coordinates
    uint is_static;  ///< 1: of a static caster, so all is drawn again; 0: of a moving one
    float high[3];   ///< the opposite corner
    uint reserved;   ///< 0
};

/// Description of a frame; made by make_shadow_frame (quadtile/shadow.hpp).
struct ShadowFrame {
    uint depth_width;                       ///< of the depth buffer, pixels
    uint depth_height;                      ///< of the depth buffer, pixels
    float background_depth;                 ///< depth of pixels without a surface
    uint layers;                            ///< number of layers up to the last used one
    ShadowLight lights[SHADOW_MAX_LIGHTS];  ///< one per layer; all 0: the layer is unused
};

/// Constants of all frames. Push constants.
struct ShadowParameters {
    uint lights;        ///< layers of the map
    uint map_levels;    ///< the map has 2^map_levels texels on a side
    uint atlas_levels;  ///< the atlas has 2^atlas_levels texels on a side
    uint tile_extent;   ///< of the largest slot, texels on a side, a power of two
    uint gutter;        ///< texels at each edge of a slot
    uint max_tiles;     ///< in all layers together
};

/// A tile, its slot, and its crop matrix.
struct ShadowTile {
    uint position;  ///< as Tile::position: x, y << 16, in units of 2^level texels
    uint node;      ///< as Tile::node: level, flags << 8, layer (the light) << 16
    uint slot;      ///< first column and row << 16 in the atlas, texels
    uint state;     ///< class in bits 0-7, SHADOW_KEPT, SHADOW_RENDER << 8
    /// Crop matrix: from the light's clip coordinates (x, y, z, w) to those of the atlas,
    /// (crop_scale * x + crop_x * w, crop_scale * y + crop_y * w, z, w).
    float crop_scale;
    float crop_x;      ///< of the crop matrix
    float crop_y;      ///< of the crop matrix
    float importance;  ///< texels needed across a texel of the map: the tile's maximum
};

/// Outcome of a frame, for consumers on the GPU.
struct ShadowHeader {
    uint tiles;         ///< in the list; 0 before the first frame
    uint kept;          ///< those that were tiles of the last frame
    uint added;         ///< those that were not
    uint removed;       ///< tiles of the last frame that are gone
    uint flags;         ///< SHADOW_REPACKED
    uint used_cells;    ///< of the atlas, in slots
    uint factor_index;  ///< index for budget_factor
    float factor;       ///< divisor of all resolutions that keeps the budgets
    /// VkDrawIndirectCommand for clearing the slots: one instance per tile of `render`, with four
    /// vertices (a triangle strip).
    uint render_vertex_count;    ///< 4
    uint render_count;           ///< tiles to draw
    uint render_first_vertex;    ///< 0
    uint render_first_instance;  ///< 0
    /// The same for the first tiles of `render`, in which static casters are drawn, too. In the
    /// others only moving casters have changed.
    uint static_vertex_count;    ///< 4
    uint static_count;           ///< tiles to draw whole
    uint static_first_vertex;    ///< 0
    uint static_first_instance;  ///< 0
    uint resized;                ///< tiles that are kept, but with a new slot
    uint instances;  ///< of all record_cull: pairs of object and tile, also without room
    uint reserved0;  ///< 0
    uint reserved1;  ///< 0
};

/// Triangles of one draw with their bounding box, for culling against the tiles.
struct ShadowObject {
    float low[3];       ///< corner of the bounding box in the world
    uint index_count;   ///< as in VkDrawIndexedIndirectCommand
    float high[3];      ///< the opposite corner
    uint first_index;   ///< into the index buffer
    int vertex_offset;  ///< added to indices
};

// ---- Slots

/// Returns the texels on a side of a slot.
QUADTILE_SHARED uint shadow_slot_extent(uint tile_extent, uint slot_class) {
    return tile_extent >> (SHADOW_CLASSES - 1 - slot_class);
}

/// Returns the texels on a side of a slot's core.
QUADTILE_SHARED uint shadow_core(ShadowParameters parameters, uint slot_class) {
    return shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter;
}

/// Returns the cells of a slot.
QUADTILE_SHARED uint shadow_slot_cells(uint slot_class) {
    return 1U << (2 * slot_class);
}

/// Returns the cells of the atlas.
QUADTILE_SHARED uint shadow_atlas_cells(ShadowParameters parameters) {
    const uint side =
        (1U << parameters.atlas_levels) / shadow_slot_extent(parameters.tile_extent, 0);
    return side * side;
}

/// Returns the budget of the atlas, P, in cells. The rest is room for new tiles beside those that
/// stay. At least one slot of the largest class.
QUADTILE_SHARED uint shadow_max_cells(ShadowParameters parameters) {
    const uint cells = shadow_atlas_cells(parameters);
    return cells > SHADOW_PAGE_CELLS ? cells - cells / 8 : SHADOW_PAGE_CELLS;
}

/// Returns ShadowTile::slot of the slot that begins at a cell, as counted along the Z-order curve.
QUADTILE_SHARED uint shadow_slot_of_cell(uint tile_extent, uint cell) {
    const uint extent = shadow_slot_extent(tile_extent, 0);
    return (morton_x(cell) * extent) | ((morton_y(cell) * extent) << 16);
}

/// Inverts shadow_slot_of_cell.
QUADTILE_SHARED uint shadow_cell_of_slot(uint tile_extent, uint slot) {
    const uint extent = shadow_slot_extent(tile_extent, 0);
    return morton_encode((slot & 0xffffU) / extent, (slot >> 16) / extent);
}

// ---- The page table

/// Returns an entry of the page table: the tile that covers the texel, and its level.
QUADTILE_SHARED uint shadow_page(uint tile, uint level) {
    return tile | (level << 16);
}
/// Returns the tile of an entry of the page table.
QUADTILE_SHARED uint shadow_page_tile(uint page) {
    return page & 0xffffU;
}
/// Returns the level of the tile of an entry of the page table.
QUADTILE_SHARED uint shadow_page_level(uint page) {
    return page >> 16;
}

// ---- Thresholds

/// value / 2^level
QUADTILE_SHARED float shadow_at_level(float value, uint level) {
    return value * float_from_bits(BITS_ONE - (level << 23));
}

/// Returns the importance that the core of a class no longer holds, before factors. From there on a
/// tile gets the next class; with the largest core it is split. `was_above`: it was so in the last
/// frame.
QUADTILE_SHARED float shadow_threshold(ShadowParameters parameters, uint level, uint slot_class,
                                       bool was_above) {
    const float core = float(shadow_core(parameters, slot_class));
    return shadow_at_level(was_above ? core * SHADOW_MERGE_RATIO : core, level);
}

/// Returns the class of a tile with a factor: the number of thresholds that its importance reaches.
/// `last_class`: class of the same tile in the last frame, 0 if there was none.
QUADTILE_SHARED uint shadow_class(ShadowParameters parameters, uint level, float importance,
                                  uint last_class, uint factor_index) {
    uint slot_class = 0;
    for (uint c = 1; c < SHADOW_CLASSES; ++c) {
        const float threshold = shadow_threshold(parameters, level, c - 1, last_class >= c);
        slot_class += importance >= scaled_threshold(threshold, factor_index) ? 1 : 0;
    }
    return slot_class;
}

// ---- Crop matrices

/// Returns the texels of the atlas per texel of the map, in a slot of this class.
QUADTILE_SHARED float shadow_crop_density(ShadowParameters parameters, uint level,
                                          uint slot_class) {
    return shadow_at_level(float(shadow_core(parameters, slot_class)), level);
}

/// Returns ShadowTile::crop_scale. It is exact: all factors but the core's texels are powers of
/// two.
QUADTILE_SHARED float shadow_crop_scale(ShadowParameters parameters, uint level, uint slot_class) {
    const float map_extent = float(1U << parameters.map_levels);
    return shadow_crop_density(parameters, level, slot_class) *
           shadow_at_level(map_extent, parameters.atlas_levels);
}

/// Returns ShadowTile::crop_x or crop_y for the tile's x or y and its slot's first column or row.
QUADTILE_SHARED float shadow_crop_offset(ShadowParameters parameters, uint level, uint slot_class,
                                         uint tile_coordinate, uint slot_coordinate) {
    const uint core = shadow_core(parameters, slot_class);
    const int origin = int(slot_coordinate + parameters.gutter) - int(tile_coordinate * core);
    return shadow_crop_scale(parameters, level, slot_class) +
           shadow_at_level(float(2 * origin), parameters.atlas_levels) - 1.0F;
}

/// Returns the width of the gutter on the map, in texels of the map, rounded up.
QUADTILE_SHARED uint shadow_gutter_map_texels(ShadowParameters parameters, uint level,
                                              uint slot_class) {
    const uint core = shadow_core(parameters, slot_class);
    return ((parameters.gutter << level) + core - 1) / core;
}

QUADTILE_NAMESPACE_END

#endif
