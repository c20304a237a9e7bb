#version 460
// Writes the tiles of a map in any order, in one pass. fused.glsl has the common parts of all fused kernels. Each
// workgroup with tiles reserves their places by one atomic addition.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels (x, y) and layer (z).
//
// Bindings: those of fused.glsl.
//
// Memory order: the hand-over of messages.glsl. Workgroups without tiles release nothing. Tiles are counted with the
// arrivals of blocks; groups of groups release them. NaN texels count as infinity: the sender of an infinite node
// releases, and its receiver acquires. Reserved places are given back by subtraction, which may come before or after
// any addition. Layers count themselves in by ARRIVE, and the last one completes the header.

#define PASS PASS_ALL
#include "fused.glsl"
#include "fused_list.glsl"
#include "fused_ascent.glsl"
#include "fused_header.glsl"

uint find(Block block, uint thread) {
    keep_thresholds(thread);
    float importance;
    const uint tiles = find_tiles(block, thread, importance);
    uint total;
    const uint before = scan(tile_count(tiles), thread, total);
    lay_out(block, thread, tiles, importance, before);
    return total;
}

void write(Block block, uint thread, uint total) { write_tiles(block, thread, total, place); }

void finish_layer(bool is_finisher, float importance, uint total, uint below, uint thread) {
    if (!is_finisher) {
        return;
    }
    const uint layer_state = layer_words();
    const float threshold = threshold_of(parameters.top_level, uvec2(0));
    if (importance < threshold) {
        write_node(place, parameters.tile_capacity, layer, Node(parameters.top_level, uvec2(0), importance, threshold), 0);
    }
    words[layer] = take_nan_texels(importance, layer_state);
    uint required = below + total;
    if (parameters.layers > 1) {
        ADD_RELAXED(state.required_count, required);
        if (!is_last_layer()) {
            return;
        }
        required = TAKE_RELAXED(state.required_count);
        below = required;
    }
    if (below != 0) {
        ADD_RELAXED(state.place_count, -below);
    }
    finish_list(required);
}
