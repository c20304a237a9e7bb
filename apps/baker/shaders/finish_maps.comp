// Converts the results of density.comp to images for quadtile, and resets the words to 0 for the next maps.
//
// Dispatch: (extent / 8, extent / 8, layers) workgroups of 8 x 8 threads.
// Bindings: density and fragments (words), the same as images of 32-bit floats.
// Memory: each thread has a texel of its own; the host puts barriers before and behind.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "bake.h"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 2, std430) buffer Density {
    uint density_bits[];
};
layout(set = 0, binding = 3, std430) buffer Fragments {
    uint fragment_counts[];
};
layout(set = 0, binding = 4, r32f) uniform writeonly image2DArray importance_map;
layout(set = 0, binding = 5, r32f) uniform writeonly image2DArray fragment_map;
layout(push_constant, std430) uniform PushConstants {
    MapParameters parameters;
};

void main() {
    const uvec3 texel = gl_GlobalInvocationID;
    if (texel.x >= parameters.extent || texel.y >= parameters.extent) {
        return;
    }
    const uint place = (texel.z * parameters.extent + texel.y) * parameters.extent + texel.x;
    imageStore(importance_map, ivec3(texel), vec4(uintBitsToFloat(density_bits[place])));
    imageStore(fragment_map, ivec3(texel), vec4(float(fragment_counts[place])));
    density_bits[place] = 0;
    fragment_counts[place] = 0;
}
