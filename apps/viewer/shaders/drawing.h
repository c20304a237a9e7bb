// Structs that the host and the viewer's shaders exchange, in C++ and in GLSL.

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
    QUADTILE_UINT mark_differences;  // 1: colours tiles by their bits in the buffer of marks
};

// A texel, for the search of its tile.
struct ProbeRequest {
    QUADTILE_UINT x;
    QUADTILE_UINT y;
    QUADTILE_UINT map_width;
    QUADTILE_UINT map_height;
    QUADTILE_UINT top_level;
};

const QUADTILE_UINT NO_TILE = 0xffffffffU;

// The tile of a texel, and the importance of the nodes that contain the texel.
struct ProbeResult {
    QUADTILE_UINT tile_index;  // NO_TILE: none
    float texel;
    QUADTILE_UINT reserved0;
    QUADTILE_UINT reserved1;
    Tile tile;
    float importance_of_level[MAX_LEVELS];
};

// Counts of a list. The shader adds to zeros.
struct Tally {
    QUADTILE_UINT covered_texels_low;  // sum of the tiles' areas, 64 bits
    QUADTILE_UINT covered_texels_high;
    QUADTILE_UINT clamped;
    QUADTILE_UINT reserved0;
    QUADTILE_UINT tiles_of_level[MAX_LEVELS];
};

QUADTILE_NAMESPACE_END

#endif
