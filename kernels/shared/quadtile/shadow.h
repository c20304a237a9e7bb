/// \file
/// Fitted virtual shadow maps, for the kernels, their CPU twin and user shaders: requests of the
/// camera's pixels to a light's map, culling, steps; with shadow_types.h all definitions.
///
/// A light sees the scene in its clip space. Its *map* is the square of that view, x and y from -1
/// to 1, as texels: column (x / w + 1) / 2 * map_extent. The map is cut into the tiles of a
/// quadtree. Each tile has a square *slot* in the atlas, a depth image that all lights share.
///
/// Slots have one of SHADOW_CLASSES extents: class c has tile_extent >> (SHADOW_CLASSES - 1 - c)
/// texels on a side. `gutter` texels at each edge show the surroundings of the tile, so that a
/// filter never reads another slot. The other texels, the *core*, show the tile. The atlas is made
/// of *cells*, the slots of class 0. A slot of the largest class has SHADOW_PAGE_CELLS of them.
///
/// Each operation is exact or rounded once, and none uses the device's division or root. So results
/// on CPU and GPU are bit-identical.

#ifndef QUADTILE_SHADOW_H
#define QUADTILE_SHADOW_H

#include "shadow_types.h"
#include "tile_list.h"

QUADTILE_NAMESPACE_BEGIN

/// Returns 1 / value to about 23 bits, for values from 2^-100 to 2^100: Newton's iteration from a
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

/// Returns the square root to about 22 bits, for values as in shadow_reciprocal.
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

/// Returns a depth with denormals as 0, since texture units and arithmetic may flush them.
QUADTILE_SHARED float shadow_depth(float depth) {
    return (bits_from_float(depth) & 0x7fffffffU) < BITS_LEADING_DIGIT ? 0.0F : depth;
}

/// Returns a homogeneous coordinate of a pixel in a light's map: x, y, depth or w.
QUADTILE_SHARED float shadow_map_coordinate(ShadowLight light, int i, float px, float py,
                                            float depth) {
    QUADTILE_PRECISE const float coordinate =
        ((light.map_from_pixel[4 * i] * px + light.map_from_pixel[4 * i + 1] * py) +
         light.map_from_pixel[4 * i + 2] * depth) +
        light.map_from_pixel[4 * i + 3];
    return coordinate;
}

/// Returns a layer's claim to a pixel: of a light's layers the first with the greatest claim has
/// it. A face of a point light claims by the pixel's distance along its axis, times a factor common
/// to all. A sun level claims if it sees the pixel, so the finest such level has it.
QUADTILE_SHARED float shadow_claim(ShadowParameters parameters, ShadowLight light, uint column,
                                   uint row, float depth) {
    const float px = float(column) + 0.5F;
    const float py = float(row) + 0.5F;
    const float w = shadow_map_coordinate(light, 3, px, py, depth);
    if (light.perspective > 0.0F) {
        return w;
    }
    const float x = shadow_map_coordinate(light, 0, px, py, depth);
    const float y = shadow_map_coordinate(light, 1, px, py, depth);
    QUADTILE_PRECISE const float end = w * float(1U << parameters.map_levels);
    return x >= 0.0F && y >= 0.0F && x < end && y < end ? 1.0F : 0.0F;
}

/// Returns whether a place in texels of the map is on it.
QUADTILE_SHARED bool shadow_is_on_map(ShadowParameters parameters, float x, float y) {
    const float extent = float(1U << parameters.map_levels);
    return x >= 0.0F && y >= 0.0F && x < extent && y < extent;
}

/// How a light sees the plane through a pixel's surface: the pixel's place on the light's map, its
/// depth in the light's clip space, and how these change to the next column and row of the picture.
struct ShadowMapping {
    uint inside;  ///< 1: in the map, in reach, and facing the light; 0: no other member counts
    float at[3];  ///< x and y in texels of the map, with fractions, and depth
    float by_column[3];  ///< their change
    float by_row[3];     ///< their change
    float area;          ///< of the pixel on the map: the determinant of the Jacobian J
    float squares;       ///< squared extent of the pixel there: |J|^2; |.| is the Frobenius norm
};

/// Returns the mapping of a pixel, from its depth and the depth's change to the next column and
/// row. On a plane that change is constant, so the plane is known, and with it J.
QUADTILE_SHARED ShadowMapping shadow_mapping(ShadowParameters parameters, ShadowLight light,
                                             uint column, uint row, float depth,
                                             float depth_by_column, float depth_by_row) {
    const float px = float(column) + 0.5F;
    const float py = float(row) + 0.5F;
    float at[4];  // x, y, depth, w
    float by_column[4];
    float by_row[4];
    for (int i = 0; i < 4; ++i) {
        const float c = light.map_from_pixel[4 * i + 2];
        QUADTILE_PRECISE const float to_column =
            light.map_from_pixel[4 * i] + c * depth_by_column;
        QUADTILE_PRECISE const float to_row = light.map_from_pixel[4 * i + 1] + c * depth_by_row;
        at[i] = shadow_map_coordinate(light, i, px, py, depth);
        by_column[i] = to_column;
        by_row[i] = to_row;
    }
    const float smallest = float_from_bits(BITS_ONE - (100U << 23));
    const float largest = float_from_bits(BITS_ONE + (100U << 23));
    const bool is_before = at[3] > smallest && at[3] < largest;  // the light
    const float reciprocal = shadow_reciprocal(is_before ? at[3] : 1.0F);
    ShadowMapping mapping;
    for (int i = 0; i < 3; ++i) {
        QUADTILE_PRECISE const float place = at[i] * reciprocal;
        QUADTILE_PRECISE const float to_column = (by_column[i] - place * by_column[3]) * reciprocal;
        QUADTILE_PRECISE const float to_row = (by_row[i] - place * by_row[3]) * reciprocal;
        mapping.at[i] = place;
        mapping.by_column[i] = to_column;
        mapping.by_row[i] = to_row;
    }
    QUADTILE_PRECISE const float area =
        (mapping.by_column[0] * mapping.by_row[1] - mapping.by_column[1] * mapping.by_row[0]) *
        light.facing;
    QUADTILE_PRECISE const float squares =
        (mapping.by_column[0] * mapping.by_column[0] +
         mapping.by_column[1] * mapping.by_column[1]) +
        (mapping.by_row[0] * mapping.by_row[0] + mapping.by_row[1] * mapping.by_row[1]);
    mapping.area = area;
    mapping.squares = squares;
    const float smallest_square = float_from_bits(BITS_ONE - (60U << 23));
    const float largest_square = float_from_bits(BITS_ONE + (60U << 23));
    // Surfaces that face away have no light and no shadow.
    const bool faces = area > 0.0F && squares > smallest_square && squares < largest_square;
    mapping.inside = is_before && at[3] <= light.range && faces &&
                             shadow_is_on_map(parameters, mapping.at[0], mapping.at[1])
                         ? 1
                         : 0;
    return mapping;
}

/// Returns the importance that a pixel requests: the shadow texels that it needs across a texel of
/// the map; 0 if it is not inside. A shadow texel falls on a pixel if there are sqrt(|J^-1|^2 / 2)
/// of them across a texel of the map: the root mean square over all directions. At grazing light J
/// is nearly singular; SHADOW_LEAST_AREA limits its stretch.
QUADTILE_SHARED float shadow_request(ShadowParameters parameters, ShadowLight light,
                                     ShadowMapping mapping) {
    if (mapping.inside == 0) {
        return 0.0F;
    }
    QUADTILE_PRECISE const float stretched = mapping.squares * SHADOW_LEAST_AREA;
    const float area = mapping.area > stretched ? mapping.area : stretched;
    QUADTILE_PRECISE const float root = shadow_square_root(0.5F * mapping.squares);
    QUADTILE_PRECISE const float needed = root * shadow_reciprocal(area);
    // The largest slot, for one texel, has no more.
    const float most = float(parameters.tile_extent);
    QUADTILE_PRECISE const float scaled = (needed < most ? needed : most) * light.weight;
    return scaled;
}

/// Returns whether a pixel that sees (x, y) of the map can lie on the surface of another, if both
/// are in blocks beside each other. Such pixels are at most 10 pixels apart, so on one plane their
/// distance on the map is at most 10 |J|. The limit of 16 |J| leaves room for curved surfaces.
QUADTILE_SHARED bool shadow_is_near(ShadowMapping mapping, float x, float y) {
    QUADTILE_PRECISE const float across = x - mapping.at[0];
    QUADTILE_PRECISE const float down = y - mapping.at[1];
    QUADTILE_PRECISE const float distance = across * across + down * down;  // squared
    QUADTILE_PRECISE const float most = 256.0F * mapping.squares + 1.0F;
    return distance <= most;
}

/// Returns a pixel's importance, raised if the pixels around it have `seen` both light and shadow.
QUADTILE_SHARED float shadow_beside_edge(float importance, uint seen) {
    QUADTILE_PRECISE const float raised = importance * SHADOW_EDGE_SCALE;
    return seen == (SHADOW_LIT | SHADOW_SHADED) ? raised : importance;
}

// ---- Steps of a light's map since the last frame

/// Returns whether a layer of a frame has no light. Such a layer has no tiles.
QUADTILE_SHARED bool shadow_is_unused(ShadowLight light) {
    return light.clip_from_world[3] == 0.0F && light.clip_from_world[7] == 0.0F &&
           light.clip_from_world[11] == 0.0F && light.clip_from_world[15] == 0.0F;
}

const uint SHADOW_SAME = 0;     ///< the light is that of the last frame, but for a step
const uint SHADOW_CHANGED = 1;  ///< the light has changed, and all its slots must be drawn
const uint SHADOW_NEW = 2;      ///< the layer was unused: it had no map in the last frame
const uint SHADOW_UNUSED = 3;   ///< the layer is unused in this frame

/// How a light's map lies to that of the last frame.
struct ShadowStep {
    uint changed;  ///< SHADOW_SAME, SHADOW_CHANGED, SHADOW_NEW or SHADOW_UNUSED
    int x;         ///< texels from a column of this frame to that of the last; 0 if changed
    int y;         ///< the same for rows
};

/// Returns the shift of a light's clip space along an axis, in texels of the map. Exact.
QUADTILE_SHARED float shadow_shift(ShadowParameters parameters, ShadowLight light, uint axis) {
    return shadow_depth(light.clip_from_world[12 + axis]) *
           (-0.5F * float(1U << parameters.map_levels));
}

/// Returns the column (axis 0) or row (axis 1) at which a light's map begins, in texels from a
/// place in the world that all maps of the light's direction and extent share. Lights with
/// perspective begin at 0.
QUADTILE_SHARED int shadow_origin(ShadowParameters parameters, ShadowLight light, uint axis) {
    const float texels = shadow_shift(parameters, light, axis);
    const float most = float(1U << 29);
    const bool has_origin = light.perspective == 0.0F && light.clip_from_world[15] == 1.0F &&
                            texels > -most && texels < most;
    return has_origin ? int(texels) : 0;
}

/// Returns whether the origin is exact: the map begins with a whole texel.
QUADTILE_SHARED bool shadow_has_whole_origin(ShadowParameters parameters, ShadowLight light,
                                             uint axis) {
    return shadow_shift(parameters, light, axis) == float(shadow_origin(parameters, light, axis));
}

/// Returns the step of a light. Its map has stepped if its clip space is that of the last frame but
/// for a shift by whole texels. Of `last`, only `clip_from_world` and `perspective` are read.
QUADTILE_SHARED ShadowStep shadow_step(ShadowParameters parameters, ShadowLight light,
                                       ShadowLight last) {
    ShadowStep step;
    step.changed = SHADOW_SAME;
    for (uint i = 0; i < 16; ++i) {
        const bool is_same =
            bits_from_float(light.clip_from_world[i]) == bits_from_float(last.clip_from_world[i]);
        const bool is_shifted = (i == 12 || i == 13) && light.perspective == 0.0F &&
                                shadow_has_whole_origin(parameters, light, i - 12) &&
                                shadow_has_whole_origin(parameters, last, i - 12);
        step.changed = is_same || is_shifted ? step.changed : SHADOW_CHANGED;
    }
    step.changed = shadow_is_unused(last) ? SHADOW_NEW : step.changed;
    step.changed = shadow_is_unused(light) ? SHADOW_UNUSED : step.changed;
    step.x = 0;
    step.y = 0;
    if (step.changed == SHADOW_SAME) {
        step.x = shadow_origin(parameters, light, 0) - shadow_origin(parameters, last, 0);
        step.y = shadow_origin(parameters, light, 1) - shadow_origin(parameters, last, 1);
    }
    return step;
}

/// Returns whether a texel of this frame's map lies in that of the last frame, at (x + step.x, y +
/// step.y). All do if the light has changed, none if the layer is new.
QUADTILE_SHARED bool shadow_was_inside(ShadowParameters parameters, ShadowStep step, uint x,
                                       uint y) {
    const uint extent = 1U << parameters.map_levels;
    return step.changed < SHADOW_NEW && x + uint(step.x) < extent && y + uint(step.y) < extent;
}

/// Returns whether a node of this level of this frame's map may be a node of the last frame's map:
/// the step is a multiple of its extent.
QUADTILE_SHARED bool shadow_keeps_level(ShadowStep step, uint level) {
    return (uint(step.x | step.y) & ((1U << level) - 1)) == 0;
}

/// Returns the column (or row) of the importance image with a column (or row) of a light's map that
/// begins at `origin`. So a step moves no texel of the image.
QUADTILE_SHARED uint shadow_importance_texel(ShadowParameters parameters, int origin, uint place) {
    return (place + uint(origin)) & ((1U << parameters.map_levels) - 1);
}

// ---- Lookup of a pixel in the last frame's maps

/// The plane through a pixel's surface in a light's view, on the last frame's map, for comparison
/// with the atlas.
struct ShadowSight {
    uint inside;       ///< 1: in both frames' maps and facing the light, else 0
    float x;           ///< of the map, in texels
    float y;           ///< of the map, in texels
    float depth;       ///< in the light's clip space
    float depth_by_x;  ///< how the depth changes by a texel of the map
    float depth_by_y;  ///< how the depth changes by a texel of the map
};

/// Returns the sight of a pixel.
QUADTILE_SHARED ShadowSight shadow_sight(ShadowParameters parameters, ShadowLight light,
                                         ShadowMapping mapping, ShadowStep step) {
    // Limit of the slope of planes to the light.
    QUADTILE_PRECISE const float least = mapping.squares * (1.0F / 128.0F);
    const float limited = mapping.area > least ? mapping.area : least;
    QUADTILE_PRECISE const float divided =
        shadow_reciprocal(mapping.inside != 0 ? limited : 1.0F) * light.facing;
    QUADTILE_PRECISE const float across =
        (mapping.by_column[2] * mapping.by_row[1] - mapping.by_row[2] * mapping.by_column[1]) *
        divided;
    QUADTILE_PRECISE const float down =
        (mapping.by_column[0] * mapping.by_row[2] - mapping.by_row[0] * mapping.by_column[2]) *
        divided;
    QUADTILE_PRECISE const float x = mapping.at[0] + float(step.x);
    QUADTILE_PRECISE const float y = mapping.at[1] + float(step.y);
    ShadowSight sight;
    sight.inside =
        step.changed < SHADOW_NEW && shadow_is_on_map(parameters, x, y) ? mapping.inside : 0;
    sight.x = x;
    sight.y = y;
    sight.depth = mapping.at[2];
    sight.depth_by_x = across;
    sight.depth_by_y = down;
    return sight;
}

/// Returns the column (or row) of the atlas that shows a column (or row) of the map. The tile
/// begins at `tile_place`, in units of its level, and its slot at `slot_place`.
QUADTILE_SHARED uint shadow_atlas_texel(ShadowParameters parameters, ShadowTile tile, float place,
                                        uint tile_place, uint slot_place) {
    const uint level = tile.node & 0xffU;
    const uint slot_class = tile.state & 0xffU;
    const uint core = shadow_core(parameters, slot_class);
    QUADTILE_PRECISE const float within =
        (place - float(tile_place << level)) * shadow_crop_density(parameters, level, slot_class);
    const uint texel = within > 0.0F ? uint(within) : 0;
    return slot_place + parameters.gutter + (texel < core ? texel : core - 1);
}

/// Returns whether light reaches a pixel, by the depth that a texel (column, row) of the atlas
/// stores.
QUADTILE_SHARED bool shadow_is_reached(ShadowParameters parameters, ShadowSight sight,
                                       ShadowTile tile, uint column, uint row, float stored) {
    const uint level = tile.node & 0xffU;
    const float core = float(shadow_core(parameters, tile.state & 0xffU));
    const float extent = float(1U << level) * shadow_reciprocal(core);  // of a texel on the map
    QUADTILE_PRECISE const float x =
        float((tile.position & 0xffffU) << level) +
        (float(column - (tile.slot & 0xffffU) - parameters.gutter) + 0.5F) * extent;
    QUADTILE_PRECISE const float y =
        float((tile.position >> 16) << level) +
        (float(row - (tile.slot >> 16) - parameters.gutter) + 0.5F) * extent;
    QUADTILE_PRECISE const float there =
        sight.depth + (sight.depth_by_x * (x - sight.x) + sight.depth_by_y * (y - sight.y));
    const float by_x = sight.depth_by_x < 0.0F ? -sight.depth_by_x : sight.depth_by_x;
    const float by_y = sight.depth_by_y < 0.0F ? -sight.depth_by_y : sight.depth_by_y;
    QUADTILE_PRECISE const float lifted = there - (by_x + by_y) * (0.5F * extent);
    const float least = float_from_bits(BITS_ONE - (18U << 23));
    QUADTILE_PRECISE const float compared = lifted - least;
    return compared <= stored;
}

/// Returns an importance; 0 for a tiny rest.
QUADTILE_SHARED float shadow_not_tiny(float importance) {
    return importance > float_from_bits(BITS_ONE - (20U << 23)) ? importance : 0.0F;
}

/// Returns the importance that a texel of the map keeps for the next frame.
QUADTILE_SHARED float shadow_faded(float importance) {
    return shadow_not_tiny(importance * SHADOW_IMPORTANCE_DECAY);
}

/// Returns the importance that a texel keeps if no pixel nearby has requested it in this frame. It
/// is divided by the square of the last frame's factor: if budgets are short, visible surfaces come
/// first.
QUADTILE_SHARED float shadow_unasked(float importance, float factor) {
    const float reciprocal = shadow_reciprocal(factor);
    QUADTILE_PRECISE const float left = (importance * reciprocal) * reciprocal;
    return shadow_not_tiny(left);
}

/// Returns the depth's change to the next pixel, from the differences to both neighbours: the
/// lesser one, since the other may reach across an edge.
QUADTILE_SHARED float shadow_depth_step(float before, float after) {
    const float b = before < 0.0F ? -before : before;
    const float a = after < 0.0F ? -after : after;
    return b < a ? before : after;
}

// ---- Culling of objects against slots

/// Rectangle of a light's map that a box covers, in texels. Empty (low > high) for a box of no
/// extent or behind the light; all of the map if a part of the box is behind.
struct ShadowBounds {
    float low[2];   ///< least column and row
    float high[2];  ///< greatest column and row
};

/// Returns the bounds of a box from its eight corners. NaN counts as all of the map.
QUADTILE_SHARED ShadowBounds shadow_bounds(ShadowParameters parameters, ShadowLight light,
                                           const float low[3], const float high[3]) {
    const float half_extent = 0.5F * float(1U << parameters.map_levels);
    const float smallest = float_from_bits(BITS_ONE - (100U << 23));
    const float largest = float_from_bits(BITS_ONE + (100U << 23));
    ShadowBounds bounds;
    for (int axis = 0; axis < 2; ++axis) {
        bounds.low[axis] = largest;
        bounds.high[axis] = -largest;
    }
    bool is_before = true;
    bool is_behind = true;
    for (uint corner = 0; corner < 8; ++corner) {
        const float x = (corner & 1U) != 0 ? high[0] : low[0];
        const float y = (corner & 2U) != 0 ? high[1] : low[1];
        const float z = (corner & 4U) != 0 ? high[2] : low[2];
        float clip[4];
        for (int i = 0; i < 4; ++i) {
            QUADTILE_PRECISE const float coordinate =
                ((light.clip_from_world[i] * x + light.clip_from_world[4 + i] * y) +
                 light.clip_from_world[8 + i] * z) +
                light.clip_from_world[12 + i];
            clip[i] = coordinate;
        }
        is_before = is_before && clip[3] > smallest && clip[3] < largest;
        is_behind = is_behind && clip[3] <= smallest;
        const float reciprocal = shadow_reciprocal(is_before ? clip[3] : 1.0F);
        for (int axis = 0; axis < 2; ++axis) {
            QUADTILE_PRECISE const float place = (clip[axis] * reciprocal + 1.0F) * half_extent;
            bounds.low[axis] = place < bounds.low[axis] ? place : bounds.low[axis];
            bounds.high[axis] = place > bounds.high[axis] ? place : bounds.high[axis];
        }
    }
    const bool is_nothing = low[0] > high[0] || low[1] > high[1] || low[2] > high[2] || is_behind;
    const float reach = is_nothing ? -largest : largest;
    for (int axis = 0; axis < 2 && (is_nothing || !is_before); ++axis) {
        bounds.low[axis] = -reach;
        bounds.high[axis] = reach;
    }
    return bounds;
}

/// Returns whether a tile's slot shows a part of the bounds. They are widened by a hundredth of a
/// texel against rounding.
QUADTILE_SHARED bool shadow_overlaps(ShadowParameters parameters, ShadowBounds bounds,
                                     ShadowTile tile) {
    const uint level = tile.node & 0xffU;
    const float margin =
        float(shadow_gutter_map_texels(parameters, level, tile.state & 0xffU)) + 0.01F;
    const float low_x = float((tile.position & 0xffffU) << level) - margin;
    const float low_y = float((tile.position >> 16) << level) - margin;
    const float high_x = float(((tile.position & 0xffffU) + 1) << level) + margin;
    const float high_y = float(((tile.position >> 16) + 1) << level) + margin;
    return bounds.low[0] <= high_x && bounds.high[0] >= low_x && bounds.low[1] <= high_y &&
           bounds.high[1] >= low_y;
}

QUADTILE_NAMESPACE_END

#endif
