/// \file
/// Fitted virtual shadow maps: slots in the atlas, order of tiles, thresholds for splits and slot
/// classes, crop matrices.

#ifndef QUADTILE_SHADOW_SLOTS_H
#define QUADTILE_SHADOW_SLOTS_H

#include "budget.h"
#include "quadtree.h"
#include "shadow_types.h"

QUADTILE_NAMESPACE_BEGIN

// ---- Slots

/// Returns the texels on a side of a slot.
QUADTILE_SHARED uint shadow_slot_extent(uint tile_extent, uint slot_class) {
    return tile_extent >> (SHADOW_CLASSES - 1 - slot_class);
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

/// Returns the importance from which on a node is split, before factors. `was_split`: in the last
/// frame.
QUADTILE_SHARED float shadow_split_threshold(ShadowParameters parameters, uint level,
                                             bool was_split) {
    return shadow_at_level(was_split ? parameters.kept_cores[SHADOW_CLASSES - 1]
                                     : parameters.cores[SHADOW_CLASSES - 1],
                           level);
}

/// Returns the importance from which on a tile is of class `slot_class` >= 1, before factors: it no
/// longer fits into the core of the class below. `last_class`: class of the same tile in the last
/// frame, 0 if there was none.
QUADTILE_SHARED float shadow_class_threshold(ShadowParameters parameters, uint level,
                                             uint slot_class, uint last_class) {
    return shadow_at_level(last_class >= slot_class ? parameters.kept_cores[slot_class - 1]
                                                    : parameters.cores[slot_class - 1],
                           level);
}

/// Returns the class of a tile with a factor: the number of thresholds that its importance reaches.
QUADTILE_SHARED uint shadow_class(ShadowParameters parameters, uint level, float importance,
                                  uint last_class, uint factor_index) {
    uint slot_class = 0;
    for (uint c = 1; c < SHADOW_CLASSES; ++c) {
        const float threshold = shadow_class_threshold(parameters, level, c, last_class);
        slot_class += importance >= scaled_threshold(threshold, factor_index) ? 1 : 0;
    }
    return slot_class;
}

// ---- Crop matrices

/// Returns the texels of the atlas per texel of the map, in a slot of this class.
QUADTILE_SHARED float shadow_crop_density(ShadowParameters parameters, uint level,
                                          uint slot_class) {
    return shadow_at_level(
        float(shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter),
        level);
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
    const uint core =
        shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter;
    const int origin = int(slot_coordinate + parameters.gutter) - int(tile_coordinate * core);
    return shadow_crop_scale(parameters, level, slot_class) +
           shadow_at_level(float(2 * origin), parameters.atlas_levels) - 1.0F;
}

/// Returns the width of the gutter on the map, in texels of the map, rounded up.
QUADTILE_SHARED uint shadow_gutter_map_texels(ShadowParameters parameters, uint level,
                                              uint slot_class) {
    const uint core =
        shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter;
    return ((parameters.gutter << level) + core - 1) / core;
}

QUADTILE_NAMESPACE_END

#endif
