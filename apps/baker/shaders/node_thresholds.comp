// Writes the memory threshold of each node, min(max_resolution, sqrt(max_nodes / mean)) / 2^level, for
// Threshold::bound_map; mean is that of the fragments of its texels. CPU twin: node_thresholds of reference_tracer.cpp.
//
// Dispatch: (words of a layer's level 0 / 64, layers as y) workgroups of 64 threads; each level takes as many of them
// as it has nodes, from the lowest on, in a loop.
// Bindings: the sums of fragments as mip levels of an image, the buffer of thresholds.
// Memory: each thread writes words of its own.
// Source: Tokuyoshi et al., "Adaptive Ray-bundle Tracing with Memory Usage Prediction" (2013).
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include <quadtile/quadtree.h>
#include "bake.h"
#include "exact.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 6) uniform texture2DArray fragment_sums;
layout(set = 0, binding = 7, std430) writeonly buffer Thresholds {
    float thresholds[];
};
layout(push_constant, std430) uniform PushConstants {
    MapParameters parameters;
};

void main() {
    const uint layer = gl_WorkGroupID.y;
    for (uint level = 0; level < parameters.levels; ++level) {
        const uint extent = parameters.extent >> level;
        const uint node = gl_GlobalInvocationID.x;
        if (node < extent * extent) {
            const uvec2 place = uvec2(node % extent, node / extent);
            const float sum = texelFetch(fragment_sums, ivec3(place, layer), int(level)).x;
            float resolution = parameters.max_resolution;
            if (sum > 0.0) {
                const float mean = scaled(sum, -2 * int(level));
                resolution =
                    min(resolution, square_root(quotient(parameters.max_nodes, mean)));
            }
            thresholds[threshold_map_index(parameters.extent, parameters.extent, parameters.layers,
                                           level, place.x, place.y, layer)] =
                scaled(resolution, -int(level));
        }
    }
}
