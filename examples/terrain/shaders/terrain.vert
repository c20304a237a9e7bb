// Draws the terrain: an instance per tile, with the vertices of one patch.
//
// There are no cracks: a vertex comes from whole numbers, its place on the height map, so that it
// is bit-identical in both tiles at an edge. A coarser neighbour has only every second vertex of
// the edge; the other vertices move onto those before them.
#version 460

#include "resources.glsl"

layout(location = 0) out vec3 place;  // on the map, and upwards
layout(location = 1) flat out uint level;
layout(location = 2) out vec2 in_patch;

invariant gl_Position;

void main() {
    const Tile tile = tiles[gl_InstanceIndex];
    level = tile_level(tile);
    uvec2 vertex = uvec2(gl_VertexIndex % (PATCH + 1), gl_VertexIndex / (PATCH + 1));
    in_patch = vec2(vertex);
    if (view.stitches != 0) {
        const uint sides = (vertex.x == 0 ? TILE_COARSER_LEFT : 0) | (vertex.x == PATCH ? TILE_COARSER_RIGHT : 0);
        const uint ends = (vertex.y == 0 ? TILE_COARSER_TOP : 0) | (vertex.y == PATCH ? TILE_COARSER_BOTTOM : 0);
        if ((tile_flags(tile) & sides) != 0) {
            vertex.y &= ~1U;
        }
        if ((tile_flags(tile) & ends) != 0) {
            vertex.x &= ~1U;
        }
    }
    const uvec2 first = uvec2(tile_x(tile), tile_y(tile)) * PATCH;
    // The map's edge cuts tiles that reach beyond it.
    const uvec2 on_map = min((first + vertex) << level, uvec2(HEIGHT_EXTENT - 1));
    place = vec3(on_map, height_at(ivec2(on_map)));

    const vec3 from_eye = place - view.eye;
    const float depth = dot(from_eye, view.forward);
    // Reversed-Z: depth is 1 at the near plane, one unit from the eye, and 0 at infinity.
    gl_Position = vec4(dot(from_eye, view.right) * view.scale_x, dot(from_eye, view.down) * view.scale_y, 1.0, depth);
}
