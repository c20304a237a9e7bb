// Writes the number of fragments of each tile of a list.
//
// Dispatch: any number of workgroups of 64 threads.
// Bindings: the sums of fragments as mip levels of an image, the tile list, the answers (one per tile, as many as fit).
// Memory: each thread writes words of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include <quadtile/tile_list.h>

layout(local_size_x = 64) in;

layout(set = 0, binding = 6) uniform texture2DArray fragment_sums;
layout(set = 0, binding = 8, std430) readonly buffer List {
    TileListHeader header;
    Tile tiles[];
};
layout(set = 0, binding = 9, std430) writeonly buffer Fragments {
    float fragments[];
};

void main() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < header.written; i += stride) {
        const Tile tile = tiles[i];
        const ivec3 place = ivec3(tile_x(tile), tile_y(tile), tile_layer(tile));
        fragments[i] = texelFetch(fragment_sums, place, int(tile_level(tile))).x;
    }
}
