#version 460
// Counts the tiles below each block: the first pass of canonical order. Keeps the importance of each node that is handed
// over and the place of its tiles, and in split groups the importances of the nodes between.
//
// Memory order: the number of tiles below a split node is a second message.

#include "fused.glsl"
#include "fused_tiles.glsl"
#include "fused_ascent.glsl"

// Keeps a node and sends it with the number of its tiles: those of the block and below. Thread 0 calls this.
bool send(Group group, Ascent at, uint tiles) {
    keep_node(group.level, at.block.index, at.importance);
    if (at.splits) {
        send_second(group, at, tiles);
    }
    return send_node(group, at, 1, false);
}

// Writes the places of the first tiles of a group's nodes. `tiles`: those that begin in the thread's texels. `before`:
// number of those of earlier threads, and below their nodes. `below`: number below each of the thread's nodes.
void write_places(Block block, uint thread, uint tiles, uint before, uvec4 below) {
    const uint exist = nodes_of(block, thread);
    uint place = before;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        if ((exist >> i & 1) != 0) {
            const uvec2 index = 2 * position_of(block, thread) + morton(i);
            words[node_word(NODE_PLACE, block.base + 1, index)] = place;
        }
        const bool begins_here = i == 0 && tiles >> TILE_STEP_SHIFT != 0;
        place += below[i] + (begins_here ? 1 : tiles >> (QUAD_TILES_SHIFT + i) & 1);
    }
}

// All threads call this.
void finish_layer(Ascent at, uint total, uint thread) {
    const bool is_only_layer = parameters.layers == 1;
    if (thread == 0) {
        keep_node(parameters.top_level, uvec2(0), at.importance);
        finish_root(at);
        if (is_only_layer) {
            finish_list(total, 0, may_hold_nan(at.importance));
        }
    }
    if (!is_only_layer) {
        finish_layers(total, 0, thread);
    }
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    Ascent at = start(thread);
    for (bool receives = starts_from_group(); true; receives = true) {
        if (receives) {
            receive_group(at, thread);
        }
        const bool is_root = level_of(at) == parameters.top_level;
        const bool is_group = at.block.base > 0;
        uint total = uint(is_root);  // a root that is not split is a tile
        uint tiles = 0;
        uint before = 0;
        uvec4 below = uvec4(0);
        if (at.splits) {
            begin_search(at, false, thread);
            float nodes[7];
            find_nodes(thread, nodes);
            float importance;
            tiles = tiles_of(at.block, thread, nodes, importance);
            uint count = tile_count(tiles);
            if (is_group) {
                below = receive_second(at, thread, split_nodes_of(at.block, thread));
                count += below.x + below.y + below.z + below.w;
                keep_nodes(at.block, thread, nodes);
            }
            before = scan(count, thread, total);
            if (is_group) {
                renew_node(at);
            }
        }
        if (thread == 0) {
            goes_on = !is_root && send(group_of(at), at, total);
        }
        if (at.splits || !is_root) {
            barrier();
        }
        if (at.splits && is_group) {
            write_places(at.block, thread, tiles, before, below);
        }
        if (is_root) {
            finish_layer(at, total, thread);
            return;
        }
        if (!goes_on) {
            return;
        }
    }
}
