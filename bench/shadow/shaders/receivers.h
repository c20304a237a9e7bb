// What receivers.comp reads and writes, in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_RECEIVERS_H
#define QUADTILE_SHADOW_RECEIVERS_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

const uint CASCADES = 4;
const uint MOST_LIGHTS = 32;
const uint MOST_VIEWS = SHADOW_FACES * MOST_LIGHTS;

// A shadow map of a sun, or of a face of a point light, in a rectangle of an image.
struct DrawnView {
    float clip_from_world[16];
    float x;  // of the rectangle, texels
    float y;
    float width;
    float height;
    float farthest;      // distance from the camera that it serves; the last one serves all
    float texel_extent;  // the greater one, in units of the world; of a face at w = 1
};

struct ReceiverFrame {
    uint view_count;  // 0: fitted
    uint has_cubes;   // 1: the views are faces of the point lights; the sun before them has none
    DrawnView views[MOST_VIEWS];
    float clip_from_world[16 * MOST_LIGHTS];  // of each light's first layer
};

// The surface at a pixel.
struct Receiver {
    float position[3];
    // Bit l: lit by light l, by the nearest texel of its hard shadow.
    uint lit;
    float normal[3];
    // Bit l: light l shines on it if nothing is between: the surface faces it and is in its range,
    // and a spot has it in its clip space.
    uint faces;
    float share;  // of the first light, by the frame's filter; below 0: no surface
};

QUADTILE_NAMESPACE_END

#endif
