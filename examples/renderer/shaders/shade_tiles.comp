// Shades each tile with the mean colour of its texels. One workgroup per tile.
#version 460

#include "resources.glsl"

layout(local_size_x = 64) in;
layout(binding = 2, std430) writeonly buffer Colours { uint colours[]; };  // per tile

shared uint sums[3];

void main() {
    // Workgroups fill whole rows, so the last few may have no tile.
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= header.written) {
        return;
    }
    const uint thread = gl_LocalInvocationIndex;
    if (thread < 3) {
        sums[thread] = 0;
    }
    barrier();

    const uvec2 first = first_texel(tiles[index]);
    const uvec2 size = end_texel(tiles[index]) - first;
    const uint texels = size.x * size.y;
    uvec3 sum = uvec3(0);
    for (uint i = thread; i < texels; i += gl_WorkGroupSize.x) {
        const uvec2 texel = first + uvec2(i % size.x, i / size.x);
        const Colour colour = colour_at(scene, int(texel.x), int(texel.y));
        sum += uvec3(colour.red, colour.green, colour.blue);
    }
    atomicAdd(sums[0], sum.r);
    atomicAdd(sums[1], sum.g);
    atomicAdd(sums[2], sum.b);
    barrier();

    if (thread == 0) {
        const uvec3 mean = uvec3(sums[0], sums[1], sums[2]) / texels;
        colours[index] = mean.r | mean.g << 8 | mean.b << 16;
    }
}
