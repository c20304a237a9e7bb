#version 460
// Split nodes of the balanced list, found from the bottom up: the first pass. Writes the mask (balance.glsl) and the
// importance of each node of the blocks' level and above, and for each split block its nodes of level 2 and which nodes its
// own splits force to be split.
//
// Memory order: the mask of a split node is a second message.

#include "fused.glsl"
#include "fused_ascent.glsl"
#include "balance.glsl"

shared uint masks[WORKGROUP_SIZE];
shared uint rows[BALANCE_ROWS];
shared uint node_mask;  // of the block's node, if that is split

// Returns which nodes around the parent of four siblings their masks force to be split. The masks lie in a window of 4
// x 4 nodes; each bit of the result covers the nodes from which it is reached.
uint forced_by(uvec4 siblings) {
    const uvec4 wide = (siblings & 0x7U) | (siblings & 0x38U) << 1 | (siblings & 0x1c0U) << 2;
    const uint window = wide.x | wide.y << 1 | wide.z << 4 | wide.w << 5;
    uint forced = 0;
#define REACH(bit, by_edges, by_corners) forced |= (window & (CORNERS ? by_corners : by_edges)) != 0 ? 1U << bit : 0
    REACH(0, 0x0013U, 0x0033U);
    REACH(1, 0x006fU, 0x00ffU);
    REACH(2, 0x008cU, 0x00ccU);
    REACH(3, 0x1331U, 0x3333U);
    REACH(4, 0x6ff6U, 0xffffU);
    REACH(5, 0x8cc8U, 0xccccU);
    REACH(6, 0x3100U, 0x3300U);
    REACH(7, 0xf600U, 0xff00U);
    REACH(8, 0xc800U, 0xcc00U);
#undef REACH
    return forced;
}

void keep_mask(uint level, uvec2 index, float importance, uint mask) {
    records[word_of_mask(level, index)] = mask;
    records[word_of_importance(level, index)] = floatBitsToUint(importance);
}

// Makes and keeps the masks of the block's nodes. Returns that of the block's node.
uint make_masks(Ascent at, uint thread) {
    const Block block = at.block;
    const bool is_group = block.base > 0;
    if (thread < BALANCE_ROWS) {
        rows[thread] = 0;
    }
    float nodes[7];
    find_nodes(thread, nodes);  // contains a barrier
    const uvec2 position = position_of(block, thread);
    const uvec2 local = morton(thread);
    const bool in_block = is_in_block(block, thread);
    const uint split = split_nodes_of(block, thread);
    uvec4 siblings = ((uvec4(split) >> uvec4(0, 1, 2, 3)) & 1) * MASK_OF_SELF;
    if (is_group) {
        siblings = receive_second(at, thread, split);
    } else {
        if (split != 0) {
            atomicOr(rows[2 * local.y], (split & 3) << 2 * local.x);
            atomicOr(rows[2 * local.y + 1], (split >> 2) << 2 * local.x);
        }
        records[words_of_block(block.index) + BALANCE_LEVEL_2 + thread] = floatBitsToUint(nodes[2]);
    }
    uint mask = siblings.x;  // of a root of level 1
    [[unroll]] for (uint step = 2; step <= 6; ++step) {
        if (step <= block.steps) {
            const bool is_first = begins(step, thread);  // this thread keeps the node
            const uint level = block.base + step;
            const uvec2 index = position >> (step - 2);
            if (step > 2) {
                barrier();
                const uint apart = is_first ? 1U << 2 * (step - 3) : 0;
                siblings = uvec4(masks[thread], masks[thread + apart], masks[thread + 2 * apart],
                                 masks[thread + 3 * apart]);
            }
            const bool splits = is_split(level, index, nodes[step]);
            if (is_first) {
                const bool is_there = in_block && exists(level, index);
                mask = is_there ? forced_by(siblings) | (splits ? MASK_OF_SELF : 0) : 0;
                masks[thread] = mask;
                if (is_group && is_there && step < block.steps) {
                    keep_mask(level, index, nodes[step], mask);
                }
                if (!is_group && step < BLOCK_LEVELS && mask != 0) {
                    const uvec2 node = local >> (step - 2);
                    const uint row = balance_first_row(level) + node.y;
                    atomicOr(rows[row], (mask & 7U) << node.x);
                    atomicOr(rows[row + 1], (mask >> 3 & 7U) << node.x);
                    atomicOr(rows[row + 2], (mask >> 6) << node.x);
                }
            }
        }
    }
    if (thread == 0) {
        node_mask = mask;
    }
    barrier();
    if (!is_group && thread < BALANCE_ROWS) {
        records[words_of_block(block.index) + thread] = rows[thread];
    }
    return node_mask;
}

// Keeps a node and sends it with its mask. Thread 0 calls this.
bool send(Group group, Ascent at, uint mask) {
    keep_mask(group.level, at.block.index, at.importance, at.splits ? mask : 0);
    if (at.splits) {
        send_second(group, at, mask);
    }
    return send_node(group, at, 1, false);
}

// Thread 0 calls this.
void finish_layer(Ascent at) {
    finish_root(at);
    // Texels are not split.
    const bool splits = parameters.top_level > 0 && is_split(parameters.top_level, uvec2(0), at.importance);
    keep_mask(max(parameters.top_level, BLOCK_LEVELS), uvec2(0), at.importance, splits ? node_mask : 0);
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
        uint mask = 0;
        if (at.splits || at.handovers > 0) {
            begin_search(at, false, thread);
            mask = make_masks(at, thread);
            if (at.handovers > 0) {
                renew_node(at);
            }
        }
        if (thread == 0) {
            goes_on = !is_root && send(group_of(at), at, mask);
        }
        if (at.splits || !is_root) {
            barrier();
        }
        if (is_root && thread == 0) {
            finish_layer(at);
        }
        if (is_root || !goes_on) {
            return;
        }
    }
}
