// Draws each tile as a rectangle: an instance per tile, a triangle strip of four vertices.
#version 460

#include "resources.glsl"

layout(location = 0) flat out uvec2 first_pixel;
layout(location = 1) flat out float importance;

void main() {
    const Tile tile = tiles[gl_InstanceIndex];
    const uvec2 first = uvec2(tile_x(tile), tile_y(tile)) << tile_level(tile);
    // The map's edge cuts tiles that reach beyond it.
    const uvec2 extent = uvec2(view.width, view.height);
    const uvec2 end = min(first + (1U << tile_level(tile)), extent);
    const uvec2 corner = uvec2((gl_VertexIndex & 1) != 0 ? end.x : first.x,
                               (gl_VertexIndex & 2) != 0 ? end.y : first.y);
    gl_Position = vec4(2.0 * vec2(corner) / vec2(extent) - 1.0, 0.0, 1.0);
    first_pixel = first;
    importance = tile.importance;
}
