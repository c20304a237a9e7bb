// Resources of all the viewer's shaders: the map, its pyramid, its tile list.

#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include <quadtile/quadtree.h>

#include "drawing.h"

layout(binding = 0) uniform texture2DArray map;
layout(binding = 1, std430) readonly buffer Pyramid { float pyramid[]; };
layout(binding = 2, std430) readonly buffer Tiles {
    TileListHeader header;
    Tile tiles[];
};
