// Reads each texel of an image once and writes each texel of its mip levels once, without hand-overs
// between workgroups: the roof of all that makes mip levels.
//
// A workgroup of 256 threads takes a block of 64 x 64 texels, each thread 2 x 2 texels at a time, and
// writes the block's part of the first six levels. A texel of a higher level is written by the
// workgroup of the block in its upper left corner. Written values depend on the texels that the thread
// has read, so that no load can be optimised away, but they are no mip levels: level 1 has the first
// channels of the texels below, as a gather delivers them, other levels the largest of the thread's.

#version 460

#include "quadtile/quadtree.h"

layout(local_size_x = 256) in;

// Threads take texels along the Z-order curve, which is faster than row by row.
uvec2 place_of(uint thread) {
    return uvec2(morton_x(thread), morton_y(thread));
}
uvec2 quad_place(uint thread, uint i) {
    return place_of(thread) + uvec2(i & 1, i >> 1) * 16;
}

const uint LEVELS = 16;  // above level 0
layout(binding = 0) uniform sampler2DArray source;
layout(binding = 1) uniform writeonly image2DArray levels[LEVELS];

layout(push_constant) uniform Parameters {
    uvec2 extent;     // of level 0
    vec2 texel_size;  // 1 / extent
    uint top_level;
};

// A macro, since some devices cannot choose an image at run time.
#define WRITE(level, position, texel)                                                               \
    if (level <= top_level && all(lessThan(position, max(extent >> level, uvec2(1))))) {            \
        imageStore(levels[level - 1], ivec3(position, gl_WorkGroupID.z), texel);                    \
    }
#define WRITE_ABOVE_BLOCKS(level, texel)                                                            \
    if (all(equal(block & ((1 << (level - 6)) - 1), uvec2(0)))) {                                   \
        WRITE(level, block >> (level - 6), texel)                                                   \
    }

void main() {
    const uvec2 block = gl_WorkGroupID.xy;
    const uint thread = gl_LocalInvocationID.x;
    vec4 quads[4];
    for (uint i = 0; i < 4; ++i) {
        const uvec2 texel = 2 * (32 * block + quad_place(thread, i));
        const vec2 common_corner = vec2(texel + 1) * texel_size;
        quads[i] = textureGather(source, vec3(common_corner, gl_WorkGroupID.z));
    }
    const vec4 largest = max(max(quads[0], quads[1]), max(quads[2], quads[3]));

    for (uint i = 0; i < 4; ++i) {
        WRITE(1, 32 * block + quad_place(thread, i), quads[i])
    }
    WRITE(2, 16 * block + place_of(thread), largest)
    if (thread < 64) {
        WRITE(3, 8 * block + place_of(thread), largest)
    }
    if (thread < 16) {
        WRITE(4, 4 * block + place_of(thread), largest)
    }
    if (thread < 4) {
        WRITE(5, 2 * block + place_of(thread), largest)
    }
    if (thread == 0) {
        WRITE(6, block, largest)
        WRITE_ABOVE_BLOCKS(7, largest)
        WRITE_ABOVE_BLOCKS(8, largest)
        WRITE_ABOVE_BLOCKS(9, largest)
        WRITE_ABOVE_BLOCKS(10, largest)
        WRITE_ABOVE_BLOCKS(11, largest)
        WRITE_ABOVE_BLOCKS(12, largest)
        WRITE_ABOVE_BLOCKS(13, largest)
        WRITE_ABOVE_BLOCKS(14, largest)
        WRITE_ABOVE_BLOCKS(15, largest)
        WRITE_ABOVE_BLOCKS(16, largest)
    }
}
