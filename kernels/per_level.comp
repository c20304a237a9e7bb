#version 460
// One pass of the subdivision level by level.
//
// Dispatch: four threads for each listed node, one a child; 256 a workgroup, folded into x and y, by
// indirect arguments from per_level_arguments.comp. The first pass: one thread for each root.
//
// Bindings: common/subdivision.glsl. Memory order: appending is by relaxed atomics; a barrier of the
// command buffer lies between a pass and the next; finish_pass() argues the end.
//
// After Tokuyoshi, "An Implementation of Adaptive Tile Subdivision on the GPU", section 3.

#include "subdivision.glsl"

void main() {
    begin_pass();
    const uint level = parameters.lower_level;
    const uint depth = parameters.upper_level - level;  // 0 in the first pass, else 1
    const uint thread = dispatch_thread();
    const uint parent = thread >> (2 * depth);

    bool exists = false;
    uint key = 0;
    uint threshold = 0;
    Node node = Node(uvec2(0), 0);
    if (parent < input_count()) {
        node = input_node(parent);
        if (depth == 1) {
            node.position = 2 * node.position + uvec2(thread & 1, (thread >> 1) & 1);
        }
        exists = all(lessThan(node.position, extent_of(level)));
        if (exists) {
            key = importance_key(level, node);
            threshold = threshold_key(level, node);
        }
    }
    const bool split = exists && level != 0 && key >= threshold;

    append_tile(exists && !split, level, node, key, threshold);
    if (level == 1) {
        append_children(split, node);
    } else if (level >= LOWEST_LISTED_LEVEL) {
        append_node(split, level, node);
    }
    finish_pass();
}
