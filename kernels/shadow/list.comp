// Finds the tiles with the chosen factor: those that begin in each block, their classification, and tallies from which
// allocate.comp makes their places.
// CPU twin: subdivide, thresholds_of and classified of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, one per block (x, along the Z-order curve) and layer (z), with one thread per
// four texels.
// Bindings: bindings.glsl. Reads nodes, importance map, page table and tiles of the last frame. The first part of the
// work is 0 before. Writes the found tiles, blocks, cells, bits of tiles and tallies.
// Memory order: cells, bits, tallies and the number of found tiles are raised by atomics. Barriers separate writes and
// reads of shared data.
// Source: docs/shadows_definition.md, steps 5 to 7. The list is in canonical order, along the Z-order curve. So the
// tiles of a block are consecutive, and a tile that covers several blocks belongs to the first of them.
#version 460
#include "bindings.glsl"

layout(local_size_x = BLOCK_THREADS) in;
#include "classify.glsl"

shared uint cover;  // 1 + level of the tile that covers the block; 0: none
shared uint ends[BLOCK_NODES];
shared uint starts[SHADOW_BLOCK_TEXELS / 32];
shared uint ranks[SHADOW_BLOCK_TEXELS / 32];
shared uint items[SHADOW_BLOCK_TEXELS];  // of the tiles that begin here: first texel, and level << 16
shared uint first_found;
shared uint count;

bool is_split(uint end) { return header.factor_index < end; }

void begin(uint block, uint light) {
    const uint thread = gl_LocalInvocationIndex;
    if (thread == 0) {
        cover = 0;
    }
    if (thread < SHADOW_BLOCK_TEXELS / 32) {
        starts[thread] = 0;
    }
    clear_bits();
    FOR_EACH(i, first_node(block_levels())) {
        ends[i] = words[block_node_word(block, i) + NODE_END];
    }
    barrier();
    // All nodes above a split node are split, so the highest node that is not is a tile.
    if (thread == 0 && !is_split(ends[0])) {
        atomicMax(cover, 1 + block_levels());
    }
    if (thread < levels_above()) {
        const uint place = gl_WorkGroupID.x >> (2 * (levels_above() - thread));
        if (!is_split(words[upper_node_word(light, first_node(thread) + place) + NODE_END])) {
            atomicMax(cover, 1 + parameters.map_levels - thread);
        }
    }
    barrier();
}

// ---- A block of smaller tiles

// Returns the first texel of a node within the block, along the Z-order curve.
uint first_texel(uint i, uint below_root) {
    return (i - first_node(below_root)) << (2 * (block_levels() - below_root));
}

bool is_tile(uint i) { return i > 0 && !is_split(ends[i]) && is_split(ends[(i - 1) / 4]); }

// Returns how many tiles begin before a texel.
uint rank_of(uint texel) { return ranks[texel / 32] + bitCount(starts[texel / 32] & ((1U << (texel % 32)) - 1)); }

// Returns whether this thread's four texels are tiles.
bool has_texels() {
    const uint quads_below = block_levels() - 1;
    return gl_LocalInvocationIndex < (1U << (2 * quads_below)) &&
           is_split(ends[first_node(quads_below) + gl_LocalInvocationIndex]);
}

void find_starts() {
    const uint thread = gl_LocalInvocationIndex;
    FOR_EACH(i, first_node(block_levels())) {
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
    FOR_EACH(i, first_node(block_levels())) {
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

// ---- A block that one tile covers

bool begins_here() {
    const uint above = cover - 1 - block_levels();
    return (gl_WorkGroupID.x & ((1U << (2 * above)) - 1)) == 0;
}

// ---- All

void write_block(uint block) {
    const uint thread = gl_LocalInvocationIndex;
    const bool covered = cover > 0;
    if (thread < SHADOW_BLOCK_TEXELS / 32) {
        uint before = 0;
        for (uint word = 0; word < (covered ? 0 : SHADOW_BLOCK_TEXELS / 32); ++word) {
            before += word < thread ? uint(bitCount(starts[word])) : 0;
        }
        ranks[thread] = before;
        if (!covered) {
            words[block_word(block) + BLOCK_STARTS + thread] = starts[thread];
            words[block_word(block) + BLOCK_RANKS + thread] = before;
        }
        if (thread == SHADOW_BLOCK_TEXELS / 32 - 1) {
            count = covered ? (begins_here() ? 1 : 0) : before + uint(bitCount(starts[thread]));
            first_found = 0;
            if (count > 0) {
                first_found = atomicAdd(words[found_count_word()], count);
            }
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
