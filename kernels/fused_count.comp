#version 460
// Counts the tiles below each block: the first pass of canonical order. fused.glsl has the parts of all fused kernels.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels (x, y) and layer (z).
//
// For each node that is handed over the kernel keeps its importance and the place of its tiles, and of split groups
// also the importances of the nodes between.
//
// Bindings: those of fused.glsl.
//
// Memory order: the hand-over of messages.glsl. The number of tiles below a split node is a second message. NaN texels
// count as infinity: the sender of an infinite node releases, and its receiver acquires. Layers count themselves in by ARRIVE; the last one gives
// all layers their places and completes the header. The next pass reads importances and places.

#define PASS PASS_COUNT
#include "fused.glsl"
#include "fused_tiles.glsl"
#include "fused_ascent.glsl"
#include "fused_header.glsl"

// Results of find in a thread.
uint tiles;         // those that begin in the thread's texels (fused_tiles.glsl)
uint tiles_before;  // number of those of earlier threads, and below their nodes
uvec4 handed_over;  // tiles below the thread's nodes, of a group

uint find(Block block, uint thread) {
    float nodes[7];
    find_nodes(thread, nodes);
    float importance;
    tiles = tiles_of(block, thread, nodes, importance);
    uint count = tile_count(tiles);
    if (block.base > 0) {
        handed_over = receive(thread, split_nodes_of(block, thread), second_slots(ahead));
        count += handed_over.x + handed_over.y + handed_over.z + handed_over.w;
        keep_nodes(block, thread, nodes);
    }
    uint total;
    tiles_before = scan(count, thread, total);
    return total;
}

// Writes the places of the first tiles of a group's nodes.
void write(Block block, uint thread, uint total) {
    if (block.base > 0) {
        const uint exist = nodes_of(block, thread);
        uint place = tiles_before;
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            if ((exist >> i & 1) != 0) {
                const uvec2 index = 2 * position_of(block, thread) + morton(i);
                words[node_word(NODE_PLACE, block.base + 1, index)] = place;
            }
            const bool begins_here = i == 0 && tiles >> TILE_STEP_SHIFT != 0;
            place += handed_over[i] + (begins_here ? 1 : tiles >> (QUAD_TILES_SHIFT + i) & 1);
        }
    }
}

void finish_layer(bool is_finisher, float importance, uint total, uint below, uint thread) {
    const bool is_only_layer = parameters.layers == 1;
    if (thread == 0) {
        const uint layer_state = layer_words();
        keep_node(parameters.top_level, uvec2(0), importance, 0);
        words[layer] = take_nan_texels(importance, layer_state);
        if (is_only_layer) {
            finish_list(total);
        }
    }
    if (!is_only_layer) {
        finish_layers(total, thread);
    }
}
