#version 460
// Finds the factor on all thresholds that keeps a budget of tiles (budget.h), in a pass before the others: the workgroups
// add their nodes to a histogram over the factors under which they are split, and the last one takes the smallest factor
// that keeps the budget. Importances are kept as by fused_count.comp.
//
// Memory order: a workgroup releases its additions to the histogram before it sends its node:
// a barrier of the workgroup puts the additions of all threads before the release.

#include "fused.glsl"
#include "fused_ascent.glsl"

// Additions of the block to the bins from 1 on, two of 16 bits in a word: a block adds less than 4096.
const uint BIN_WORDS = BUDGET_FACTORS / 2;
shared uint bins[BIN_WORDS];
// Nodes of the steps from 3 on in Z-order, step by step.
const uint UPPER_NODES = 64 + 16 + 4 + 1;
shared float upper_nodes[UPPER_NODES];

// Adds the nodes of a block to the histogram; the block's own node only if it is the root.
void count_nodes(Block block, uint thread) {
    const bool is_root = block.base + block.steps == parameters.top_level;
    keep_thresholds(thread);
    for (uint start = 0; start < BIN_WORDS; start += WORKGROUP_SIZE) {
        bins[start + thread] = 0;
    }
    float nodes[7];
    find_nodes(thread, nodes);
    if (block.base > 0) {
        keep_nodes(block, thread, nodes);
    }
    uint first = 0;
    [[unroll]] for (uint step = 3; step <= 6; ++step) {
        const uint apart = 1U << 2 * (step - 2);
        if ((thread & (apart - 1)) == 0) {
            upper_nodes[first + thread / apart] = nodes[step];
        }
        first += WORKGROUP_SIZE / apart;
    }
    barrier();
    // Four turns for step 1 (one, if 256 nodes are all), one for step 2, one for the others.
    [[dont_unroll]] for (uint turn = block.steps > 5 ? 0 : 3; turn < 6; ++turn) {
        uint step = turn < 4 ? 1 : 2;
        uint node = turn < 4 ? WORKGROUP_SIZE * (3 - turn) + thread : thread;
        float importance = turn < 4 ? step_1[node] : nodes[2];
        if (turn == 5) {
            step = 3 + uint(thread >= 64) + uint(thread >= 80) + uint(thread >= 84);
            node = thread - (step > 3 ? 64 : 0) - (step > 4 ? 16 : 0) - (step > 5 ? 4 : 0);
            importance = upper_nodes[min(thread, UPPER_NODES - 1)];
        }
        const uint level = block.base + step;
        const bool is_counted = step < block.steps ? node < 1U << 2 * (block.steps - step)
                                                   : step == block.steps && is_root && node == 0;
        if (is_counted) {
            const uvec2 position = (block.index << block.steps >> step) + morton(node);
            const uint bin = budget_bin(importance, kept_threshold(level, position));
            if (bin > 0 && exists(level, position)) {
                const uint added = bitCount(inside(2 * position, extent_of(level - 1))) - 1;
                atomicAdd(bins[(bin - 1) >> 1], added << 16 * ((bin - 1) & 1));
            }
        }
    }
    barrier();
    const uint histogram = budget_words() + BUDGET_HISTOGRAM_WORD + 1;
    for (uint start = 0; start < BIN_WORDS; start += WORKGROUP_SIZE) {
        const uint added = bins[start + thread];
        const uint bin = histogram + 2 * (start + thread);
        if ((added & 0xffffU) != 0) {
            ADD_RELAXED(words[bin], added & 0xffffU);
        }
        if (added >> 16 != 0) {
            ADD_RELAXED(words[bin + 1], added >> 16);
        }
    }
    order_threads();
}

void choose(uint factor, uint tiles) {
    words[budget_words() + BUDGET_FACTOR_WORD] = factor;
    words[budget_words() + BUDGET_TILES_WORD] = tiles;
}

// Chooses the smallest factor that keeps the budget, or the largest of all, and resets the histogram to 0. All threads
// of the last workgroup call this.
void choose_factor(uint thread) {
    const uint share = BUDGET_FACTORS / WORKGROUP_SIZE;
    const uint first = budget_words() + BUDGET_HISTOGRAM_WORD + 1 + share * thread;
    uint own[share];  // additions of the bins above share * thread
    uint sum = 0;
    [[unroll]] for (uint i = 0; i < share; ++i) {
        own[i] = HANDED_OVER(words[first + i]);
        words[first + i] = 0;
        sum += own[i];
    }
    uint total;
    const uint below = scan(sum, thread, total);
    uint tiles = parameters.layers + total - below;  // under a factor, which splits the bins above it
    if (thread == 0 && tiles <= parameters.max_tiles) {
        choose(0, tiles);
    }
    [[unroll]] for (uint i = 0; i < share; ++i) {
        const uint factor = share * thread + i;
        const uint next = tiles - own[i];
        const bool is_largest = factor == BUDGET_FACTORS - 1;
        if (tiles > parameters.max_tiles && (next <= parameters.max_tiles || is_largest)) {
            choose(is_largest ? factor : factor + 1, is_largest ? tiles : next);
        }
        tiles = next;
    }
}

// Keeps a node and sends it. Thread 0 calls this. A split one releases the additions to the histogram.
bool send(Group group, Ascent at) {
    keep_node(group.level, at.block.index, at.importance);
    return send_node(group, at, 1, at.splits);
}

// All threads call this.
void finish_layer(Ascent at, uint thread) {
    if (thread == 0) {
        keep_node(parameters.top_level, uvec2(0), at.importance);
        finish_root(at);
        goes_on = is_last_layer();
        // Then the next pass may never know that it has written the last tile.
        if (goes_on && HANDED_OVER(state.lost) != 0) {
            header = incomplete_list();
        }
    }
    order_threads();
    if (goes_on) {
        choose_factor(thread);
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
        if (at.splits) {
            begin_search(at, true, thread);
            count_nodes(at.block, thread);
        }
        if (thread == 0) {
            goes_on = !is_root && send(group_of(at), at);
        }
        if (at.splits || !is_root) {
            barrier();
        }
        if (is_root) {
            finish_layer(at, thread);
            return;
        }
        if (!goes_on) {
            return;
        }
    }
}
