// Draws each tile as a rectangle: an instance per tile, a triangle strip of four vertices.
#version 460

#include "resources.glsl"

layout(binding = 2, std430) readonly buffer Colours { uint colours[]; };  // per tile

layout(location = 0) flat out uvec2 first_pixel;
layout(location = 1) flat out uint colour;

void main() {
    const Tile tile = tiles[gl_InstanceIndex];
    const uvec2 first = first_texel(tile);
    const uvec2 end = end_texel(tile);
    const uvec2 corner = uvec2((gl_VertexIndex & 1) != 0 ? end.x : first.x,
                               (gl_VertexIndex & 2) != 0 ? end.y : first.y);
    gl_Position = vec4(2.0 * vec2(corner) / vec2(scene.width, scene.height) - 1.0, 0.0, 1.0);
    first_pixel = first;
    colour = colours[gl_InstanceIndex];
}
