// Resources of all shaders, in one descriptor set.

#extension GL_GOOGLE_include_directive : require

#include <quadtile/tile_list.h>

#include "scene.h"

layout(push_constant) uniform Parameters { Scene scene; };

layout(binding = 0, r32f) writeonly uniform image2DArray importance_map;
layout(binding = 1, std430) readonly buffer Tiles {
    TileListHeader header;
    Tile tiles[];
};

// First and end texel of a tile; the end is exclusive. At the map's edge it is the map's end.
uvec2 first_texel(Tile tile) { return uvec2(tile_x(tile), tile_y(tile)) << tile_level(tile); }

uvec2 end_texel(Tile tile) {
    const uvec2 end = first_texel(tile) + (1U << tile_level(tile));
    return min(end, uvec2(scene.width, scene.height));
}
