// Finds the least factor with which tiles and cells keep their budgets. Each node gets its importance, the maximum of
// its texels. From it follow the factors with which the node is split, those with which it is a tile, and the cells of
// its slot. They become events: differences from one factor to the next. The last workgroup does the same for the nodes
// above all blocks, and sums up the events.
// CPU twin: build_pyramid and least_factor of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, one per block (x, along the Z-order curve) and layer (z), with one thread per
// four texels.
// Bindings: bindings.glsl. Reads importance map, requested texels, page table, tiles and factor of the last frame.
// Lowers the importance of texels without requests. Adds to events, which are 0 before and after. Raises the importance
// of nodes above blocks, which is 0 before. Writes nodes and the header's factor.
// Memory order: the hand-over of hand_over.glsl, for atomic additions and maxima, and for the nodes at the blocks'
// roots. Barriers of the last workgroup separate writes and reads of the factors of nodes above.
// Source: docs/shadows.md, steps 2 to 5; the bins are those of budgets (budget.h).
#version 460
#include "bindings.glsl"

layout(local_size_x = BLOCK_THREADS) in;
#include "scan.glsl"

void add(uint factor, uint more_tiles, uint more_cells) {
    if (factor < BUDGET_FACTORS) {
        if (more_tiles != 0) {
            atomicAdd(words[events_word(factor)], more_tiles);
        }
        if (more_cells != 0) {
            atomicAdd(words[events_word(BUDGET_FACTORS + factor)], more_cells);
        }
    }
}

// Counts a node that is a tile with the factors from `first` to below `end`.
void count_tile(uint level, uvec2 node, uint light, float importance, uint first, uint end) {
    if (first >= end) {
        return;
    }
    uint last_class = 0;
    if (has_last_frame()) {
        const uint page = last_page(level, node, light);
        if (shadow_page_level(page) == level) {
            last_class = load_tile(shadow_page_tile(page)).state & 0xffU;
        }
    }
    uint cells = 1;
    for (uint c = 1; c < SHADOW_CLASSES; ++c) {
        const float threshold = shadow_class_threshold(parameters, level, c, last_class);
        const uint class_end = min(budget_bin(importance, threshold), end);
        if (class_end > first) {
            const uint more = shadow_slot_cells(c) - shadow_slot_cells(c - 1);
            cells += more;
            add(class_end, 0, 0U - more);
        }
    }
    add(first, 1, cells);
    add(end, 0U - 1U, 0U - 1U);
}

// Returns the number of factors with which a node of level 1 or above is split.
uint split_end(uint level, uvec2 node, uint light, float importance) {
    // Most nodes are not split with any factor, whatever their last state. That takes no page.
    uint end = budget_bin(importance, shadow_split_threshold(parameters, level, true));
    if (end > 0 && !was_split(level, node, light)) {
        end = budget_bin(importance, shadow_split_threshold(parameters, level, false));
    }
    return end;
}

// ---- A block

shared float needed[BLOCK_NODES];  // by node of the block
shared uint ends[BLOCK_NODES];

float needed_of_four(uint first) {
    return max(max(needed[first], needed[first + 1]), max(needed[first + 2], needed[first + 3]));
}

// Computes a level of the block's tree. Expanded four times below: lavapipe loses threads in loops with barriers.
#define FIND_NEEDED(below_root)                                       \
    {                                                                 \
        const uint i = first_node(below_root) + thread;               \
        if ((below_root) + 1 < quads_below && thread < (1U << (2 * (below_root)))) { \
            needed[i] = needed_of_four(4 * i + 1);                    \
        }                                                             \
        barrier();                                                    \
    }

void count_block(uint block, uint light) {
    const uint thread = gl_LocalInvocationIndex;
    const uint quads_below = block_levels();  // levels of nodes; the last has a node per four texels
    const uint first_quad = first_node(quads_below - 1);
    const uvec2 origin = z_order(gl_WorkGroupID.x) << block_levels();
    const uvec2 quad = origin / 2 + z_order(thread);
    const bool has_quad = thread < (1U << (2 * (quads_below - 1)));
    float texels[4] = float[](0.0, 0.0, 0.0, 0.0);
    if (has_quad) {
        const bool is_asked = (words[block_word(block) + BLOCK_ASKED] >> (thread / 16) & 1U) != 0;
        for (uint i = 0; i < 4; ++i) {
            const ivec3 texel = ivec3(2 * quad + z_order(i), light);
            texels[i] = uintBitsToFloat(imageLoad(importance_map, texel).x);
            if (!is_asked && texels[i] > 0.0 && has_last_frame() && header.factor_index > 0) {
                texels[i] = shadow_unasked(texels[i], header.factor);
                imageStore(importance_map, texel, uvec4(floatBitsToUint(texels[i])));
            }
        }
        needed[first_quad + thread] = max(max(texels[0], texels[1]), max(texels[2], texels[3]));
    }
    barrier();
    FIND_NEEDED(3)
    FIND_NEEDED(2)
    FIND_NEEDED(1)
    FIND_NEEDED(0)
    if (thread == 0) {
        words[block_word(block) + BLOCK_ASKED] = 0;
    }
    // Bits of positive floats compare like the floats.
    const uint needed_here = floatBitsToUint(needed[0]);
    if (thread < levels_above() && needed_here > 0) {
        const uint above = gl_WorkGroupID.x >> (2 * (levels_above() - thread));
        atomicMax(words[upper_node_word(light, first_node(thread) + above) + NODE_IMPORTANCE], needed_here);
    }
    const uint nodes = first_node(quads_below);
    FOR_EACH(i, nodes) {
        const uint below_root = levels_below_root(i);
        const uint level = block_levels() - below_root;
        const uvec2 node = (origin >> level) + z_order(i - first_node(below_root));
        ends[i] = split_end(level, node, light, needed[i]);
        HAND_OVER(words[block_node_word(block, i) + NODE_END], ends[i]);
        HAND_OVER(words[block_node_word(block, i) + NODE_IMPORTANCE], floatBitsToUint(needed[i]));
    }
    barrier();
    FOR_EACH(i, nodes) {
        if (i > 0) {  // the last workgroup counts the root
            const uint below_root = levels_below_root(i);
            const uint level = block_levels() - below_root;
            const uvec2 node = (origin >> level) + z_order(i - first_node(below_root));
            count_tile(level, node, light, needed[i], ends[i], ends[(i - 1) / 4]);
        }
    }
    if (has_quad) {
        for (uint i = 0; i < 4; ++i) {
            count_tile(0, 2 * quad + z_order(i), light, texels[i], 0, ends[first_quad + thread]);
        }
    }
}

// ---- Nodes above the blocks

// Returns the words of a node above the blocks, or of a block's root.
uint node_word(uint light, uint below_root, uint place) {
    return below_root == levels_above() ? block_node_word(light * light_blocks() + place, 0)
                                        : upper_node_word(light, first_node(below_root) + place);
}

// Finds the factors of all nodes above blocks. Their importance is final: each block has raised it.
void find_upper_ends() {
    const uint light_nodes = first_node(levels_above());
    FOR_EACH(k, parameters.lights * light_nodes) {
        const uint i = k % light_nodes;
        const uint below_root = levels_below_root(i);
        const uint word = upper_node_word(k / light_nodes, i);
        HAND_OVER(words[word + NODE_END],
                  split_end(parameters.map_levels - below_root, z_order(i - first_node(below_root)),
                            k / light_nodes, uintBitsToFloat(HANDED_OVER(words[word + NODE_IMPORTANCE]))));
    }
}

void count_upper_nodes() {
    const uint light_nodes = first_node(levels_above() + 1);
    FOR_EACH(k, parameters.lights * light_nodes) {
        const uint light = k / light_nodes;
        const uint i = k % light_nodes;
        const uint below_root = levels_below_root(i);
        const uint place = i - first_node(below_root);
        const uint word = node_word(light, below_root, place);
        uint end = BUDGET_FACTORS;
        if (i > 0) {
            end = HANDED_OVER(words[upper_node_word(light, (i - 1) / 4) + NODE_END]);
        }
        count_tile(parameters.map_levels - below_root, z_order(place), light,
                   uintBitsToFloat(HANDED_OVER(words[word + NODE_IMPORTANCE])),
                   HANDED_OVER(words[word + NODE_END]), end);
    }
}

shared uint least_factor;

void choose_factor() {
    const uint thread_factors = BUDGET_FACTORS / BLOCK_THREADS;
    const uint begin = thread_index() * thread_factors;
    if (gl_LocalInvocationIndex == 0) {
        least_factor = BUDGET_FACTORS - 1;
    }
    uvec4 more[thread_factors];
    uvec4 of_thread = uvec4(0);
    for (uint i = 0; i < thread_factors; ++i) {
        more[i] = uvec4(HANDED_OVER(words[events_word(begin + i)]),
                        HANDED_OVER(words[events_word(BUDGET_FACTORS + begin + i)]), 0, 0);
        of_thread += more[i];
    }
    uvec4 total;
    uvec4 sums = exclusive_sums(of_thread, total);
    for (uint i = 0; i < thread_factors; ++i) {
        sums += more[i];
        words[events_word(begin + i)] = 0;
        words[events_word(BUDGET_FACTORS + begin + i)] = 0;
        if (sums.x <= parameters.max_tiles && sums.y <= parameters.max_cells) {
            atomicMin(least_factor, begin + i);
        }
    }
    workgroup_barrier();
    if (gl_LocalInvocationIndex == 0) {
        header.factor_index = least_factor;
        header.factor = budget_factor(least_factor);
    }
}

void main() {
    count_block(gl_WorkGroupID.z * light_blocks() + gl_WorkGroupID.x, gl_WorkGroupID.z);
    IS_LAST_WORKGROUP(words[counted_word()], all_blocks())
    if (shared_is_last) {
        find_upper_ends();
        workgroup_barrier();
        count_upper_nodes();
        workgroup_barrier();
        choose_factor();
    }
}
