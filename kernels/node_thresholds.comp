#version 460
// Writes the threshold of each node by the caller's function, for balanced lists, which need them in many places.
//
// Dispatch: one per level; a thread per node of `upper_level`, of all layers, 256 per workgroup, folded into x and y.
//
// Bindings, set 0:
//   10   thresholds of the nodes (threshold_map_index)
// Set 1: resources of the function.
//
// Memory order: each thread writes a word of its own.
//
// The variant with USER_THRESHOLD 0 is the one that the function's code is compared with.

#include "quadtile/kernel_parameters.h"

layout(local_size_x = SUBDIVISION_WORKGROUP_SIZE) in;

layout(set = 0, binding = 10, std430) writeonly buffer NodeThresholds { float node_thresholds[]; };
layout(push_constant) uniform Parameters { SubdivisionParameters parameters; };

// Functions for the user's text, which defines threshold().
uvec2 map_extent() { return uvec2(parameters.width, parameters.height); }
uint map_layers() { return parameters.layers; }
float threshold_parameter(uint index) { return parameters.thresholds[index]; }
#if USER_THRESHOLD
#include "user_threshold.glsl"
#else
float threshold(uint level, uvec2 position, uint layer) { return threshold_parameter(0); }
#endif

void main() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint node = workgroup * SUBDIVISION_WORKGROUP_SIZE + gl_LocalInvocationIndex;
    const uint level = parameters.upper_level;
    const uvec2 extent = uvec2(level_extent(parameters.width, level), level_extent(parameters.height, level));
    const uint row = node / extent.x;
    const uvec2 position = uvec2(node % extent.x, row % extent.y);
    const uint layer = row / extent.y;
    if (layer < parameters.layers) {
        node_thresholds[threshold_map_index(parameters.width, parameters.height, parameters.layers, level,
                                            position.x, position.y, layer)] = threshold(level, position, layer);
    }
}
