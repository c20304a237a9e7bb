// Resources of all shaders, in one descriptor set.

#extension GL_GOOGLE_include_directive : require

#include <quadtile/tile_list.h>

#include "scene.h"

layout(push_constant) uniform Parameters { View view; };

#ifdef MAKES_HEIGHTS
layout(binding = 0, r32f) writeonly uniform image2DArray heights;
#else
layout(binding = 0, r32f) readonly uniform image2DArray heights;
#endif
layout(binding = 1, r32f) writeonly uniform image2DArray importance_map;
layout(binding = 2, std430) readonly buffer Tiles {
    TileListHeader header;
    Tile tiles[];
};

#ifndef MAKES_HEIGHTS
float height_at(ivec2 place) {
    return imageLoad(heights, ivec3(clamp(place, ivec2(0), ivec2(HEIGHT_EXTENT - 1)), 0)).r;
}
#endif
