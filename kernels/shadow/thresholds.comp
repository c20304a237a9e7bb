// The threshold of each node, under the factor that was chosen: for Threshold::bound_monotone_map.
// CPU twin: thresholds_of of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 256 threads, a thread for each node of level 1 and above (levels_below_root), and one for
// four texels, whose thresholds stay from the first frame on; lights as z.
// Bindings: bindings.glsl; reads the header's factor and the page table of the last frame, writes thresholds.
// Memory order: each thread writes words of its own.
// Source: docs/shadows.md, step 5. A node that was split has ancestors that were, too, and merge_ratio is above
// 1/2, so no node's threshold is larger than its children's.
#version 460
#include "bindings.glsl"

layout(local_size_x = 256) in;

void main() {
    const uint top = parameters.map_levels;
    const uint extent = 1U << top;
    const uint light = gl_WorkGroupID.z;
    const uint i = gl_GlobalInvocationID.x;
    const uint quads = extent * extent / 4;
    const uint nodes = first_node(top);
    if (i >= nodes) {
        if (!has_last_frame() && i - nodes < quads) {
            const uint first = (light * quads + i - nodes) * 4;
            for (uint texel = first; texel < first + 4; ++texel) {
                thresholds[texel] = float_from_bits(BITS_INFINITY);
            }
        }
        return;
    }
    const uint below_root = levels_below_root(i);
    const uint level = top - below_root;
    const uvec2 node = node_position(i - first_node(below_root));
    const float threshold =
        shadow_split_threshold(parameters, level, was_split(level, node, light));
    thresholds[threshold_map_index(extent, extent, parameters.lights, level, node.x, node.y, light)] =
        scaled_threshold(threshold, header.factor_index);
}
