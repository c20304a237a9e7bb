// Parameters of a frame, in C++ and in GLSL.

#ifndef TERRAIN_SCENE_H
#define TERRAIN_SCENE_H

#ifdef __cplusplus
#include <array>
#include <cstdint>
namespace terrain {
using vec3 = std::array<float, 3>;
using uint = std::uint32_t;
#endif

// The importance map has a texel per patch of the finest tiles: PATCH x PATCH squares of the height
// map. Tiles of level l also have PATCH x PATCH squares, each of 2^l heights on a side.
const uint PATCH = 8;         // even: a coarser neighbour has every second vertex
const uint MAP_EXTENT = 180;  // texels; not a power of two: the map's edge cuts some tiles
const uint HEIGHT_EXTENT = MAP_EXTENT * PATCH + 1;  // heights at the squares' corners

// Distances are in squares of the height map. Directions have length 1.
struct View {
    vec3 eye;               // x, y on the map, z up
    float pixels_per_unit;  // at distance 1
    vec3 right;
    float scale_x;  // clip coordinates per unit at distance 1
    vec3 down;
    float scale_y;
    vec3 forward;
    uint stitches;    // 0: none, to show the cracks
    float tiles_end;  // tiles are shown left of this column of pixels
    uint seed;        // the heights' seed
    uint unused[2];
};

#ifdef __cplusplus
}  // namespace terrain
#endif

#endif
