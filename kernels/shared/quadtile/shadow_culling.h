/// \file
/// Fitted virtual shadow maps: culling of objects against slots.

#ifndef QUADTILE_SHADOW_CULLING_H
#define QUADTILE_SHADOW_CULLING_H

#include "shadow_request.h"
#include "shadow_slots.h"

QUADTILE_NAMESPACE_BEGIN

/// Rectangle of a light's map that a box covers, in texels. Empty (low_x > high_x) for a box of no
/// extent or behind the light; all of the map if a part of the box is behind.
struct ShadowBounds {
    float low_x;   ///< least column
    float low_y;   ///< least row
    float high_x;  ///< greatest column
    float high_y;  ///< greatest row
};

/// Returns the box of an object as a change.
QUADTILE_SHARED ShadowChange shadow_change_of(ShadowObject object) {
    ShadowChange change;
    for (int i = 0; i < 3; ++i) {
        change.low[i] = object.low[i];
        change.high[i] = object.high[i];
    }
    change.light_mask = object.light_mask;
    change.reserved = 0;
    return change;
}

/// Returns the bounds of a box from its eight corners. NaN counts as all of the map.
QUADTILE_SHARED ShadowBounds shadow_bounds(ShadowParameters parameters, ShadowLight light,
                                           ShadowChange box) {
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
    for (uint corner = 0; corner < 8; ++corner) {
        const float x = (corner & 1U) != 0 ? box.high[0] : box.low[0];
        const float y = (corner & 2U) != 0 ? box.high[1] : box.low[1];
        const float z = (corner & 4U) != 0 ? box.high[2] : box.low[2];
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
        QUADTILE_PRECISE const float map_x = (clip[0] * reciprocal + 1.0F) * half_extent;
        QUADTILE_PRECISE const float map_y = (clip[1] * reciprocal + 1.0F) * half_extent;
        bounds.low_x = map_x < bounds.low_x ? map_x : bounds.low_x;
        bounds.low_y = map_y < bounds.low_y ? map_y : bounds.low_y;
        bounds.high_x = map_x > bounds.high_x ? map_x : bounds.high_x;
        bounds.high_y = map_y > bounds.high_y ? map_y : bounds.high_y;
    }
    const bool is_nothing = box.low[0] > box.high[0] || box.low[1] > box.high[1] ||
                            box.low[2] > box.high[2] || is_behind;
    if (is_nothing || !is_before) {
        const float reach = is_nothing ? -largest : largest;
        bounds.low_x = -reach;
        bounds.low_y = -reach;
        bounds.high_x = reach;
        bounds.high_y = reach;
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
    return bounds.low_x <= high_x && bounds.high_x >= low_x && bounds.low_y <= high_y &&
           bounds.high_y >= low_y;
}

QUADTILE_NAMESPACE_END

#endif
