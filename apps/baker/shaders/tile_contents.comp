// Writes the contents of each tile of a list: its importance and its fragments.
//
// Dispatch: any number of workgroups of 64 threads.
// Bindings: the sums of fragments as mip levels of an image, the importance map, its pyramid (for uniform tiles), the
// tile list, the answers (one per tile, as many as fit).
// Memory: each thread writes words of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include <quadtile/quadtree.h>
#include <quadtile/tile_list.h>
#include "bake.h"

layout(local_size_x = 64) in;

layout(set = 0, binding = 6) uniform texture2DArray fragment_sums;
layout(set = 0, binding = 8) uniform texture2DArray importance_map;
layout(set = 0, binding = 9, std430) readonly buffer Pyramid {
    float pyramid[];
};
layout(set = 0, binding = 10, std430) readonly buffer List {
    TileListHeader header;
    Tile tiles[];
};
layout(set = 0, binding = 11, std430) writeonly buffer Contents {
    TileContents contents[];
};
layout(push_constant, std430) uniform PushConstants {
    MapParameters parameters;
};

void main() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < header.written; i += stride) {
        const Tile tile = tiles[i];
        const uint level = tile_level(tile);
        const uvec2 place = uvec2(tile_x(tile), tile_y(tile));
        const uint layer = tile_layer(tile);
        float importance = tile.importance;
        if (parameters.is_uniform != 0) {
            importance = level == 0
                             ? texelFetch(importance_map, ivec3(place, layer), 0).x
                             : pyramid[pyramid_index(parameters.extent, parameters.extent, level,
                                                     place.x, place.y, layer)];
        }
        contents[i] = TileContents(
            importance, texelFetch(fragment_sums, ivec3(place, layer), int(level)).x);
    }
}
