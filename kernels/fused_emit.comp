#version 460
// Writes each tile to its place in the list: the second pass of canonical order. fused.glsl has the common parts of all
// fused kernels.
//
// Dispatch: workgroups of 256 threads, one per 2^SHARE_LEVELS x 2^SHARE_LEVELS blocks (x, y) and layer (z). These
// blocks lie as far apart as possible, because blocks with small tiles are close to each other.
//
// A thread per block reads the records of fused_count.comp, and writes the large tile that begins in the block. Then
// all threads read the blocks with small tiles again, and write these tiles.
//
// Bindings: those of fused.glsl. Memory order: barriers of the workgroup order shared memory only.

#define PASS PASS_EMIT
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_list.glsl"

// 0 to 2.
layout(constant_id = 26) const uint SHARE_LEVELS = 0;

// Returns the place of a block's first tile. NOWHERE: the block is outside the map, or has no smaller tiles. Writes the
// tile of the block's level or above that begins in it. One thread calls this.
const uint NOWHERE = ~0U;

uint place_of_block(uvec2 block) {
    if (!exists(BLOCK_LEVELS, block)) {
        return NOWHERE;
    }
    const uint layer_state = layer_words();
    const float root = uintBitsToFloat(words[layer_state + LAYER_IMPORTANCE_WORD]);
    if (!is_split(parameters.top_level, uvec2(0), root)) {
        if (block == uvec2(0)) {
            write_node(words[layer_state + LAYER_PLACE_WORD], end_of_places(), layer,
                       Node(parameters.top_level, uvec2(0), root,
                            threshold_of(parameters.top_level, uvec2(0))));
        }
        return NOWHERE;
    }
    // The records of fused_count.comp, from the bottom up: the highest level that is not split decides.
    uint place = 0;
    uint record = RECORD_SPLIT;
    float importance = 0.0;
    bool begins_here = false;
    uint level = BLOCK_LEVELS;
    uint counters = layer_state + LAYER_WORDS;
    for (uint i = 0; i < MAX_HANDOVERS; ++i) {
        if (level < parameters.top_level) {
            const uvec2 index = block >> (level - BLOCK_LEVELS);
            const Group group = group_of(level, index, counters);
            counters = next_counters(group);
            const uint word = word_of(group, index);
            const uint nodes = nodes_of_level(level);
            const uint found = words[word + NODE_RECORD * nodes];
            if (found != RECORD_SPLIT) {
                record = found;
                importance = uintBitsToFloat(words[word + NODE_TILE_IMPORTANCE * nodes]);
                begins_here = index << (level - BLOCK_LEVELS) == block;
                place = 0;
            }
            place += words[word + NODE_PLACE * nodes];
            level += group.levels;
        }
    }
    place += words[layer_state + LAYER_PLACE_WORD];
    if (record == RECORD_SPLIT) {
        return place;
    }
    if (begins_here && record > 0) {
        const uint tile_level = record - 1;
        const uvec2 position = block >> (tile_level - BLOCK_LEVELS);
        write_node(place, end_of_places(), layer,
                   Node(tile_level, position, importance, threshold_of(tile_level, position)));
    }
    return NOWHERE;
}

const uint MAX_SHARE_LEVELS = 2;
shared uint places[1 << 2 * MAX_SHARE_LEVELS];

// Returns the index of a block of the workgroup's share.
uvec2 block_index(uint i) { return gl_WorkGroupID.xy + gl_NumWorkGroups.xy * morton(i); }

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const uint blocks = 1U << 2 * SHARE_LEVELS;
    if (thread < blocks) {
        places[thread] = place_of_block(block_index(thread));
    }
    barrier();
    [[dont_unroll]]
    for (uint i = 0; i < blocks; ++i) {
        const uint place = places[i];
        if (place != NOWHERE) {
            const Block block =
                Block(0, min(BLOCK_LEVELS, parameters.top_level), block_index(i), 0);
            keep_step_1(true, read_quads(block, true, thread), thread);
            float tile_importance;
            const uint tiles = find_tiles(block, thread, tile_importance);
            uint total;
            const uint before = scan(tile_count(tiles), thread, total);
            lay_out(block, thread, tiles, tile_importance, before);
            barrier();
            write_tiles(block, thread, total, place);
            barrier();
        }
    }
}
