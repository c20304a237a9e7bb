#version 460
// Counts the tiles below each block: the first pass of canonical order. fused.glsl has the common parts of all fused
// kernels.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels (x, y) and layer (z), from first_block and
// first_layer on.
//
// For each node that is handed over the kernel writes a record of its outcome, and the place of its tiles. These stay:
// after a change of some blocks only those blocks are counted again, and the groups that they lie in.
//
// Bindings: those of fused.glsl.
//
// Memory order: the hand-over of messages.glsl. The number of tiles below a split node, and of NaN texels, is released
// before the node is sent. The workgroup that treats the group acquires. Updates release and acquire everything, and
// send no messages, because the nodes of blocks that do not run have stayed. Layers count themselves in by ARRIVE; the
// last one gives all layers their places and completes the header. The next pass reads the records.

#define PASS PASS_COUNT
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_tiles.glsl"
#include "fused_ascent.glsl"
#include "fused_header.glsl"

// Returns the first word of a group's node at a place on the curve; 0 if there is none.
uint word_of_node(Block block, uint place) {
    const uvec2 position = first_of_step_1(block) + morton(place);
    const uvec2 extent = extent_of(block.base + 1);
    const bool is_there = place < 1U << 2 * (block.steps - 1) && all(lessThan(position, extent));
    return is_there ? block.nodes + position.y * extent.x + position.x : 0;
}

// Returns the tiles below a thread's nodes of a group, in Z-order. Only split nodes have handed over some.
uvec4 tiles_handed_over(Block block, uint thread) {
    const uint level = block.base + 1;
    const uint plane = NODE_TILES * nodes_of_level(level);
    uvec4 tiles;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint node = 4 * thread + i;
        const uint word = word_of_node(block, node);
        const bool has_tiles =
            word != 0 && is_split(level, first_of_step_1(block) + morton(node), step_1[node]);
        tiles[i] = has_tiles ? HANDED_OVER(words[word + plane]) : 0;
    }
    return tiles;
}

// Writes the records of a group's nodes and the places of their tiles, for fused_emit.comp.
void write_records(Block block, uint thread, uint tiles, float tile_importance, uvec4 handed_over,
                   uint place) {
    const uint level = block.base + 1;
    const uint nodes = nodes_of_level(level);
    const uint step = tiles >> TILE_STEP_SHIFT;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint word = word_of_node(block, 4 * thread + i);
        if (word != 0) {
            uint record = 0;
            float importance = step_1[4 * thread + i];
            if (is_split(level, first_of_step_1(block) + morton(4 * thread + i), importance)) {
                record = RECORD_SPLIT;
            } else if ((tiles >> (QUAD_TILES_SHIFT + i) & 1) != 0) {
                record = 1 + level;
            } else if (i == 0 && step != 0) {
                record = 1 + block.base + step;
                importance = tile_importance;
            }
            words[word + NODE_RECORD * nodes] = record;
            words[word + NODE_PLACE * nodes] = place;
            words[word + NODE_TILE_IMPORTANCE * nodes] = floatBitsToUint(importance);
            place += record == RECORD_SPLIT ? handed_over[i] : min(record, 1U);
        }
    }
}

Found find(Block block, bool is_root, uint thread) {
    Found found = Found(0, 0, 0, 0.0, uvec4(0));
    found.tiles = find_tiles(block, thread, found.importance);
    uint count = tile_count(found.tiles);
    if (block.base > 0) {
        found.handed_over = tiles_handed_over(block, thread);
        count += found.handed_over.x + found.handed_over.y + found.handed_over.z +
                 found.handed_over.w;
    }
    found.before = scan(count, thread, found.total);
    return found;
}

void publish_nan(Block block, Group group, bool is_root, uint nan, uint layer_state) {
    uint added = nan;
    if (!is_root) {
        const uint word =
            word_of(group, block.index) + NODE_NAN_TEXELS * nodes_of_level(group.level);
        added -= is_update() ? words[word] : 0;
        words[word] = nan;
    }
    add_nan_texels(added, layer_state);
}

uint reserve(bool is_root, uint total, uint below, uint layer_state) { return 0; }

void write(Block block, uint thread, Found found) {
    if (block.base > 0) {
        write_records(block, thread, found.tiles, found.importance, found.handed_over,
                      found.before);
    }
}

void finish_layer(bool is_finisher, float importance, uint total, uint below, uint thread) {
    if (thread == 0) {
        const uint layer_state = layer_words();
        const uint nan_before = is_update() ? words[layer] : 0;
        words[layer] = nan_before + atomicExchange(words[layer_state + LAYER_NAN_WORD], 0,
                                                   gl_ScopeDevice, 0, 0);
        HAND_OVER(words[layer_state + LAYER_TILES_WORD], total);
        words[layer_state + LAYER_IMPORTANCE_WORD] = floatBitsToUint(importance);
        goes_on = is_last_layer();
    }
    announce();
    if (!goes_on) {
        return;
    }
    const uint required = place_layers(thread);
    if (thread == 0) {
        finish_list(required, 0);
    }
}

void main() { ascend(); }
