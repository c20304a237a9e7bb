// The least factor under which tiles and cells keep their budgets. Each node tells under which factors it is a tile,
// and how many cells its slot has then: as events, what comes and goes from one factor to the next. The last
// workgroup sums them up.
// CPU twin: least_factor of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of as many threads as the device has, 1024 at most, a thread a node (levels_below_root);
// lights as z.
// Bindings: bindings.glsl; reads pyramid, importance map, page table and tiles of the last frame; adds to events,
// which are 0 before and after; writes the header's factor.
// Memory order: the hand-over of hand_over.glsl, whose results are atomic additions.
// Source: docs/shadows.md, steps 3 and 4; the bins are those of budgets (budget.h).
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
const uint SCAN_THREADS = 1024;
#include "scan.glsl"

void add(uint factor, uint more_tiles, uint more_cells) {
    if (factor < BUDGET_FACTORS) {
        if (more_tiles != 0) {
            atomicAdd(events[factor], more_tiles);
        }
        if (more_cells != 0) {
            atomicAdd(events[BUDGET_FACTORS + factor], more_cells);
        }
    }
}

// A node that is a tile for the factors from `first` up to, but without, `end`.
void count_tile(uint level, uvec2 node, uint light, float importance, uint first, uint end) {
    if (first >= end) {
        return;
    }
    uint last_class = 0;
    if (has_last_frame()) {
        const uint page = last_page(level, node, light);
        if (shadow_page_level(page) == level) {
            last_class = tiles[shadow_page_tile(page)].state & 0xffU;
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

// How many factors a node of level 1 or above is split under.
uint split_end(uint level, uvec2 node, uint light) {
    const float importance = node_importance(level, node, light);
    // Most nodes are not split under any factor, whatever they were; that takes no page.
    uint end = budget_bin(importance, shadow_split_threshold(parameters, level, true));
    if (end > 0 && !was_split(level, node, light)) {
        end = budget_bin(importance, shadow_split_threshold(parameters, level, false));
    }
    return end;
}

void count_node(uint i, uint light) {
    const uint below_root = levels_below_root(i);
    const uint level = parameters.map_levels - below_root;
    const uvec2 node = node_position(i - first_node(below_root));
    const uint end = below_root == 0 ? BUDGET_FACTORS : split_end(level + 1, node >> 1, light);
    if (end > 0) {
        const uint first = level == 0 ? 0 : split_end(level, node, light);
        count_tile(level, node, light, node_importance(level, node, light), first, end);
    }
}

shared uint least_factor;

void choose_factor() {
    const uint thread_factors = BUDGET_FACTORS / gl_WorkGroupSize.x;
    const uint begin = thread_index() * thread_factors;
    if (gl_LocalInvocationIndex == 0) {
        least_factor = BUDGET_FACTORS - 1;
    }
    uvec4 of_thread = uvec4(0);
    for (uint i = begin; i < begin + thread_factors; ++i) {
        of_thread.x += HANDED_OVER(events[i]);
        of_thread.y += HANDED_OVER(events[BUDGET_FACTORS + i]);
    }
    uvec4 total;
    uvec4 sums = exclusive_sums(of_thread, total);
    for (uint i = begin; i < begin + thread_factors; ++i) {
        sums.x += HANDED_OVER(events[i]);
        sums.y += HANDED_OVER(events[BUDGET_FACTORS + i]);
        events[i] = 0;
        events[BUDGET_FACTORS + i] = 0;
        if (sums.x <= parameters.max_tiles && sums.y <= parameters.max_cells) {
            atomicMin(least_factor, i);
        }
    }
    workgroup_barrier();
    if (gl_LocalInvocationIndex == 0) {
        header.factor_index = least_factor;
        header.factor = budget_factor(least_factor);
    }
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < first_node(parameters.map_levels + 1)) {
        count_node(i, gl_WorkGroupID.z);
    }
    IS_LAST_WORKGROUP(events[2 * BUDGET_FACTORS], gl_NumWorkGroups.x * gl_NumWorkGroups.z)
    if (shared_is_last) {
        choose_factor();
    }
}
