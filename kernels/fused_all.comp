#version 460
// From the map to its tiles in any order, in one pass. fused.glsl has what all fused kernels do alike.
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels (x, y) and layer (z), from first_block
// and first_layer on.
//
// Each workgroup that has found tiles reserves places for them by one atomic addition.
//
// Bindings: fused.glsl.
//
// Memory order: the hand-over of hand_over.glsl. Thread 0 adds to tile_count and to the NaN texels before its
// release, so the workgroup that makes the root has all additions of its layer behind it. Layers count themselves in
// likewise, and the last one completes the header.

#define PASS PASS_ALL
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_list.glsl"
#include "fused_ascent.glsl"
#include "fused_header.glsl"

shared uint first_place;  // of the workgroup's tiles in the list

Found find(Block block, bool is_root, uint thread) {
    Found found = Found(0, 0, 0, 0.0, uvec4(0));
    found.tiles = find_tiles(block, thread, found.importance);
    found.before = scan(tile_count(found.tiles), thread, found.total);
    lay_out(block, thread, found.tiles, found.importance, found.before);
    return found;
}

void publish(Block block, Group group, bool is_root, bool has_tiles, uint total, uint layer_state) {
    if (block.base == 0) {
        add_nan_texels(nan_texels, layer_state);
    }
    if (has_tiles) {
        first_place = in_parts() ? layer * part_capacity() +
                                       atomicAdd(words[layer_state + LAYER_PART_WORD], total,
                                                 gl_ScopeDevice, 0, 0)
                                 : atomicAdd(state.tile_count, total, gl_ScopeDevice, 0, 0);
    }
}

void write(Block block, uint thread, Found found) {
    write_tiles(block, thread, found.total, first_place);
}

void finish_layer(uint layer_state, uint total, uint thread) {
    if (thread == 0) {
        words[layer] = atomicExchange(words[layer_state + LAYER_NAN_WORD], 0, gl_ScopeDevice, 0, 0);
        // The root's workgroup has added last.
        const uint first = in_parts() ? layer * part_capacity() : 0;
        const uint required = first_place - first + total;
        if (in_parts()) {
            words[layer_state + LAYER_PART_WORD] = 0;
            layer_headers[layer] = make_header(required, first, part_capacity());
            atomicAdd(state.tile_count, required, gl_ScopeDevice, 0, 0);
            atomicAdd(state.written_count, min(required, part_capacity()), gl_ScopeDevice, 0, 0);
        }
        if (is_last_layer()) {
            const bool is_whole = parameters.layers == 1 && !in_parts();
            finish_list(is_whole ? required : atomicAdd(state.tile_count, 0, gl_ScopeDevice, 0, 0),
                        in_parts() ? atomicAdd(state.written_count, 0, gl_ScopeDevice, 0, 0) : 0);
            state.tile_count = 0;
            state.written_count = 0;
        }
    }
}

void main() { ascend(); }
