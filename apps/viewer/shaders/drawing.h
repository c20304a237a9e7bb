// What the host gives to the viewer's shaders, in C++ and in GLSL.

#ifndef QUADTILE_VIEWER_DRAWING_H
#define QUADTILE_VIEWER_DRAWING_H

#include <quadtile/limits.h>
#include <quadtile/tile_list.h>

QUADTILE_NAMESPACE_BEGIN

// Drawing::fill
const QUADTILE_UINT FILL_NONE = 0;
const QUADTILE_UINT FILL_LEVEL = 1;
const QUADTILE_UINT FILL_RATIO = 2;
const QUADTILE_UINT FILL_ORDER = 3;

// Indices of the tables in the buffer of colours. A table has COLOUR_TABLE_SIZE words: red in the
// lowest byte, then green and blue.
const QUADTILE_UINT COLOUR_TABLE_SIZE = 256;
const QUADTILE_UINT MAP_COLOURS = 0;
const QUADTILE_UINT LEVEL_COLOURS = 1;  // also for the order
const QUADTILE_UINT RATIO_COLOURS = 2;

// Push constants of all shaders that draw the map and its tiles.
struct Drawing {
    float target_width;  // pixels
    float target_height;
    float origin_x;  // the map's upper left corner, pixels
    float origin_y;
    float zoom;  // pixels per texel

    QUADTILE_UINT map_width;  // texels
    QUADTILE_UINT map_height;
    QUADTILE_UINT top_level;

    QUADTILE_UINT level;        // the level of the pyramid that is shown; 0: the map
    QUADTILE_UINT is_minified;  // 1: a pixel shows the largest of the nodes that it touches
    QUADTILE_UINT is_logarithmic;
    float range_low;    // importance, or its binary logarithm
    float range_scale;  // 1 / (high - low)

    QUADTILE_UINT fill;  // FILL_*
    float fill_opacity;
    float outline_pixels;  // 0: none
    QUADTILE_UINT mark_clamped;
};

QUADTILE_NAMESPACE_END

#endif
