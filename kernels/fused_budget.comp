#version 460
// Finds the factor on all thresholds that keeps a budget of tiles, in a pass before the others. fused.glsl has the
// common parts of all fused kernels, budget.h the factors.
//
// Dispatch: workgroups of 256 threads, one per block of 64 x 64 texels (x, y) and layer (z).
//
// Each workgroup adds its nodes to a histogram over the factors under which they are split. The last one takes the
// smallest factor that keeps the budget.
//
// Bindings: those of fused.glsl.
//
// Memory order: the hand-over of messages.glsl. A workgroup releases its additions to the histogram before it sends its
// node: a barrier of the workgroup puts the additions of all threads before the release.

#define PASS PASS_BUDGET
#include "fused.glsl"
#include "fused_workgroup.glsl"
#include "fused_ascent.glsl"

shared uint bins[1 + BUDGET_FACTORS];

// Counts the tiles that a node adds if it is split.
void count_node(uint level, uvec2 position, float importance) {
    const uint bin = budget_bin(importance, given_threshold(level, position));
    if (bin > 0 && exists(level, position)) {
        atomicAdd(bins[bin], bitCount(inside(2 * position, extent_of(level - 1))) - 1);
    }
}

// Adds the nodes of a block to the histogram; the block's own node only if it is the root. All threads call this.
void count_nodes(Block block, bool is_root, uint thread) {
    // All threads take the same number of turns: lavapipe (Mesa 22.3) loses threads that leave loops early.
    for (uint start = 0; start <= BUDGET_FACTORS; start += WORKGROUP_SIZE) {
        if (start + thread <= BUDGET_FACTORS) {
            bins[start + thread] = 0;
        }
    }
    barrier();
    const uvec2 position = position_of(block, thread);
    const bool in_block = block.steps < 2 || thread < 1U << 2 * (block.steps - 2);
    float nodes[7];
    find_nodes(thread, nodes);
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        if (in_block && block.steps >= 1) {
            count_node(block.base + 1, 2 * position + morton(i), step_1[4 * thread + i]);
        }
    }
    [[unroll]]
    for (uint step = 2; step <= 6; ++step) {
        const bool begins_here = (thread & ((1U << 2 * (step - 2)) - 1)) == 0;
        if (in_block && begins_here && (step < block.steps || (step == block.steps && is_root))) {
            count_node(block.base + step, position >> (step - 2), nodes[step]);
        }
    }
    barrier();
    const uint histogram = budget_words() + BUDGET_HISTOGRAM_WORD;
    for (uint start = 0; start <= BUDGET_FACTORS; start += WORKGROUP_SIZE) {
        const uint bin = start + thread;
        if (bin <= BUDGET_FACTORS && bins[bin] != 0) {
            atomicAdd(words[histogram + bin], bins[bin], gl_ScopeDevice, 0, 0);
        }
    }
}

shared uint exceeding_factors;

// Takes the smallest factor that keeps the budget, or the largest of all, and resets the histogram to 0. All threads of
// the last workgroup call this.
void choose_factor(uint thread) {
    const uint share = BUDGET_FACTORS / WORKGROUP_SIZE;
    const uint first = budget_words() + BUDGET_HISTOGRAM_WORD + 1 + share * thread;
    uint own[share];  // additions of the bins above share * thread
    uint sum = 0;
    [[unroll]]
    for (uint i = 0; i < share; ++i) {
        own[i] = HANDED_OVER(words[first + i]);
        words[first + i] = 0;
        sum += own[i];
    }
    if (thread == 0) {
        exceeding_factors = 0;
    }
    uint total;
    uint below = scan(sum, thread, total);
    uint exceeding = 0;
    [[unroll]]
    for (uint i = 0; i < share; ++i) {  // a factor splits the bins above it
        const bool is_largest = share * thread + i == BUDGET_FACTORS - 1;
        exceeding += uint(!is_largest && parameters.layers + total - below > parameters.max_tiles);
        below += own[i];
    }
    atomicAdd(exceeding_factors, exceeding);
    barrier();
    if (thread == 0) {
        words[budget_words() + BUDGET_FACTOR_WORD] = exceeding_factors;
    }
}

Found find(Block block, bool is_root, uint thread) {
    count_nodes(block, is_root, thread);
    announce();
    return Found(0, 0, 0, 0.0, uvec4(0));
}

void publish_nan(Block block, Group group, bool is_root, uint nan, uint layer_state) {}

uint reserve(bool is_root, uint total, uint below, uint layer_state) { return 0; }

void write(Block block, uint thread, Found found) {}

void finish_layer(bool is_finisher, float importance, uint total, uint below, uint thread) {
    if (thread == 0) {
        goes_on = is_last_layer();
    }
    announce();
    if (!goes_on) {
        return;
    }
    choose_factor(thread);
}

void main() { ascend(); }
