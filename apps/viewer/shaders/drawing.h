// What the host gives to the viewer's shaders, in C++ and in GLSL.

#ifndef QUADTILE_VIEWER_DRAWING_H
#define QUADTILE_VIEWER_DRAWING_H

#include <quadtile/limits.h>
#include <quadtile/tile_list.h>

QUADTILE_NAMESPACE_BEGIN

// Drawing::fill
const uint FILL_NONE = 0;
const uint FILL_LEVEL = 1;
const uint FILL_RATIO = 2;
const uint FILL_ORDER = 3;

// Indices of the tables in the buffer of colours. A table has COLOUR_TABLE_SIZE words: red in the
// lowest byte, then green and blue.
const uint COLOUR_TABLE_SIZE = 256;
const uint MAP_COLOURS = 0;
const uint LEVEL_COLOURS = 1;  // also for the order
const uint RATIO_COLOURS = 2;

// Push constants of all shaders that draw the map and its tiles.
struct Drawing {
    float target_width;  // pixels
    float target_height;
    float origin_x;  // the map's upper left corner, pixels
    float origin_y;
    float zoom;  // pixels per texel

    uint map_width;  // texels
    uint map_height;
    uint top_level;

    uint level;        // the level of the pyramid that is shown; 0: the map
    uint is_minified;  // 1: a pixel shows the largest of the nodes that it touches
    uint is_logarithmic;
    float range_low;    // importance, or its binary logarithm
    float range_scale;  // 1 / (high - low)

    uint fill;  // FILL_*
    float fill_opacity;
    float outline_pixels;  // 0: none
    uint mark_clamped;
};

QUADTILE_NAMESPACE_END

#endif
