#version 460

// Merges the depths of static and of moving casters in the slots that are drawn.
//
// Dispatch: workgroups of 256 threads, one per tile of max_tiles. Those behind the list `render` have nothing to do.
// Bindings: 0: the header; 1: tiles; 2: `render`; 3 and 4: atlases of static and moving casters; 5: that of both.
// Memory order: each thread has its own texels.

#extension GL_GOOGLE_include_directive : require
#include <quadtile/shadow.h>

layout(local_size_x = 256) in;

layout(push_constant, std430) uniform PushConstants { ShadowParameters parameters; };
layout(std430, binding = 0) readonly buffer Header { ShadowHeader header; };
layout(std430, binding = 1) readonly buffer Tiles { ShadowTile tiles[]; };
layout(std430, binding = 2) readonly buffer Render { uint render[]; };
layout(binding = 3) uniform sampler2D static_atlas;
layout(binding = 4) uniform sampler2D moving_atlas;
layout(binding = 5, r32f) writeonly uniform image2D atlas;

void main() {
    if (gl_WorkGroupID.x >= header.render_count) {
        return;
    }
    const ShadowTile tile = tiles[render[gl_WorkGroupID.x]];
    const ivec2 slot = ivec2(tile.slot & 0xffffU, tile.slot >> 16);
    const uint extent = shadow_slot_extent(parameters.tile_extent, tile.state & 0xffU);
    for (uint i = gl_LocalInvocationIndex; i < extent * extent; i += gl_WorkGroupSize.x) {
        const ivec2 texel = slot + ivec2(i & (extent - 1), i >> findMSB(extent));
        const float depth = min(texelFetch(static_atlas, texel, 0).x, texelFetch(moving_atlas, texel, 0).x);
        imageStore(atlas, texel, vec4(depth));
    }
}
