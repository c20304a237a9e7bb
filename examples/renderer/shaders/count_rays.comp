// A workgroup per tile. A baker would trace the rays of a tile here; this example counts them.
#version 460

#include "resources.glsl"

layout(local_size_x = 64) in;
layout(binding = 2, std430) buffer Sums { Totals totals; };

void main() {
    // Workgroups fill whole rows, so the last few may have no tile.
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= header.written || gl_LocalInvocationIndex != 0) {
        return;
    }
    const Tile tile = tiles[index];
    // With so many rays along a side, each texel of the lightmap gets about one.
    const uint side = uint(ceil(tile.importance * float(1U << tile_level(tile))));
    const uint rays = side * side;
    if (atomicAdd(totals.rays_low, rays) + rays < rays) {
        atomicAdd(totals.rays_high, 1);
    }
    atomicAdd(totals.tiles, 1);
}
