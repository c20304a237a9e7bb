// What the host tells the shaders of a frame, in C++ and in GLSL.

#ifndef TERRAIN_SCENE_H
#define TERRAIN_SCENE_H

#ifdef __cplusplus
#include <array>
#include <cstdint>
namespace terrain {
using vec3 = std::array<float, 3>;
using uint = std::uint32_t;
#endif

// The importance map has a texel for each patch of the finest tiles: PATCH x PATCH squares of the
// height map. Tiles of level l are drawn as PATCH x PATCH squares, too, of 2^l heights a side.
const uint PATCH = 8;         // even: a coarser neighbour has every second vertex
const uint MAP_EXTENT = 180;  // texels; no power of two: some tiles are cut at the map's edge
const uint HEIGHT_EXTENT = MAP_EXTENT * PATCH + 1;  // heights lie at the corners of the squares

// Distances are in squares of the height map, directions have the length 1.
struct View {
    vec3 eye;               // x, y on the map, z up
    float pixels_per_unit;  // at distance 1
    vec3 right;
    float scale_x;  // clip coordinates per unit at distance 1
    vec3 down;
    float scale_y;
    vec3 forward;
    uint stitches;    // 0: none, to see what they are for
    float tiles_end;  // left of this column of pixels the tiles are shown
    uint seed;        // of the heights
    uint unused[2];
};

#ifdef __cplusplus
}  // namespace terrain
#endif

#endif
