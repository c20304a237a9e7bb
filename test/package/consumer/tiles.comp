// A kernel of the user's: one workgroup a tile. It includes every header that is for GLSL.
#version 460
#extension GL_GOOGLE_include_directive : require

#include <quadtile/budget.h>
#include <quadtile/limits.h>
#include <quadtile/mip.h>
#include <quadtile/quadtree.h>
#include <quadtile/tile_list.h>

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Tiles {
    TileListHeader header;
    Tile tiles[];
};
layout(std430, binding = 1) writeonly buffer Results { float results[]; };

void main() {
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index < header.written && gl_LocalInvocationIndex == 0) {
        const Tile tile = tiles[index];
        const uint place = tile_x(tile) + tile_y(tile) + tile_layer(tile);
        const bool is_clamped = (tile_flags(tile) & TILE_CLAMPED) != 0;
        results[index] = is_clamped ? 0.0 : tile.importance + float(place << tile_level(tile));
    }
}
