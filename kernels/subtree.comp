#version 460
// One pass of the subdivision by subtrees: several levels in one dispatch.
//
// Dispatch: 4^(upper_level - lower_level) threads for each subtree, that is, one for each node of its
// lowest level; 256 a workgroup, folded into x and y. The first pass starts at the root of each layer;
// the others at the nodes that the pass before has split and listed, by indirect arguments that
// pass wrote itself.
//
// Each thread descends from the subtree's root towards its own node and stops at the first that is
// not split. Threads below one tile all find it; the one at its first corner appends it. A node of
// the lowest level that is split goes to the next pass's list, except that children of level 1 are
// texels and become tiles at once.
//
// Bindings: common/subdivision.glsl. Memory order: appending is by relaxed atomics; a barrier of the
// command buffer lies between a pass and the next; finish_pass() argues the end.
//
// After Tokuyoshi, "An Implementation of Adaptive Tile Subdivision on the GPU", section 4.

#include "subdivision.glsl"

// The list of the next pass is now at least `length` nodes long: its arguments follow.
void raise_arguments(uint length) {
    const uint workgroups = workgroups_for(length, parameters.next_depth);
    const uint next = parameters.pass + 1;
    atomicMax(state.passes[next].dispatch_x, folded_x(workgroups, parameters.max_workgroup_count),
              gl_ScopeDevice, 0, 0);
    atomicMax(state.passes[next].dispatch_y, folded_y(workgroups, parameters.max_workgroup_count),
              gl_ScopeDevice, 0, 0);
}

void main() {
    begin_pass();
    const uint lower = parameters.lower_level;
    const uint depth = parameters.upper_level - lower;
    const uint thread = dispatch_thread();
    const uint subtree = thread >> (2 * depth);

    bool is_tile = false;
    bool is_split = false;  // at the lowest level
    uint level = lower;
    uint key = 0;
    uint threshold = 0;
    Node node = Node(uvec2(0), 0);

    if (subtree < input_count()) {
        const Node root = input_node(subtree);
        const uint local = thread & ((1U << (2 * depth)) - 1);
        const uvec2 leaf = (root.position << depth) + uvec2(morton_x(local), morton_y(local));
        if (all(lessThan(leaf, extent_of(lower)))) {
            // Listed nodes are known to be split.
            const bool first = (parameters.pass_flags & PASS_FIRST) != 0;
            level = parameters.upper_level + (first ? 1 : 0);
            bool split = true;
            // Threads leave at different levels, but all that are in a turn are at the same one.
            while (split && level > lower) {
                --level;
                node = Node(leaf >> (level - lower), root.layer);
                key = importance_key(level, node);
                threshold = threshold_key(level, node);
                split = key >= threshold;
            }
            const bool at_corner = (node.position << (level - lower)) == leaf;
            is_tile = at_corner && (!split || level == 0);
            is_split = split && level != 0;
        }
    }

    append_tile(is_tile, level, node, key, threshold);
    if (lower == 1) {
        append_children(is_split, node);
    } else if (lower >= LOWEST_LISTED_LEVEL) {
        const uint length = append_node(is_split, lower, node);
        if (gl_LocalInvocationIndex == 0 && length > 0) {
            raise_arguments(length);
        }
    }
    if (thread == 0 && (parameters.pass_flags & PASS_LAST) == 0) {
        // However short the list: the last pass must run to complete the header.
        const uint next = parameters.pass + 1;
        atomicMax(state.passes[next].dispatch_x, 1, gl_ScopeDevice, 0, 0);
        atomicMax(state.passes[next].dispatch_y, 1, gl_ScopeDevice, 0, 0);
        atomicMax(state.passes[next].dispatch_z, 1, gl_ScopeDevice, 0, 0);
    }
    finish_pass();
}
