// Finds the least factor with which tiles and cells keep their budgets. Each node gets its importance, the maximum of
// its texels. From it follow the factors with which the node is split, those with which it is a tile, and the cells of
// its slot. They become events: differences from one factor to the next. A workgroup sums its events in shared memory,
// since many nodes have the same. The last workgroup does this for the nodes above all blocks, and sums up all events.
// CPU twin: build_pyramid and least_factor of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, one per block (x, along the Z-order curve) and layer (z), with one thread per
// four texels.
// Bindings: bindings.glsl. Reads importance map, requested texels, page table, tiles and factor of the last frame.
// Lowers the importance of texels without requests. Adds to events, which are 0 before and after. Raises the importance
// of nodes above blocks, which is 0 before. Writes nodes and the header's factor. Clears the first part of the work.
// Memory order: the hand-over of hand_over.glsl, for atomic additions and maxima, and for the importance of the blocks'
// roots. Barriers of the last workgroup separate its additions to events from its reads.
// Source: docs/shadows.md, steps 2 to 5; the bins are those of budgets (budget.h).
#version 460
#extension GL_EXT_control_flow_attributes : require
#include "bindings.glsl"

layout(local_size_x = BLOCK_THREADS) in;
#define SUMS uvec2
#include "scan.glsl"

// ---- Events of this workgroup: per factor the cells in the lower 20 bits, and tiles << 20, both signed. The nodes of
// a block and those of a batch have less than 2^19 cells and 2^11 tiles.

const uint CELL_BITS = 20;
shared uint events_here[BUDGET_FACTORS];

void clear_events() {
    for (uint i = 0; i < BUDGET_FACTORS; i += BLOCK_THREADS) {
        events_here[i + gl_LocalInvocationIndex] = 0;
    }
}

void add(uint factor, uint more_tiles, uint more_cells) {
    if (factor < BUDGET_FACTORS) {
        atomicAdd(events_here[factor], (more_tiles << CELL_BITS) + more_cells);
    }
}

// Adds the events to those of all workgroups, and clears them.
void flush_events() {
    for (uint i = 0; i < BUDGET_FACTORS; i += BLOCK_THREADS) {
        const uint factor = i + gl_LocalInvocationIndex;
        const uint more = events_here[factor];
        if (more != 0) {
            const int cells = bitfieldExtract(int(more), 0, int(CELL_BITS));
            const int tiles = (int(more) - cells) >> CELL_BITS;
            atomicAdd(words[events_word(factor)], uint(tiles));
            atomicAdd(words[events_word(BUDGET_FACTORS + factor)], uint(cells));
            events_here[factor] = 0;
        }
    }
}

// ---- Nodes

bool had_frame;  // has_last_frame()

// Returns the page of the last frame's tile with this texel. If there was no last frame, it is of no node's level.
uint last_page_at(uvec2 texel, uint light) {
    const uint page = imageLoad(page_table, ivec3(texel, light)).x;
    return had_frame ? page : shadow_page(0, 0xffU);
}

// Returns the class of the last frame's tile if it was this node, else 0. It always loads, so that loads do not wait
// for each other. `page`: of the node's first texel.
uint last_class_of(uint page, uint level) {
    const bool was_tile = shadow_page_level(page) == level;
    const uint state = words[places.tiles + TILE_WORDS * (was_tile ? shadow_page_tile(page) : 0) + 3];
    return was_tile ? state & 0xffU : 0;
}

// Adds the events of the classes of a node that is a tile with the factors from `first` to below `end`. Returns its
// cells with the first one.
uint count_classes(uint level, float importance, uint last_class, uint first, uint end) {
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
    return cells;
}

void count_tile(uint level, float importance, uint last_class, uint first, uint end) {
    if (first < end) {
        const uint cells = count_classes(level, importance, last_class, first, end);
        add(first, 1, cells);
        add(end, 0U - 1U, 0U - 1U);
    }
}

// Returns the number of factors with which a node of level 1 or above is split. `page`: of its first texel.
uint split_end(uint level, float importance, uint page) {
    return budget_bin(importance,
                      shadow_split_threshold(parameters, level, shadow_page_level(page) < level));
}

// ---- A block

shared float needed[BLOCK_NODES];  // by node of the block
shared uint ends[BLOCK_NODES];
shared uint pages[BLOCK_THREADS];  // of each thread's first texel

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

// Level of a node of a block, and the page of its first texel.
uint block_node_level(uint i) { return block_levels() - levels_below_root(i); }
uint block_node_page(uint i) {
    const uint below_root = levels_below_root(i);
    return pages[(i - first_node(below_root)) << (2 * (block_levels() - below_root) - 2)];
}

void count_block(uint block, uint light) {
    const uint thread = gl_LocalInvocationIndex;
    const uint quads_below = block_levels();  // levels of nodes; the last has a node per four texels
    const uint first_quad = first_node(quads_below - 1);
    const uvec2 first_texel = (z_order(gl_WorkGroupID.x) << block_levels()) + 2 * z_order(thread);
    const bool has_quad = thread < (1U << (2 * (quads_below - 1)));
    float texels[4] = float[](0.0, 0.0, 0.0, 0.0);
    uint texel_pages[4] = uint[](0, 0, 0, 0);
    if (has_quad) {
        const bool is_asked = (words[block_word(block) + BLOCK_ASKED] >> (thread / 16) & 1U) != 0;
        const bool lowers = !is_asked && had_frame && header.factor_index > 0;
        const float factor = header.factor;
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            texels[i] = uintBitsToFloat(imageLoad(importance_map, ivec3(first_texel + z_order(i), light)).x);
            texel_pages[i] = last_page_at(first_texel + z_order(i), light);
        }
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            if (lowers && texels[i] > 0.0) {
                texels[i] = shadow_unasked(texels[i], factor);
                imageStore(importance_map, ivec3(first_texel + z_order(i), light),
                           uvec4(floatBitsToUint(texels[i])));
            }
        }
        needed[first_quad + thread] = max(max(texels[0], texels[1]), max(texels[2], texels[3]));
        pages[thread] = texel_pages[0];
    }
    clear_events();
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
        ends[i] = split_end(block_node_level(i), needed[i], block_node_page(i));
        HAND_OVER(words[block_node_word(block, i) + NODE_END], ends[i]);
        HAND_OVER(words[block_node_word(block, i) + NODE_IMPORTANCE], floatBitsToUint(needed[i]));
    }
    barrier();
    if (ends[0] > 0) {  // else no node below is a tile with any factor
        FOR_EACH(i, nodes) {
            if (i > 0) {  // the last workgroup counts the root
                const uint level = block_node_level(i);
                count_tile(level, needed[i], last_class_of(block_node_page(i), level), ends[i], ends[(i - 1) / 4]);
            }
        }
        const uint end = has_quad ? ends[first_quad + thread] : 0;
        if (end > 0) {
            uint classes[4];
            [[unroll]] for (uint i = 0; i < 4; ++i) {
                classes[i] = last_class_of(texel_pages[i], 0);
            }
            uint cells = 0;
            [[unroll]] for (uint i = 0; i < 4; ++i) {
                cells += count_classes(0, texels[i], classes[i], 0, end);
            }
            add(0, 4, cells);
            add(end, 0U - 4U, 0U - 4U);
        }
    }
    barrier();
    if (ends[0] > 0) {
        flush_events();
    }
}

// ---- Nodes above the blocks, and roots of blocks

const uint BATCH = 6;  // nodes of a thread whose loads do not wait for each other

void count_upper_nodes() {
    const uint light_nodes = first_node(levels_above() + 1);
    const uint nodes = parameters.lights * light_nodes;
    for (uint first = 0; first < nodes; first += BATCH * BLOCK_THREADS) {
        uint levels[BATCH];
        float here[BATCH];
        float above[BATCH];
        uint page_here[BATCH];
        uint page_above[BATCH];
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            const uint node = min(first + k * BLOCK_THREADS + gl_LocalInvocationIndex, nodes - 1);
            const uint light = node / light_nodes;
            const uint i = node % light_nodes;
            const uint below_root = levels_below_root(i);
            const uint place = i - first_node(below_root);
            const uint word = below_root == levels_above() ? block_node_word(light * light_blocks() + place, 0)
                                                           : upper_node_word(light, i);
            levels[k] = parameters.map_levels - below_root;
            here[k] = uintBitsToFloat(HANDED_OVER(words[word + NODE_IMPORTANCE]));
            page_here[k] = last_page_at(z_order(place) << levels[k], light);
            const uint word_above = i > 0 ? upper_node_word(light, (i - 1) / 4) : word;
            above[k] = uintBitsToFloat(HANDED_OVER(words[word_above + NODE_IMPORTANCE]));
            page_above[k] = last_page_at(z_order(place / 4) << (levels[k] + 1), light);
        }
        uint classes[BATCH];
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            classes[k] = last_class_of(page_here[k], levels[k]);
        }
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            const uint node = first + k * BLOCK_THREADS + gl_LocalInvocationIndex;
            const uint i = node % light_nodes;
            const uint end = split_end(levels[k], here[k], page_here[k]);
            const uint end_above = i > 0 ? split_end(levels[k] + 1, above[k], page_above[k]) : BUDGET_FACTORS;
            if (node < nodes) {
                count_tile(levels[k], here[k], classes[k], end, end_above);
                if (levels_below_root(i) < levels_above()) {
                    words[upper_node_word(node / light_nodes, i) + NODE_END] = end;
                }
            }
        }
        workgroup_barrier();
        flush_events();
        workgroup_barrier();
    }
}

shared uint least_factor;

void choose_factor() {
    const uint thread_factors = BUDGET_FACTORS / BLOCK_THREADS;
    const uint begin = thread_index() * thread_factors;
    if (gl_LocalInvocationIndex == 0) {
        least_factor = BUDGET_FACTORS - 1;
    }
    uvec2 more[thread_factors];
    uvec2 of_thread = uvec2(0);
    [[unroll]] for (uint i = 0; i < thread_factors; ++i) {
        more[i] = uvec2(HANDED_OVER(words[events_word(begin + i)]),
                        HANDED_OVER(words[events_word(BUDGET_FACTORS + begin + i)]));
    }
    [[unroll]] for (uint i = 0; i < thread_factors; ++i) {
        of_thread += more[i];
        words[events_word(begin + i)] = 0;
        words[events_word(BUDGET_FACTORS + begin + i)] = 0;
    }
    uvec2 total;
    uvec2 sums = exclusive_sums(of_thread, total);
    uint least = BUDGET_FACTORS;
    [[unroll]] for (uint i = 0; i < thread_factors; ++i) {
        sums += more[i];
        if (sums.x <= parameters.max_tiles && sums.y <= parameters.max_cells) {
            least = min(least, begin + i);
        }
    }
    if (least < BUDGET_FACTORS) {
        atomicMin(least_factor, least);
    }
    workgroup_barrier();
    if (gl_LocalInvocationIndex == 0) {
        header.factor_index = least_factor;
        header.factor = budget_factor(least_factor);
    }
}

void main() {
    had_frame = has_last_frame();
    const uint block = gl_WorkGroupID.z * light_blocks() + gl_WorkGroupID.x;
    const uint threads = all_blocks() * BLOCK_THREADS;
    for (uint i = 0; i < cleared_words(); i += threads) {
        const uint word = i + block * BLOCK_THREADS + gl_LocalInvocationIndex;
        if (word < cleared_words()) {
            words[cells_word() + word] = 0;
        }
    }
    count_block(block, gl_WorkGroupID.z);
    IS_LAST_WORKGROUP(words[counted_word()], all_blocks())
    if (shared_is_last) {
        count_upper_nodes();
        choose_factor();
    }
}
