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

#include "budget.h"
#include "language.h"
#include "quadtree.h"
#include "tile_list.h"

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT SHADOW_MAX_LIGHTS = 16;       ///< layers of the map
const QUADTILE_UINT SHADOW_MAX_RECTANGLES = 256;  ///< of a frame, that have changed
const QUADTILE_UINT SHADOW_CLASSES = 5;           ///< of slots, each twice as wide
const QUADTILE_UINT SHADOW_PAGE_CELLS = 256;      ///< 4^(SHADOW_CLASSES - 1)
const QUADTILE_UINT SHADOW_NONE = 0xffffffffU;    ///< no tile, no slot
const QUADTILE_UINT SHADOW_EDGE_BLOCK = 8;        ///< pixels on a side: where edges are looked for

// ---- Lit masks: words of ShadowFitter::Resources::lit; those of many pixels are put together with
// |

/// Bit l: light l reaches the pixel. Bit 16 + l: what is seen faces light l, but lies in shadow.
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
    float facing;  ///< the sign of the Jacobian where a surface faces camera and light: 1 or -1
    float texel_extent;  ///< of the map, in units of the world; at w = 1 where there is perspective
    float perspective;   ///< 1 where w is a distance, 0 where it is 1
    float reserved;      ///< 0
};

/// Texels of a light's map that something has changed in: [x, end_x) x [y, end_y).
struct ShadowRectangle {
    QUADTILE_UINT light;  ///< layer of the map
    QUADTILE_UINT x;      ///< first column
    QUADTILE_UINT y;      ///< first row
    QUADTILE_UINT end_x;  ///< first column behind it
    QUADTILE_UINT end_y;  ///< first row behind it
};

/// What changes from frame to frame; made by make_shadow_frame (quadtile/shadow.hpp).
struct ShadowFrame {
    QUADTILE_UINT depth_width;              ///< of the depth buffer, pixels
    QUADTILE_UINT depth_height;             ///< of the depth buffer, pixels
    float background_depth;                 ///< that the depth buffer has where there is nothing
    QUADTILE_UINT rectangle_count;          ///< of `rectangles`, that are used
    ShadowLight lights[SHADOW_MAX_LIGHTS];  ///< one for each layer of the map
    ShadowRectangle rectangles[SHADOW_MAX_RECTANGLES];  ///< what must be drawn again
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

// ---- Slots

/// Texels on a side of a slot.
QUADTILE_SHARED QUADTILE_UINT shadow_slot_extent(QUADTILE_UINT tile_extent,
                                                 QUADTILE_UINT slot_class) {
    return tile_extent >> (SHADOW_CLASSES - 1 - slot_class);
}

/// Cells of a slot.
QUADTILE_SHARED QUADTILE_UINT shadow_slot_cells(QUADTILE_UINT slot_class) {
    return 1U << (2 * slot_class);
}

/// Cells of the atlas.
QUADTILE_SHARED QUADTILE_UINT shadow_atlas_cells(ShadowParameters parameters) {
    const QUADTILE_UINT side =
        (1U << parameters.atlas_levels) / shadow_slot_extent(parameters.tile_extent, 0);
    return side * side;
}

/// The word ShadowTile::slot of the slot that begins at a cell, as counted along the Z-order curve.
QUADTILE_SHARED QUADTILE_UINT shadow_slot_of_cell(QUADTILE_UINT tile_extent, QUADTILE_UINT cell) {
    const QUADTILE_UINT extent = shadow_slot_extent(tile_extent, 0);
    return (morton_x(cell) * extent) | ((morton_y(cell) * extent) << 16);
}

/// Undoes shadow_slot_of_cell.
QUADTILE_SHARED QUADTILE_UINT shadow_cell_of_slot(QUADTILE_UINT tile_extent, QUADTILE_UINT slot) {
    const QUADTILE_UINT extent = shadow_slot_extent(tile_extent, 0);
    return morton_encode((slot & 0xffffU) / extent, (slot >> 16) / extent);
}

/// Words from one of the lists of tiles to the next: whole 256 bytes, so that each can be bound.
QUADTILE_SHARED QUADTILE_UINT shadow_list_stride(QUADTILE_UINT max_tiles) {
    return (max_tiles + 63) & ~63U;
}

/// Tiles that a workgroup of allocate.comp looks after before the last one goes on: few, since each
/// waits long and there are many processors. It has two threads at least for each.
QUADTILE_SHARED QUADTILE_UINT shadow_allocate_group_tiles(QUADTILE_UINT threads) {
    return threads < 128 ? threads / 2 : 64;
}

// ---- Identities

/// What orders tiles as lists in canonical order do, and says which is which where their levels are
/// the same: the light and the first texel. Maps have at most 2^12 texels on a side.
QUADTILE_SHARED QUADTILE_UINT shadow_key(QUADTILE_UINT position, QUADTILE_UINT node) {
    const QUADTILE_UINT level = node & 0xffU;
    return ((node >> 16) << 24) |
           morton_encode((position & 0xffffU) << level, (position >> 16) << level);
}

/// A texel of the page table: the tile that it lies in.
QUADTILE_SHARED QUADTILE_UINT shadow_page(QUADTILE_UINT tile, QUADTILE_UINT level) {
    return tile | (level << 16);
}
/// The tile of a page table's texel.
QUADTILE_SHARED QUADTILE_UINT shadow_page_tile(QUADTILE_UINT page) {
    return page & 0xffffU;
}
/// The tile's level of a page table's texel.
QUADTILE_SHARED QUADTILE_UINT shadow_page_level(QUADTILE_UINT page) {
    return page >> 16;
}

// ---- Thresholds

/// value / 2^level
QUADTILE_SHARED float shadow_at_level(float value, QUADTILE_UINT level) {
    return value * float_from_bits(BITS_ONE - (level << 23));
}

/// What a node's importance is compared with to split it, before factors. `was_split`: in the last
/// frame.
QUADTILE_SHARED float shadow_split_threshold(ShadowParameters parameters, QUADTILE_UINT level,
                                             bool was_split) {
    return shadow_at_level(was_split ? parameters.kept_cores[SHADOW_CLASSES - 1]
                                     : parameters.cores[SHADOW_CLASSES - 1],
                           level);
}

/// The class of a tile is the number of classes c >= 1 whose threshold its importance reaches: that
/// of the core below. `last_class`: of the same tile in the last frame, 0 where it was none.
QUADTILE_SHARED float shadow_class_threshold(ShadowParameters parameters, QUADTILE_UINT level,
                                             QUADTILE_UINT slot_class, QUADTILE_UINT last_class) {
    return shadow_at_level(last_class >= slot_class ? parameters.kept_cores[slot_class - 1]
                                                    : parameters.cores[slot_class - 1],
                           level);
}

/// The class of a tile under a factor.
QUADTILE_SHARED QUADTILE_UINT shadow_class(ShadowParameters parameters, QUADTILE_UINT level,
                                           float importance, QUADTILE_UINT last_class,
                                           QUADTILE_UINT factor_index) {
    QUADTILE_UINT slot_class = 0;
    for (QUADTILE_UINT c = 1; c < SHADOW_CLASSES; ++c) {
        const float threshold = shadow_class_threshold(parameters, level, c, last_class);
        slot_class += importance >= scaled_threshold(threshold, factor_index) ? 1 : 0;
    }
    return slot_class;
}

// ---- Crop matrices

/// Texels of the atlas for each texel of the map, in a slot of this class.
QUADTILE_SHARED float shadow_crop_density(ShadowParameters parameters, QUADTILE_UINT level,
                                          QUADTILE_UINT slot_class) {
    return shadow_at_level(
        float(shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter),
        level);
}

/// ShadowTile::crop_scale: all factors are powers of two but for the core's texels, so it is exact.
QUADTILE_SHARED float shadow_crop_scale(ShadowParameters parameters, QUADTILE_UINT level,
                                        QUADTILE_UINT slot_class) {
    const float map_extent = float(1U << parameters.map_levels);
    return shadow_crop_density(parameters, level, slot_class) *
           shadow_at_level(map_extent, parameters.atlas_levels);
}

/// ShadowTile::crop_x or crop_y, of the tile's x or y and the first column or row of its slot.
QUADTILE_SHARED float shadow_crop_offset(ShadowParameters parameters, QUADTILE_UINT level,
                                         QUADTILE_UINT slot_class, QUADTILE_UINT tile_coordinate,
                                         QUADTILE_UINT slot_coordinate) {
    const QUADTILE_UINT core =
        shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter;
    const QUADTILE_INT origin =
        QUADTILE_INT(slot_coordinate + parameters.gutter) - QUADTILE_INT(tile_coordinate * core);
    return shadow_crop_scale(parameters, level, slot_class) +
           shadow_at_level(float(2 * origin), parameters.atlas_levels) - 1.0F;
}

/// What a slot shows of the map beyond the tile, in whole texels of the map at least.
QUADTILE_SHARED QUADTILE_UINT shadow_gutter_map_texels(ShadowParameters parameters,
                                                       QUADTILE_UINT level,
                                                       QUADTILE_UINT slot_class) {
    const QUADTILE_UINT core =
        shadow_slot_extent(parameters.tile_extent, slot_class) - 2 * parameters.gutter;
    return ((parameters.gutter << level) + core - 1) / core;
}

// ---- Importance

#ifdef __cplusplus
/// In GLSL: neither fused nor rearranged.
#define QUADTILE_PRECISE
#else
#define QUADTILE_PRECISE precise
#endif

/// 1 / value to about 23 bits, for positive values from 2^-100 to 2^100: Newton's iteration from a
/// linear guess. Exact for powers of two.
QUADTILE_SHARED float shadow_reciprocal(float value) {
    QUADTILE_PRECISE float r = float_from_bits(0x7ef311c7U - bits_from_float(value));
    for (int i = 0; i < 4; ++i) {
        QUADTILE_PRECISE const float error = 1.0F - value * r;
        QUADTILE_PRECISE const float correction = r * error;
        r = r + correction;
    }
    return r;
}

/// The square root to about 22 bits, for values as in shadow_reciprocal.
QUADTILE_SHARED float shadow_square_root(float value) {
    QUADTILE_PRECISE float r = float_from_bits(0x5f3759dfU - (bits_from_float(value) >> 1));
    for (int i = 0; i < 3; ++i) {
        QUADTILE_PRECISE const float square = r * r;
        QUADTILE_PRECISE const float error = 1.5F - 0.5F * (value * square);
        r = r * error;
    }
    QUADTILE_PRECISE const float root = value * r;
    return root;
}

/// Where a pixel lies on a light's map, and what it needs there.
struct ShadowRequest {
    QUADTILE_UINT inside;  ///< 1 where it needs something; 0: outside the map or facing away
    QUADTILE_UINT x;       ///< column of the map
    QUADTILE_UINT y;       ///< row of the map
    float importance;      ///< shadow texels across a texel of the map
};

/// What a pixel needs, from its depth and how that changes to the next column and row. On a plane
/// depths change by the same from pixel to pixel, so the plane is known, and with it the Jacobian J
/// of the way from the picture to the map.
///
/// A shadow texel falls on a pixel where there are sqrt(|J^-1|^2 / 2) of them across a texel of the
/// map (|.| is the Frobenius norm): the root of the mean square of what is needed in all
/// directions. Where the light grazes the surface J is nearly singular; it is taken as stretched by
/// max_stretch at most.
QUADTILE_SHARED ShadowRequest shadow_request(ShadowParameters parameters, ShadowLight light,
                                             QUADTILE_UINT column, QUADTILE_UINT row, float depth,
                                             float depth_by_column, float depth_by_row) {
    ShadowRequest request;
    request.inside = 0;
    request.x = 0;
    request.y = 0;
    request.importance = 0.0F;

    const float px = float(column) + 0.5F;
    const float py = float(row) + 0.5F;
    float at[3];
    float by_column[3];
    float by_row[3];
    for (int i = 0; i < 3; ++i) {
        QUADTILE_PRECISE const float position =
            ((light.map_from_pixel[4 * i] * px + light.map_from_pixel[4 * i + 1] * py) +
             light.map_from_pixel[4 * i + 2] * depth) +
            light.map_from_pixel[4 * i + 3];
        QUADTILE_PRECISE const float to_column =
            light.map_from_pixel[4 * i] + light.map_from_pixel[4 * i + 2] * depth_by_column;
        QUADTILE_PRECISE const float to_row =
            light.map_from_pixel[4 * i + 1] + light.map_from_pixel[4 * i + 2] * depth_by_row;
        at[i] = position;
        by_column[i] = to_column;
        by_row[i] = to_row;
    }
    const float smallest = float_from_bits(BITS_ONE - (100U << 23));
    const float largest = float_from_bits(BITS_ONE + (100U << 23));
    if (!(at[2] > smallest && at[2] < largest)) {
        return request;  // behind the light
    }
    const float reciprocal = shadow_reciprocal(at[2]);
    QUADTILE_PRECISE const float x = at[0] * reciprocal;
    QUADTILE_PRECISE const float y = at[1] * reciprocal;
    const float extent = float(1U << parameters.map_levels);
    if (!(x >= 0.0F && y >= 0.0F && x < extent && y < extent)) {
        return request;
    }

    QUADTILE_PRECISE const float x_by_column = (by_column[0] - x * by_column[2]) * reciprocal;
    QUADTILE_PRECISE const float y_by_column = (by_column[1] - y * by_column[2]) * reciprocal;
    QUADTILE_PRECISE const float x_by_row = (by_row[0] - x * by_row[2]) * reciprocal;
    QUADTILE_PRECISE const float y_by_row = (by_row[1] - y * by_row[2]) * reciprocal;
    QUADTILE_PRECISE const float determinant =
        (x_by_column * y_by_row - y_by_column * x_by_row) * light.facing;
    QUADTILE_PRECISE const float squares = (x_by_column * x_by_column + y_by_column * y_by_column) +
                                           (x_by_row * x_by_row + y_by_row * y_by_row);
    if (!(determinant > 0.0F)) {
        return request;  // facing away: no light, no shadow
    }
    const float smallest_square = float_from_bits(BITS_ONE - (60U << 23));
    const float largest_square = float_from_bits(BITS_ONE + (60U << 23));
    if (!(squares > smallest_square && squares < largest_square)) {
        return request;
    }
    QUADTILE_PRECISE const float stretched = squares * parameters.least_area;
    const float area = determinant > stretched ? determinant : stretched;
    QUADTILE_PRECISE const float root = shadow_square_root(0.5F * squares);
    QUADTILE_PRECISE const float needed = root * shadow_reciprocal(area);
    // More than this even a texel's own slot does not give.
    const float most = float(parameters.tile_extent);
    QUADTILE_PRECISE const float scaled =
        (needed < most ? needed : most) * parameters.resolution_scale;
    request.inside = 1;
    request.x = QUADTILE_UINT(x);
    request.y = QUADTILE_UINT(y);
    request.importance = scaled;
    return request;
}

/// A word of a lit mask: whether what is seen faces a light, and the light reaches it.
QUADTILE_SHARED QUADTILE_UINT shadow_lit_word(QUADTILE_UINT light, bool faces, bool is_reached) {
    return faces ? 1U << (is_reached ? light : light + 16) : 0;
}

/// What a pixel needs where the masks around it have light and shadow of the light: more.
QUADTILE_SHARED float shadow_beside_edge(ShadowParameters parameters, float importance,
                                         QUADTILE_UINT seen, QUADTILE_UINT light) {
    QUADTILE_PRECISE const float raised = importance * parameters.edge_scale;
    const bool has_edge = (seen >> light & seen >> (16 + light) & 1U) != 0;
    return has_edge ? raised : importance;
}

/// What a texel of the map keeps from the last frame; nothing where it was next to nothing.
QUADTILE_SHARED float shadow_faded(ShadowParameters parameters, float importance) {
    const float least = float_from_bits(BITS_ONE - (20U << 23));
    const float faded = importance * parameters.importance_decay;
    return faded > least ? faded : 0.0F;
}

/// A depth as it counts: denormals are 0, since texture units and arithmetic may flush them.
QUADTILE_SHARED float shadow_depth(float depth) {
    return (bits_from_float(depth) & 0x7fffffffU) < BITS_LEADING_DIGIT ? 0.0F : depth;
}

/// How depth changes to the next pixel, from the two differences beside it: the lesser one, since
/// the other may reach across an edge.
QUADTILE_SHARED float shadow_depth_step(float before, float after) {
    const float b = before < 0.0F ? -before : before;
    const float a = after < 0.0F ? -after : after;
    return b < a ? before : after;
}

// ---- Culling

/// What an object covers of a light's map, in texels: nothing where all of its box is behind the
/// light (low_x > high_x), all of the map where a part of it is.
struct ShadowBounds {
    float low_x;   ///< least column
    float low_y;   ///< least row
    float high_x;  ///< greatest column
    float high_y;  ///< greatest row
};

/// Of an object's bounding box: of its eight corners.
QUADTILE_SHARED ShadowBounds shadow_bounds(ShadowParameters parameters, ShadowLight light,
                                           ShadowObject object) {
    const float half_extent = 0.5F * float(1U << parameters.map_levels);
    const float smallest = float_from_bits(BITS_ONE - (100U << 23));
    const float largest = float_from_bits(BITS_ONE + (100U << 23));
    ShadowBounds bounds;
    bounds.low_x = largest;
    bounds.low_y = largest;
    bounds.high_x = -largest;
    bounds.high_y = -largest;
    bool is_before = true;
    bool is_behind = true;
    for (QUADTILE_UINT corner = 0; corner < 8; ++corner) {
        const float x = (corner & 1U) != 0 ? object.high[0] : object.low[0];
        const float y = (corner & 2U) != 0 ? object.high[1] : object.low[1];
        const float z = (corner & 4U) != 0 ? object.high[2] : object.low[2];
        QUADTILE_PRECISE const float clip_x =
            ((light.clip_from_world[0] * x + light.clip_from_world[4] * y) +
             light.clip_from_world[8] * z) +
            light.clip_from_world[12];
        QUADTILE_PRECISE const float clip_y =
            ((light.clip_from_world[1] * x + light.clip_from_world[5] * y) +
             light.clip_from_world[9] * z) +
            light.clip_from_world[13];
        QUADTILE_PRECISE const float clip_w =
            ((light.clip_from_world[3] * x + light.clip_from_world[7] * y) +
             light.clip_from_world[11] * z) +
            light.clip_from_world[15];
        is_before = is_before && clip_w > smallest && clip_w < largest;
        is_behind = is_behind && clip_w <= smallest;
        const float reciprocal = shadow_reciprocal(is_before ? clip_w : 1.0F);
        QUADTILE_PRECISE const float map_x = (clip_x * reciprocal + 1.0F) * half_extent;
        QUADTILE_PRECISE const float map_y = (clip_y * reciprocal + 1.0F) * half_extent;
        bounds.low_x = map_x < bounds.low_x ? map_x : bounds.low_x;
        bounds.low_y = map_y < bounds.low_y ? map_y : bounds.low_y;
        bounds.high_x = map_x > bounds.high_x ? map_x : bounds.high_x;
        bounds.high_y = map_y > bounds.high_y ? map_y : bounds.high_y;
    }
    if (!is_before) {
        const float reach = is_behind ? -largest : largest;
        bounds.low_x = -reach;
        bounds.low_y = -reach;
        bounds.high_x = reach;
        bounds.high_y = reach;
    }
    return bounds;
}

/// Whether a tile's slot shows something of what an object covers. The bounds are widened by a
/// hundredth of a texel for what is lost by rounding.
QUADTILE_SHARED bool shadow_overlaps(ShadowParameters parameters, ShadowBounds bounds,
                                     ShadowTile tile) {
    const QUADTILE_UINT level = tile.node & 0xffU;
    const float margin =
        float(shadow_gutter_map_texels(parameters, level, tile.state & 0xffU)) + 0.01F;
    const float low_x = float((tile.position & 0xffffU) << level) - margin;
    const float low_y = float((tile.position >> 16) << level) - margin;
    const float high_x = float(((tile.position & 0xffffU) + 1) << level) + margin;
    const float high_y = float(((tile.position >> 16) + 1) << level) + margin;
    return bounds.low_x <= high_x && bounds.high_x >= low_x && bounds.low_y <= high_y &&
           bounds.high_y >= low_y;
}

QUADTILE_NAMESPACE_END

#endif
