// Which tile each texel of the maps lies in; and what the maps keep of their importance for the next frame.
// CPU twin: page_table_of and faded_importance of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, one for each 32 x 32 texels of a map (x, y); lights as z.
// Bindings: bindings.glsl; reads the tile list, writes the page table, reads and writes the importance map.
// Memory order: each thread reads and writes texels of its own; keys in shared memory lie between barriers.
// Source: docs/shadows.md, steps 10 and 1. The list is in canonical order, along the Z-order curve: the tile of a
// texel is the last one that begins at the texel or before it.
#version 460
#include "bindings.glsl"

const uint BLOCK = 32;
const uint THREADS = 256;
const uint THREAD_TEXELS = BLOCK * BLOCK / THREADS;
layout(local_size_x = THREADS) in;

#define SEARCH_THREADS THREADS
#include "find_tile.glsl"

uint searched_tiles() { return list_header.written; }
uint searched_key(uint i) { return shadow_key(list_tiles[i].position, list_tiles[i].node); }

// Of the tiles that touch the block: each has a texel of it at least.
shared uint block_keys[BLOCK * BLOCK];
shared uint block_pages[BLOCK * BLOCK];

// The place of a texel's tile among those of the block.
uint find_in_block(uint key, uint count) {
    uint low = 0;
    uint high = count;
    for (uint step = 1; step < BLOCK * BLOCK; step *= 2) {
        const uint middle = (low + high) / 2;
        const bool is_behind = middle == low || block_keys[middle] > key;
        low = is_behind ? low : middle;
        high = is_behind ? middle : high;
    }
    return low;
}

uvec2 texel_of_share(uint k) {
    const uint i = k * THREADS + gl_LocalInvocationIndex;
    return gl_WorkGroupID.xy * BLOCK + uvec2(i % BLOCK, i / BLOCK);
}

void main() {
    const uint thread = gl_LocalInvocationIndex;
    const uint light = gl_WorkGroupID.z;
    const uint extent = 1U << parameters.map_levels;
    // Loaded first, so that they are on their way meanwhile.
    float importance[THREAD_TEXELS];
    for (uint k = 0; k < THREAD_TEXELS; ++k) {
        const uvec2 texel = min(texel_of_share(k), uvec2(extent - 1));
        importance[k] = uintBitsToFloat(imageLoad(importance_map, ivec3(texel, light)).x);
    }
    load_keys();
    barrier();

    const uvec2 origin = gl_WorkGroupID.xy * BLOCK;
    const uint first_key = (light << 24) | morton_encode(origin.x, origin.y);
    const uint first = find_tile(first_key);
    const uint count = find_tile(first_key | (BLOCK * BLOCK - 1)) - first + 1;
    for (uint k = 0; k < THREAD_TEXELS; ++k) {
        const uint i = k * THREADS + thread;
        if (i < count) {
            block_keys[i] = searched_key(first + i);
            block_pages[i] = shadow_page(first + i, list_tiles[first + i].node & 0xffU);
        }
    }
    barrier();

    for (uint k = 0; k < THREAD_TEXELS; ++k) {
        const uvec2 texel = texel_of_share(k);
        const uint key = (light << 24) | morton_encode(texel.x, texel.y);
        const uint page = block_pages[find_in_block(key, count)];  // not within the branch: lavapipe loses threads
        if (all(lessThan(texel, uvec2(extent)))) {
            imageStore(page_table, ivec3(texel, light), uvec4(page));
            imageStore(importance_map, ivec3(texel, light),
                       uvec4(floatBitsToUint(shadow_faded(parameters, importance[k]))));
        }
    }
}
