// Page table, which has the tile of each texel; and the importance map for the next frame.
// CPU twin: page_table_of and faded_importance of lib/shadow/reference/shadow_fitter.cpp.
// Source: docs/shadows.md, steps 10 and 1.

// Writes four texels. `quad` counts them along the Z-order curve, light by light.
void write_pages(uint quad) {
    const uint block_quads = 1U << (2 * block_levels() - 2);
    const uint light = quad / (block_quads * light_blocks());
    if (light >= parameters.lights) {
        return;
    }
    if (quad < parameters.lights * first_node(levels_above())) {
        words[upper_node_word(0, quad) + NODE_IMPORTANCE] = 0;  // for the next frame
    }
    const uint block = block_word(quad / block_quads);
    const uint first_place = 4 * (quad % block_quads);  // within the block
    const uint first = tallies_before(quad / block_quads, TALLY_ALL / 2) & 0xffffU;
    const uint found = words[block + BLOCK_FOUND];
    const uint cover = words[block + BLOCK_COVER];
    const uint covering = first + words[block + BLOCK_COUNT] - 1;
    const uint starts = words[block + BLOCK_STARTS + first_place / 32];
    const uint rank = words[block + BLOCK_RANKS + first_place / 32];
    const uvec2 origin = z_order(quad / block_quads % light_blocks()) << block_levels();
    for (uint i = 0; i < 4; ++i) {
        const uint place = first_place + i;
        const ivec3 texel = ivec3(origin + z_order(place), light);
        uint page = 0;
        if (cover == SHADOW_NONE) {
            const uint begun = rank + uint(bitCount(starts & (0xffffffffU >> (31 - place % 32)))) - 1;
            page = shadow_page(first + begun, words[found_word(found + begun) + FOUND_NODE] & 0xffU);
        } else {
            page = shadow_page(covering, cover);
        }
        imageStore(page_table, texel, uvec4(page));
        const float importance = uintBitsToFloat(imageLoad(importance_map, texel).x);
        imageStore(importance_map, texel, uvec4(floatBitsToUint(shadow_faded(parameters, importance))));
    }
}
