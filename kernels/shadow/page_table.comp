// Writes the page table, which has the tile of each texel, and fades the importance map for the next frame, texel by
// texel, whatever place of a light's map a texel has. Steps 10 and 1; twin: page_table_of, faded_importance.
//
// Dispatch: by block (bindings.glsl), beside allocate.comp. Leaves the importance of nodes above blocks at 0.
// Memory order: each texel has one thread. allocate.comp neither reads nor writes what this kernel writes.
#version 460
#include "bindings.glsl"

layout(local_size_x = BLOCK_THREADS) in;

void main() {
    const uint light = gl_WorkGroupID.z;
    const uint block = light * light_blocks() + gl_WorkGroupID.x;
    const uint thread = gl_LocalInvocationIndex;
    const uint node = block * BLOCK_THREADS + thread;
    if (node < frame.layers * shadow_first_nodes(levels_above())) {
        words[upper_node_word(0, node) + NODE_IMPORTANCE] = 0;
    }
    if (thread >= 1U << (2 * block_levels() - 2) || !is_used(light)) {
        return;
    }
    const uvec2 quad = (z_order(gl_WorkGroupID.x) << block_levels()) + 2 * z_order(thread);
    float importance[4];
    for (uint i = 0; i < 4; ++i) {
        importance[i] = uintBitsToFloat(imageLoad(importance_map, ivec3(quad + z_order(i), light)).x);
    }
    const uint word = block_word(block);
    const uint first = tallies_before(block, TALLY_ALL / 2) & 0xffffU;
    const uint found = words[word + BLOCK_FOUND];
    const uint cover = words[word + BLOCK_COVER];
    const uint covering = first + words[word + BLOCK_COUNT] - 1;
    const uint starts = words[word + BLOCK_STARTS + thread / 8];
    const uint rank = words[word + BLOCK_RANKS + thread / 8];
    for (uint i = 0; i < 4; ++i) {
        const ivec3 texel = ivec3(quad + z_order(i), light);
        uint page = shadow_page(covering, cover);
        if (cover == SHADOW_NONE) {
            const uint place = (4 * thread + i) % 32;
            const uint begun = rank + uint(bitCount(starts & (0xffffffffU >> (31 - place)))) - 1;
            page = shadow_page(first + begun, words[found_word(found + begun) + FOUND_NODE] & 0xffU);
        }
        imageStore(page_table, texel, uvec4(page));
        imageStore(importance_map, texel, uvec4(floatBitsToUint(shadow_faded(importance[i]))));
    }
}
