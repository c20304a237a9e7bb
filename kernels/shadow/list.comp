// Finds the tiles with the chosen factor: those that begin in each block, their classification, and tallies from which
// allocate.comp makes their places. Steps 5 to 7; twin: subdivide, thresholds_of, classified.
//
// Dispatch: by block (bindings.glsl). The list is in canonical order, along the curve of the blocks. So the tiles of a
// block are consecutive, and a tile that covers several blocks belongs to the first of them. The first part of the work is
// 0 before. Writes the work and the blocks.
// Memory order: cells, bits, tallies and the number of found tiles are raised by atomics.
#version 460
#include "bindings.glsl"

layout(local_size_x = BLOCK_THREADS) in;

// ---- Classification. All threads take all steps of loops with loads of the last frame, with a tile or without:
// LOST_THREADS (cpu_drivers.glsl).

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
    if (tally == TALLY_STATIC) {
        tally = TALLY_RENDERED;  // change.comp finds those with moving casters alone
    }
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
        const uint place = min(rank, count - 1);
        const uint slot_class = words[found_word(first_found + place) + FOUND_CLASSIFIED] & CLASSIFIED_CLASS;
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
    const uint word = is_above ? upper_node_word(light, shadow_first_nodes(parameters.map_levels - level) + place)
                               : block_node_word(block, shadow_first_nodes(block_levels() - level) + place);
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
    const ShadowTile last = load_tile(kept ? shadow_page_tile(page) : 0);
    const uint last_class = kept ? last.state & 0xffU : 0;
    const uint slot_class = shadow_class(parameters, level, importance, last_class, header.factor_index);
    const bool has_slot = kept && slot_class == last_class;
    const uint cell = has_slot ? shadow_cell_of_slot(parameters.tile_extent, last.slot) : SHADOW_NONE;
    occupy(is_tile && has_slot, cell, slot_class);
    if (!is_tile) {
        return;
    }
    const uint found = first_found + rank;
    const bool is_rendered = !has_slot || step_here.changed != SHADOW_SAME;
    if (is_rendered) {
        atomicOr(words[rendered_word() + found / 32], 1U << (found % 32));
        atomicOr(words[static_word() + found / 32], 1U << (found % 32));
    }
    const uint own = slot_class << BITS_CLASS | uint(kept) << BITS_KEPT | uint(is_rendered) << BITS_RENDERED |
                     uint(!has_slot) << BITS_NEW;
    for (uint i = 0; i < BITS; ++i) {
        if ((own >> i & 1U) != 0) {
            atomicOr(bits[i * BIT_WORDS + rank / 32], 1U << (rank % 32));
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

// ---- Tiles that begin in the block

shared uint cover;  // 1 + level of the tile that covers the block; 0: none
shared uint ends[BLOCK_NODES];
shared uint starts[BIT_WORDS];
shared uint ranks[BIT_WORDS];
shared uint items[SHADOW_BLOCK_TEXELS];  // of the tiles that begin here: first texel, and level << 16
shared uint first_found;
shared uint count;

bool is_split(uint end) { return header.factor_index < end; }

void begin(uint block, uint light) {
    const uint thread = gl_LocalInvocationIndex;
    if (thread == 0) {
        cover = 0;
    }
    if (thread < BIT_WORDS) {
        starts[thread] = 0;
    }
    if (thread < BITS * BIT_WORDS) {
        bits[thread] = 0;
    }
    FOR_EACH(i, shadow_first_nodes(block_levels())) {
        ends[i] = words[block_node_word(block, i) + NODE_END];
    }
    barrier();
    // All nodes above a split node are split, so the highest node that is not is a tile.
    if (thread == 0 && !is_split(ends[0])) {
        atomicMax(cover, 1 + block_levels());
    }
    if (thread < levels_above()) {
        const uint place = gl_WorkGroupID.x >> (2 * (levels_above() - thread));
        if (!is_split(words[upper_node_word(light, shadow_first_nodes(thread) + place) + NODE_END])) {
            atomicMax(cover, 1 + parameters.map_levels - thread);
        }
    }
    barrier();
}

// Returns the first texel of a node within the block, along the Z-order curve.
uint first_texel(uint i, uint below_root) {
    return (i - shadow_first_nodes(below_root)) << (2 * (block_levels() - below_root));
}

bool is_tile(uint i) { return i > 0 && !is_split(ends[i]) && is_split(ends[(i - 1) / 4]); }

uint rank_of(uint texel) { return ranks[texel / 32] + bitCount(starts[texel / 32] & ((1U << (texel % 32)) - 1)); }

bool has_texels() {
    const uint quads_below = block_levels() - 1;
    return gl_LocalInvocationIndex < (1U << (2 * quads_below)) &&
           is_split(ends[shadow_first_nodes(quads_below) + gl_LocalInvocationIndex]);
}

void find_starts() {
    const uint thread = gl_LocalInvocationIndex;
    FOR_EACH(i, shadow_first_nodes(block_levels())) {
        if (is_tile(i)) {
            const uint texel = first_texel(i, levels_below_root(i));
            atomicOr(starts[texel / 32], 1U << (texel % 32));
        }
    }
    if (has_texels()) {
        atomicOr(starts[thread / 8], 0xfU << (4 * thread % 32));
    }
}

void find_items() {
    const uint thread = gl_LocalInvocationIndex;
    FOR_EACH(i, shadow_first_nodes(block_levels())) {
        if (is_tile(i)) {
            const uint below_root = levels_below_root(i);
            const uint texel = first_texel(i, below_root);
            items[rank_of(texel)] = texel | (block_levels() - below_root) << 16;
        }
    }
    if (has_texels()) {
        for (uint i = 0; i < 4; ++i) {
            items[rank_of(4 * thread) + i] = 4 * thread + i;
        }
    }
}

void write_block(uint block) {
    const uint thread = gl_LocalInvocationIndex;
    const bool covered = cover > 0;
    const uint above = covered ? cover - 1 - block_levels() : 0;
    const bool begins_here = (gl_WorkGroupID.x & ((1U << (2 * above)) - 1)) == 0;  // that tile
    if (thread < BIT_WORDS) {
        uint before = 0;
        for (uint word = 0; word < (covered ? 0 : BIT_WORDS); ++word) {
            before += word < thread ? uint(bitCount(starts[word])) : 0;
        }
        ranks[thread] = before;
        if (!covered) {
            words[block_word(block) + BLOCK_STARTS + thread] = starts[thread];
            words[block_word(block) + BLOCK_RANKS + thread] = before;
        }
        if (thread == BIT_WORDS - 1) {
            count = covered ? uint(begins_here) : before + uint(bitCount(starts[thread]));
            first_found = count > 0 ? atomicAdd(words[found_count_word()], count) : 0;
            words[block_word(block) + BLOCK_COVER] = covered ? cover - 1 : SHADOW_NONE;
            words[block_word(block) + BLOCK_COUNT] = count;
            words[block_word(block) + BLOCK_FOUND] = first_found;
        }
    }
}

void main() {
    const uint light = gl_WorkGroupID.z;
    const uint block = light * light_blocks() + gl_WorkGroupID.x;
    step_here = step_of(light);
    if (step_here.changed == SHADOW_UNUSED) {
        return;
    }
    begin(block, light);
    if (cover == 0) {
        find_starts();
    }
    barrier();
    write_block(block);
    barrier();
    if (cover == 0) {
        find_items();
    } else if (gl_LocalInvocationIndex == 0) {
        items[0] = (cover - 1) << 16;
    }
    barrier();
    for (uint i = 0; i < count; i += BLOCK_THREADS) {
        const uint rank = i + gl_LocalInvocationIndex;
        write_found(first_found, rank, rank < count, items[min(rank, count - 1)], block, light);
    }
    barrier();
    if (count > 0) {
        tally_block(first_found, count, block);
    }
}
