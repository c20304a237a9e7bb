// Reads each texel of the map once: the roof of all that starts from a map.
//
// A workgroup of 256 threads reads 64 x 64 texels of a layer (z), each thread 2 x 2 texels at a time. Neighbouring
// threads follow the Z-order curve. Beyond the map's edge its last texels are read again. The sum of the texels' bits
// is stored only if it is above `limit`. With the largest limit that never happens, but compilers cannot know it.

#version 460

#include "quadtile/quadtree.h"

layout(local_size_x = 256) in;

layout(std430, binding = 0) buffer Result {
    uint total;
};
layout(binding = 1) uniform sampler2DArray map;

layout(push_constant) uniform Parameters {
    vec2 texel_size;  // 1 / extent of the map
    uint limit;
};

void main() {
    const uvec2 thread = uvec2(morton_x(gl_LocalInvocationID.x), morton_y(gl_LocalInvocationID.x));
    const uvec2 first_texel = gl_WorkGroupID.xy * 64 + thread * 2;
    uint sum = 0;
    for (uint quadrant = 0; quadrant < 4; ++quadrant) {
        const uvec2 texel = first_texel + uvec2(quadrant & 1U, quadrant >> 1) * 32;
        const vec2 common_corner = vec2(texel + 1) * texel_size;
        const uvec4 bits = floatBitsToUint(textureGather(map, vec3(common_corner, gl_WorkGroupID.z)));
        sum += bits.x + bits.y + bits.z + bits.w;
    }
    if (sum > limit) {
        atomicAdd(total, sum);
    }
}
