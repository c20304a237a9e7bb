// Resources of all shaders, in one descriptor set.

#extension GL_GOOGLE_include_directive : require

#include <quadtile/tile_list.h>

#include "scene.h"

layout(push_constant) uniform Parameters { View view; };

layout(binding = 0, std430) readonly buffer Vertices { Vertex vertices[]; };
layout(binding = 1, std430) readonly buffer Tiles {
    TileListHeader header;
    Tile tiles[];
};
