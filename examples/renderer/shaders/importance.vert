// Draws the scene for the importance map.
#version 460

#include "resources.glsl"

layout(location = 0) flat out float texels_at_1;

vec3 place(uint i) { return vec3(vertices[i].x, vertices[i].y, vertices[i].z) - view.eye; }

vec2 texel(uint i) { return vec2(vertices[i].u, vertices[i].v) * view.lightmap_texels; }

void main() {
    // A pixel at distance d along `forward` shows an area of pixel^2 d^3 / |normal . place| of the triangle's plane, if
    // the normal has length 1. With the cross product as the normal, the triangle's area cancels out.
    const uint first = gl_VertexIndex / 3 * 3;
    const vec3 a = place(first);
    const vec3 normal = cross(place(first + 1) - a, place(first + 2) - a);
    const float texels = determinant(mat2(texel(first + 1) - texel(first), texel(first + 2) - texel(first)));
    texels_at_1 = view.pixel * sqrt(abs(texels / dot(normal, a)));

    const vec3 p = place(gl_VertexIndex);
    // Reversed-Z: depth is 1 at the near plane and 0 at infinity.
    gl_Position = vec4(dot(view.right, p), dot(view.down, p), view.near_plane, dot(view.forward, p));
}
