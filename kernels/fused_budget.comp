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

// Adds the nodes of a block to the histogram; the block's own node only if it is the root.
void count_nodes(Block block, uint thread) {
    const bool is_root = block.base + block.steps == parameters.top_level;
    keep_thresholds(thread);
    for (uint start = 0; start < BIN_WORDS; start += WORKGROUP_SIZE) {
        bins[start + thread] = 0;
    }
    float nodes[7];
    find_nodes(thread, nodes);  // contains a barrier
    if (block.base > 0) {
        keep_nodes(block, thread, nodes);
    }
    const uvec2 position = position_of(block, thread);
    // Four turns for the thread's nodes of step 1, then one for each step of which a node begins in its texels.
    [[dont_unroll]] for (uint turn = 0; turn < 9; ++turn) {
        const uint step = turn < 4 ? 1 : turn - 2;
        const uint level = block.base + step;
        const uvec2 node = turn < 4 ? 2 * position + morton(turn) : position >> (step - 2);
        float importance = step_1[4 * thread + min(turn, 3)];
        [[unroll]] for (uint i = 2; i <= 6; ++i) { importance = step == i ? nodes[i] : importance; }
        const bool is_below = all(equal(node >> (max(block.steps, step) - step), block.index));
        if (step < block.steps + uint(is_root) && is_below && (turn < 4 || begins(step, thread))) {
            const uint bin = budget_bin(importance, kept_threshold(level, node));
            if (bin > 0 && exists(level, node)) {
                const uint added = bitCount(inside(2 * node, extent_of(level - 1))) - 1;
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

// Chooses the smallest factor that keeps the budget, or the largest of all, and resets the histogram to 0. All threads
// of the last workgroup call this.
void choose_factor(uint thread) {
    const uint factor_word = budget_words() + BUDGET_FACTOR_WORD;
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
        words[factor_word] = 0;
    }
    [[unroll]] for (uint i = 0; i < share; ++i) {
        const uint factor = share * thread + i;
        const uint next = tiles - own[i];
        const bool is_largest = factor == BUDGET_FACTORS - 1;
        if (tiles > parameters.max_tiles && (next <= parameters.max_tiles || is_largest)) {
            words[factor_word] = is_largest ? factor : factor + 1;
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
void finish_layer(float importance, uint thread) {
    if (thread == 0) {
        keep_node(parameters.top_level, uvec2(0), importance);
        finish_nan(importance);
        goes_on = is_last_layer();
    }
    order_threads();
    if (goes_on) {
        choose_factor(thread);
    }
}

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    Ascent at = read_block(thread);
    while (true) {
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
            finish_layer(at.importance, thread);
            return;
        }
        if (!goes_on) {
            return;
        }
        receive_group(at, thread);
    }
}
