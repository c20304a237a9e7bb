// Counts the tiles of each level, the clamped tiles, and the texels that all tiles cover.
//
// Dispatch: any number of workgroups; together they walk over the list.
// Bindings: resources.glsl; 3: the tally, which is zero before the dispatch.
// Memory order: each workgroup counts in shared memory, ordered by barriers. It adds its counts by
// relaxed atomics, which only the host reads after the submission.
#version 460

#include "resources.glsl"

layout(local_size_x = 256) in;
layout(binding = 3, std430) buffer TallyBuffer { Tally tally; };
layout(push_constant) uniform Parameters { ProbeRequest request; };

shared uint tiles_of_level[MAX_LEVELS];
shared uint clamped;

// Adds to a sum of 64 bits. The thread that overflows the lower half adds the carry.
void add_texels(uint texels) {
    const uint before = atomicAdd(tally.covered_texels_low, texels);
    if (before + texels < before) {
        atomicAdd(tally.covered_texels_high, 1);
    }
}

void main() {
    if (gl_LocalInvocationIndex < MAX_LEVELS) {
        tiles_of_level[gl_LocalInvocationIndex] = 0;
    }
    if (gl_LocalInvocationIndex == 0) {
        clamped = 0;
    }
    barrier();
    uint texels = 0;
    for (uint i = gl_GlobalInvocationID.x; i < header.written; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
        const Tile tile = tiles[i];
        const uint level = tile_level(tile);
        const uvec2 first = uvec2(tile_x(tile), tile_y(tile)) << level;
        const uvec2 end = min(first + (1U << level), uvec2(request.map_width, request.map_height));
        texels += (end.x - first.x) * (end.y - first.y);
        atomicAdd(tiles_of_level[min(level, MAX_LEVELS - 1)], 1);
        if ((tile_flags(tile) & TILE_CLAMPED) != 0) {
            atomicAdd(clamped, 1);
        }
    }
    add_texels(texels);
    barrier();
    if (gl_LocalInvocationIndex < MAX_LEVELS && tiles_of_level[gl_LocalInvocationIndex] != 0) {
        atomicAdd(tally.tiles_of_level[gl_LocalInvocationIndex], tiles_of_level[gl_LocalInvocationIndex]);
    }
    if (gl_LocalInvocationIndex == 0 && clamped != 0) {
        atomicAdd(tally.clamped, clamped);
    }
}
