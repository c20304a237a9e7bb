// Classification of each tile and tallies of a block, for list.comp. All threads take all steps of loops with loads of
// the last frame, with a tile or without: lavapipe loses threads otherwise. Several workgroups set cells and bits;
// readers follow a barrier of the command buffer.

void occupy(bool has_slot, uint cell, uint slot_class) {
    const uint cells = shadow_slot_cells(slot_class);
    const uint first = cells_word() + cell / 32;
    if (has_slot && cells < 32) {
        atomicOr(words[first], ((1U << cells) - 1) << (cell % 32));
    }
    for (uint word = 0; word < PAGE_WORDS; ++word) {
        if (has_slot && word < cells / 32) {
            words[first + word] = 0xffffffffU;
        }
    }
}

ShadowStep step_here;  // of the light's map

// Bits of the block's tiles, in canonical order: three for the class, then whether it is kept, is drawn, needs a slot.
const uint BITS_CLASS = 0;
const uint BITS_KEPT = 3;
const uint BITS_RENDERED = 4;
const uint BITS_NEW = 5;
const uint BITS = 6;
const uint BIT_WORDS = SHADOW_BLOCK_TEXELS / 32;
shared uint bits[BITS * BIT_WORDS];

void clear_bits() {
    if (gl_LocalInvocationIndex < BITS * BIT_WORDS) {
        bits[gl_LocalInvocationIndex] = 0;
    }
}

void set_bit(uint which, uint rank) { atomicOr(bits[which * BIT_WORDS + rank / 32], 1U << (rank % 32)); }

uint class_in_bits(uint rank) {
    uint slot_class = 0;
    for (uint i = 0; i < 3; ++i) {
        slot_class |= (bits[(BITS_CLASS + i) * BIT_WORDS + rank / 32] >> (rank % 32) & 1U) << i;
    }
    return slot_class;
}

// Returns the bits of tiles of a class.
uint bits_of_class(uint slot_class, uint word) {
    uint of_class = 0xffffffffU;
    for (uint i = 0; i < 3; ++i) {
        const uint here = bits[(BITS_CLASS + i) * BIT_WORDS + word];
        of_class &= (slot_class >> i & 1U) != 0 ? here : ~here;
    }
    return of_class;
}

uint bits_below(uint count, uint word) {
    return count >= 32 * word + 32 ? 0xffffffffU : count > 32 * word ? (1U << (count - 32 * word)) - 1 : 0;
}

// Returns the bits of tiles that count for a tally (bindings.glsl), with more beyond the block's last tile.
uint bits_of_tally(uint tally, uint word) {
    if (tally >= TALLY_BY_CLASS) {
        return bits_of_class(tally - TALLY_BY_CLASS, word);
    }
    if (tally >= TALLY_NEW_BY_CLASS) {
        return bits_of_class(tally - TALLY_NEW_BY_CLASS, word) & bits[BITS_NEW * BIT_WORDS + word];
    }
    return tally == TALLY_ALL ? 0xffffffffU : bits[(BITS_KEPT + tally - TALLY_KEPT) * BIT_WORDS + word];
}

// Writes the ranks of the block's tiles, and its tallies.
void tally_block(uint first_found, uint count, uint block) {
    const uint bit_words = (count + 31) / 32;
    for (uint i = 0; i < count; i += BLOCK_THREADS) {
        const uint rank = i + gl_LocalInvocationIndex;
        const uint slot_class = class_in_bits(min(rank, count - 1));
        uint ranks = 0;
        for (uint word = 0; word < bit_words; ++word) {
            const uint of_class = bits_of_class(slot_class, word) & bits_below(rank, word);
            ranks += uint(bitCount(of_class & bits[BITS_NEW * BIT_WORDS + word])) + (uint(bitCount(of_class)) << 16);
        }
        if (rank < count) {
            words[found_word(first_found + rank) + FOUND_RANKS] = ranks;
        }
    }
    const uint tally = min(gl_LocalInvocationIndex, 2 * SHADOW_TALLY_WORDS - 1);  // the last one stays 0
    uint sum = 0;
    for (uint word = 0; word < bit_words; ++word) {
        sum += uint(bitCount(bits_of_tally(tally, word) & bits_below(count, word)));
    }
    add_tally(block, tally, sum);
}

float importance_of(uint level, uvec2 node, uint first_texel, uint block, uint light) {
    if (level == 0) {
        return uintBitsToFloat(imageLoad(importance_map, importance_place(node, origin_of(light), light)).x);
    }
    const bool is_above = level > block_levels();
    const uint place = is_above ? gl_WorkGroupID.x >> (2 * (level - block_levels())) : first_texel >> (2 * level);
    const uint word = is_above ? upper_node_word(light, first_node(parameters.map_levels - level) + place)
                               : block_node_word(block, first_node(block_levels() - level) + place);
    return uintBitsToFloat(words[word + NODE_IMPORTANCE]);
}

// Writes the words and bits of a found tile, if there is one. `item`: its first texel in the block, in the upper half
// its level.
void write_found(uint first_found, uint rank, bool is_tile, uint item, uint block, uint light) {
    const uint level = item >> 16;
    const uvec2 origin = z_order(gl_WorkGroupID.x) << block_levels();
    const uvec2 node = (origin + z_order(item & 0xffffU)) >> level;
    const float importance = importance_of(level, node, item & 0xffffU, block, light);
    const uint page = last_node_page(last_page(node << level, step_here, light), step_here, level);
    const bool kept = shadow_page_level(page) == level;
    uint last_class = 0;
    uint last_slot = 0;
    if (kept) {
        const ShadowTile last = load_tile(shadow_page_tile(page));
        last_class = last.state & 0xffU;
        last_slot = last.slot;
    }
    const uint slot_class = shadow_class(parameters, level, importance, last_class, header.factor_index);
    const bool has_slot = kept && slot_class == last_class;
    const uint cell = has_slot ? shadow_cell_of_slot(parameters.tile_extent, last_slot) : SHADOW_NONE;
    occupy(is_tile && has_slot, cell, slot_class);
    if (!is_tile) {
        return;
    }
    const uint found = first_found + rank;
    if (kept) {
        set_bit(BITS_KEPT, rank);
    }
    if (!has_slot) {
        set_bit(BITS_NEW, rank);
    }
    if (!has_slot || step_here.changed != 0) {
        set_bit(BITS_RENDERED, rank);
        atomicOr(words[rendered_word() + found / 32], 1U << (found % 32));
    }
    for (uint i = 0; i < 3; ++i) {
        if ((slot_class >> i & 1U) != 0) {
            set_bit(BITS_CLASS + i, rank);
        }
    }
    const uint first = found_word(found);
    words[first + FOUND_POSITION] = tile_position(node.x, node.y);
    words[first + FOUND_NODE] = tile_node(level, 0, light);
    words[first + FOUND_IMPORTANCE] = floatBitsToUint(importance);
    words[first + FOUND_CLASSIFIED] = slot_class | (kept ? CLASSIFIED_KEPT : 0);
    words[first + FOUND_CELL] = cell;
    words[first + FOUND_BLOCK] = block;
}
