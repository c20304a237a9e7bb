// Moving boxes in a scene, in C++ and in GLSL: half of them move to and fro, half of them sway.

#ifndef QUADTILE_SHADOW_MOVING_BOX_H
#define QUADTILE_SHADOW_MOVING_BOX_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

const uint MOVING_BOX_CORNERS = 8;

struct MovingBox {
    float middle[3];  // of its way
    float phase;      // 0 to 1: where it begins
    float half_extent[3];
    uint sways;      // 1: it stands, and its upper corners move
    float reach[3];  // from the middle of the way to its ends
    uint colour;
};

// Returns a coordinate of a corner: bit 0 of its number is x, bit 1 y, bit 2 z.
QUADTILE_SHARED float moving_corner(MovingBox box, uint corner, uint axis, float second) {
    const float there_and_back = 4.0F;  // seconds
    const float turns = box.phase + second * (1.0F / there_and_back);
    const float turn = turns - float(uint(turns));
    const float place = 4.0F * (turn < 0.5F ? turn : 1.0F - turn) - 1.0F;  // -1 to 1
    const float moves = box.sways == 0 || (corner & 2U) != 0 ? place : 0.0F;
    const float side = (corner >> axis & 1U) != 0 ? 1.0F : -1.0F;
    return box.middle[axis] + side * box.half_extent[axis] + moves * box.reach[axis];
}

QUADTILE_NAMESPACE_END

#endif
