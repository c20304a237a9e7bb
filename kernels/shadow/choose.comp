// Chooses the least factor with which tiles and cells keep their budgets: adds the events of the nodes above the blocks
// and of the blocks' roots to those of count.comp, and sums them up. Steps 3 and 4; twin: least_factor.
//
// Dispatch: a workgroup of 128 to 1024 threads; the device's limit decides. Sets the events to 0. Writes NODE_END of the
// nodes above the blocks, and the header's factor.
// Memory order: barriers of the workgroup separate its additions to events from its reads, which are atomic.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
#define SUMS uvec2
#include "workgroup.glsl"
#include "events.glsl"

shared ShadowStep steps[SHADOW_MAX_LIGHTS];  // of the lights' maps

const uint BATCH = 1536;  // nodes between two flushes

void count_node(uint light, uint i) {
    const uint below_root = levels_below_root(i);
    const uint place = i - shadow_first_nodes(below_root);
    const uint level = parameters.map_levels - below_root;
    const uint word = below_root == levels_above() ? block_node_word(light * light_blocks() + place, 0)
                                                   : upper_node_word(light, i);
    // The factors of the node above are found twice, since loads then do not wait for each other.
    const uint word_above = i > 0 ? upper_node_word(light, (i - 1) / 4) : word;
    const float here = uintBitsToFloat(words[word + NODE_IMPORTANCE]);
    const float above = uintBitsToFloat(words[word_above + NODE_IMPORTANCE]);
    const uint page = last_node_page(last_page(z_order(place) << level, steps[light], light), steps[light], level);
    const uint page_above =
        last_node_page(last_page(z_order(place / 4) << (level + 1), steps[light], light), steps[light], level + 1);
    const uint last_class = last_class_of(page, level);
    const uint end = split_end(level, here, page);
    const uint end_above = i > 0 ? split_end(level + 1, above, page_above) : BUDGET_FACTORS;
    count_tile(level, here, last_class, end, end_above);
    if (below_root < levels_above()) {
        words[word + NODE_END] = end;
    }
}

// Leaves the events of the last batch in shared memory.
void count_nodes() {
    const uint light_nodes = shadow_first_nodes(levels_above() + 1);
    const uint nodes = frame.layers * light_nodes;
    for (uint first = 0; first < nodes; first += BATCH) {
        if (first > 0) {
            flush_events();
            order_threads();
        }
        for (uint i = 0; i < BATCH; i += gl_WorkGroupSize.x) {
            const uint node = first + i + gl_LocalInvocationIndex;
            if (i + gl_LocalInvocationIndex < BATCH && node < nodes &&
                steps[node / light_nodes].changed != SHADOW_UNUSED) {
                count_node(node / light_nodes, node % light_nodes);
            }
        }
        order_threads();
    }
}

uvec2 event(uint factor) {
    return event_here(factor) + uvec2(HANDED_OVER(words[places.events + factor]),
                                      HANDED_OVER(words[places.events + BUDGET_FACTORS + factor]));
}

shared uint least_factor;

void choose_factor() {
    const uint share = BUDGET_FACTORS / gl_WorkGroupSize.x;
    const uint first = thread_index() * share;
    uvec2 of_thread = uvec2(0);
    for (uint i = 0; i < share; ++i) {
        of_thread += event(first + i);
    }
    uvec2 total;
    uvec2 sums = scan(of_thread, thread_index(), total);
    uint least = BUDGET_FACTORS - 1;
    for (uint i = 0; i < share; ++i) {
        sums += event(first + i);
        if (sums.x <= parameters.max_tiles && sums.y <= shadow_max_cells(parameters)) {
            least = min(least, first + i);
        }
        words[places.events + first + i] = 0;
        words[places.events + BUDGET_FACTORS + first + i] = 0;
    }
    if (least < BUDGET_FACTORS - 1) {
        atomicMin(least_factor, least);
    }
    order_threads();
    if (thread_index() == 0) {
        header.factor_index = least_factor;
        header.factor = budget_factor(least_factor);
    }
}

void main() {
    if (thread_index() == 0) {
        least_factor = BUDGET_FACTORS - 1;
    }
    for (uint i = thread_index(); i < frame.layers; i += gl_WorkGroupSize.x) {
        steps[i] = step_of(i);
    }
    clear_events();
    order_threads();
    count_nodes();
    choose_factor();
}
