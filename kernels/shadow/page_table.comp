// Which tile each texel of the maps lies in.
// CPU twin: page_table_of of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, one for each 32 x 32 texels of a map (x, y); lights as z.
// Bindings: bindings.glsl; reads the tile list, writes the page table.
// Memory order: each thread writes texels of its own.
// Source: docs/shadows.md, step 10. The list is in canonical order, along the Z-order curve: the tile of a texel
// is the last one that begins at the texel or before it.
#version 460
#include "bindings.glsl"

const uint BLOCK = 32;
layout(local_size_x = 256) in;

// The last tile of [low, high) whose key is not above this one; the first one's is not.
uint find_tile(uint key, uint low, uint high) {
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        const Tile at = list_tiles[middle];
        if (shadow_key(at.position, at.node) <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void main() {
    const uint light = gl_WorkGroupID.z;
    const uint extent = 1U << parameters.map_levels;
    const uvec2 origin = gl_WorkGroupID.xy * BLOCK;
    const uint first_key = (light << 24) | morton_encode(origin.x, origin.y);
    const uint first = find_tile(first_key, 0, list_header.written);
    const uint last = find_tile(first_key | (BLOCK * BLOCK - 1), first, list_header.written);
    for (uint i = gl_LocalInvocationIndex; i < BLOCK * BLOCK; i += gl_WorkGroupSize.x) {
        const uvec2 texel = origin + uvec2(i % BLOCK, i / BLOCK);
        if (all(lessThan(texel, uvec2(extent)))) {
            const uint key = (light << 24) | morton_encode(texel.x, texel.y);
            const uint tile = find_tile(key, first, last + 1);
            imageStore(page_table, ivec3(texel, light),
                       uvec4(shadow_page(tile, list_tiles[tile].node & 0xffU)));
        }
    }
}
