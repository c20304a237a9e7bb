// Counts the tiles and cells of the nodes of a block under all factors. Each node gets its importance, the maximum of
// its texels. From it follow the factors with which the node is split, those with which it is a tile, and the cells of
// its slot. They become events: differences from one factor to the next. Steps 2 to 5; twin: build_pyramid, least_factor.
//
// Dispatch: by block (bindings.glsl). Lowers the importance of texels without requests, and ends that of places that have
// left the map. Adds to events, and raises the importance of nodes above blocks: both are 0 before. Writes nodes. Clears
// the first part of the work.
// Memory order: events and nodes above blocks are raised by atomics.
#version 460
#include "bindings.glsl"

layout(local_size_x = BLOCK_THREADS) in;
#include "events.glsl"

shared float needed[BLOCK_NODES];  // by node of the block
shared uint ends[BLOCK_NODES];
shared uint pages[BLOCK_THREADS];  // of each thread's first texel
ShadowStep step_here;              // of the light's map

float needed_of_four(uint first) {
    return max(max(needed[first], needed[first + 1]), max(needed[first + 2], needed[first + 3]));
}

// Computes a level of the block's tree. Expanded four times below: LOST_THREADS (cpu_drivers.glsl).
#define FIND_NEEDED(below_root)                                       \
    {                                                                 \
        const uint i = shadow_first_nodes(below_root) + thread;               \
        if ((below_root) + 1 < quads_below && thread < (1U << (2 * (below_root)))) { \
            needed[i] = needed_of_four(4 * i + 1);                    \
        }                                                             \
        barrier();                                                    \
    }

uint block_node_level(uint i) { return block_levels() - levels_below_root(i); }
uint block_node_page(uint i) {
    const uint below_root = levels_below_root(i);
    const uint page = pages[(i - shadow_first_nodes(below_root)) << (2 * (block_levels() - below_root) - 2)];
    return last_node_page(page, step_here, block_levels() - below_root);
}

void count_block(uint block, uint light) {
    const uint thread = gl_LocalInvocationIndex;
    const uint quads_below = block_levels();  // levels of nodes; the last has a node per four texels
    const uint first_quad = shadow_first_nodes(quads_below - 1);
    const uvec2 first_texel = (z_order(gl_WorkGroupID.x) << block_levels()) + 2 * z_order(thread);
    const bool has_quad = thread < (1U << (2 * (quads_below - 1)));
    float texels[4] = float[](0.0, 0.0, 0.0, 0.0);
    uint texel_pages[4] = uint[](0, 0, 0, 0);
    if (has_quad) {
        const bool is_asked = (words[block_word(block) + BLOCK_ASKED] >> (thread / 16) & 1U) != 0;
        const bool lowers = !is_asked && has_last_frame() && header.factor_index > 0;
        const float factor = header.factor;
        const ivec2 origin = origin_of(light);
        uint bits[4];
        for (uint i = 0; i < 4; ++i) {
            bits[i] = imageLoad(importance_map, importance_place(first_texel + z_order(i), origin, light)).x;
            texel_pages[i] = last_page(first_texel + z_order(i), step_here, light);
        }
        for (uint i = 0; i < 4; ++i) {
            const uvec2 texel = first_texel + z_order(i);
            const bool counts = shadow_was_inside(parameters, step_here, texel.x, texel.y) || (bits[i] & IS_NEW) != 0;
            texels[i] = counts ? uintBitsToFloat(bits[i] & ~IS_NEW) : 0.0;
            if (lowers && texels[i] > 0.0) {
                texels[i] = shadow_unasked(texels[i], factor);
            }
            if (bits[i] != floatBitsToUint(texels[i])) {
                imageStore(importance_map, importance_place(texel, origin, light), uvec4(floatBitsToUint(texels[i])));
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
        atomicMax(words[upper_node_word(light, shadow_first_nodes(thread) + above) + NODE_IMPORTANCE], needed_here);
    }
    const uint nodes = shadow_first_nodes(quads_below);
    FOR_EACH(i, nodes) {
        ends[i] = split_end(block_node_level(i), needed[i], block_node_page(i));
        words[block_node_word(block, i) + NODE_END] = ends[i];
        words[block_node_word(block, i) + NODE_IMPORTANCE] = floatBitsToUint(needed[i]);
    }
    barrier();
    if (ends[0] > 0) {  // else no node below is a tile with any factor
        FOR_EACH(i, nodes) {
            if (i > 0) {  // choose.comp counts the root
                const uint level = block_node_level(i);
                count_tile(level, needed[i], last_class_of(block_node_page(i), level), ends[i], ends[(i - 1) / 4]);
            }
        }
        const uint end = has_quad ? ends[first_quad + thread] : 0;
        if (end > 0) {
            uint classes[4];
            for (uint i = 0; i < 4; ++i) {
                classes[i] = last_class_of(texel_pages[i], 0);
            }
            uint cells = 0;
            for (uint i = 0; i < 4; ++i) {
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

void main() {
    step_here = step_of(gl_WorkGroupID.z);
    const uint block = gl_WorkGroupID.z * light_blocks() + gl_WorkGroupID.x;
    const uint threads = max(frame.layers, 1) * light_blocks() * BLOCK_THREADS;
    for (uint i = 0; i < cleared_words(); i += threads) {
        const uint word = i + block * BLOCK_THREADS + gl_LocalInvocationIndex;
        if (word < cleared_words()) {
            words[cells_word() + word] = 0;
        }
    }
    if (step_here.changed != SHADOW_UNUSED) {
        count_block(block, gl_WorkGroupID.z);
    }
}
