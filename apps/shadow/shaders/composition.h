// Where a picture goes, in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_COMPOSITION_H
#define QUADTILE_SHADOW_COMPOSITION_H

#include <quadtile/language.h>

QUADTILE_NAMESPACE_BEGIN

// Push constants of compose.vert and the fragment shaders that belong to it.
struct Composition {
    float target_width;  // pixels
    float target_height;
    float left;  // of the rectangle that is drawn, pixels of the target
    float top;
    float width;
    float height;
    float shown_x;  // light_view: the part of the map that is shown, 0 to 1: its first column
    float shown_y;
    float shown_extent;
    QUADTILE_UINT extent;  // light_view: texels of the map on a side; atlas_view: of the atlas
    QUADTILE_UINT light;   // light_view: layer of the map
    QUADTILE_UINT marks;   // compose_picture: 1: errors are marked; light_view: 1: changes
};

QUADTILE_NAMESPACE_END

#endif
