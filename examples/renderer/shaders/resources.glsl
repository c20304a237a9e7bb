// What the shaders work with: one set of descriptors for all.

#extension GL_GOOGLE_include_directive : require

#include <quadtile/tile_list.h>

#include "scene.h"

layout(push_constant) uniform Parameters { Scene scene; };

layout(binding = 0, r32f) writeonly uniform image2DArray importance_map;
layout(binding = 1, std430) readonly buffer Tiles {
    TileListHeader header;
    Tile tiles[];
};

// The texels of a tile, right and bottom exclusive. A tile at the edge of the map covers what is inside.
uvec2 first_texel(Tile tile) { return uvec2(tile_x(tile), tile_y(tile)) << tile_level(tile); }

uvec2 end_texel(Tile tile) {
    const uvec2 end = first_texel(tile) + (1U << tile_level(tile));
    return min(end, uvec2(scene.width, scene.height));
}
