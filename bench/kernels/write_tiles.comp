// Reads each texel of the map once and writes a tile for it: the roof of a list of all texels.
//
// A workgroup of 256 threads takes 64 x 64 texels of a layer (z), along the Z-order curve. Neighbouring threads write
// neighbouring tiles. The map's extents are multiples of 64.

#version 460

#include "quadtile/quadtree.h"
#include "quadtile/tile_list.h"

layout(local_size_x = 256) in;

layout(std430, binding = 0) writeonly buffer Tiles {
    Tile tiles[];
};
layout(binding = 1) uniform sampler2DArray map;

layout(push_constant) uniform Parameters {
    float threshold;
};

void main() {
    const uint block = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x +
                       gl_WorkGroupID.x;
    for (uint i = 0; i < 16; ++i) {
        const uint place = 256 * i + gl_LocalInvocationID.x;
        const uvec2 texel = gl_WorkGroupID.xy * 64 + uvec2(morton_x(place), morton_y(place));
        const float importance = texelFetch(map, ivec3(texel, gl_WorkGroupID.z), 0).r;
        tiles[4096 * block + place] = Tile(tile_position(texel.x, texel.y),
                                           tile_node(0, TILE_CLAMPED, gl_WorkGroupID.z), importance, threshold);
    }
}
