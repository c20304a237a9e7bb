// Place of a picture on a target, in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_COMPOSITION_H
#define QUADTILE_SHADOW_COMPOSITION_H

#include <quadtile/language.h>

QUADTILE_NAMESPACE_BEGIN

// Push constants of compose.vert and the fragment shaders that belong to it.
struct Composition {
    float target_width;  // pixels
    float target_height;
    float left;  // of the rectangle, pixels of the target
    float top;
    float width;
    float height;
    // First column and row of the shown part and its extent. light_view: of the map, 0 to 1;
    // compose_picture: pixels, and pixels of the picture per pixel of the target.
    float shown_x;
    float shown_y;
    float shown_extent;
    QUADTILE_UINT extent;  // light_view: texels of the map on a side; atlas_view: of the atlas
    QUADTILE_UINT layer;   // light_view: the light; compose_picture: 1: the other technique
    QUADTILE_UINT marks;   // compose_picture: 1: errors are marked; light_view: 1: changes
};

QUADTILE_NAMESPACE_END

#endif
