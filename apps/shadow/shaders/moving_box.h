// Moving boxes in a scene, in C++ and in GLSL: half of them move to and fro, half of them sway.

#ifndef QUADTILE_SHADOW_MOVING_BOX_H
#define QUADTILE_SHADOW_MOVING_BOX_H

#include "mask.h"

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT MOVING_BOX_CORNERS = 8;

struct MovingBox {
    float middle[3];  // of its way
    float phase;      // 0 to 1: where it begins
    float half_extent[3];
    QUADTILE_UINT sways;  // 1: it stands, and its upper corners move
    float reach[3];       // from the middle of the way to its ends
    QUADTILE_UINT colour;
};

// Returns the place of a corner: bit 0 of its number is x, bit 1 y, bit 2 z.
QUADTILE_SHARED MaskVector moving_corner(MovingBox box, QUADTILE_UINT corner, float second) {
    const float seconds = 4.0F;  // there and back
    const float turns = box.phase + second * (1.0F / seconds);
    const float turn = turns - float(QUADTILE_UINT(turns));
    const float place = 4.0F * (turn < 0.5F ? turn : 1.0F - turn) - 1.0F;  // -1 to 1
    const float moves = box.sways == 0 || (corner & 2U) != 0 ? place : 0.0F;
    const float x = (corner & 1U) != 0 ? 1.0F : -1.0F;
    const float y = (corner & 2U) != 0 ? 1.0F : -1.0F;
    const float z = (corner & 4U) != 0 ? 1.0F : -1.0F;
    return mask_vector(box.middle[0] + x * box.half_extent[0] + moves * box.reach[0],
                       box.middle[1] + y * box.half_extent[1] + moves * box.reach[1],
                       box.middle[2] + z * box.half_extent[2] + moves * box.reach[2]);
}

QUADTILE_NAMESPACE_END

#endif
