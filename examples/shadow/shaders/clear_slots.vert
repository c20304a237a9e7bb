#version 460

// Clears the slots of the tiles to draw to the farthest depth: one instance per tile, of four vertices (a triangle
// strip). Set 0: frame.glsl.

#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

void main() {
    const ShadowTile tile = tiles[render[gl_InstanceIndex]];
    const vec2 slot = vec2(tile.slot & 0xffffU, tile.slot >> 16);
    const float extent = float(shadow_slot_extent(drawn.shadow.tile_extent, tile.state & 0xffU));
    const vec2 corner = slot + extent * vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(2.0 * corner / float(1U << drawn.shadow.atlas_levels) - 1.0, 1.0, 1.0);
}
