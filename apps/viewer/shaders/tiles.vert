// Draws each tile as a rectangle: an instance per tile, a triangle strip of four vertices. The
// list's header contains the arguments of the draw.
#version 460

#include "draw.glsl"

layout(location = 0) flat out vec2 first_pixel;  // the tile's first corner, not rounded
layout(location = 1) flat out float side_pixels;
layout(location = 2) flat out vec3 fill_colour;
layout(location = 3) flat out uint flags;
layout(location = 4) flat out vec2 end_pixel;  // the tile's last corner, cut at the map's edge

vec3 colour_of(Tile tile) {
    switch (drawing.fill) {
        case FILL_LEVEL:
            return table_colour(LEVEL_COLOURS, (float(tile_level(tile)) + 0.5) / float(drawing.top_level + 1));
        case FILL_RATIO:
            // A clamped tile of importance +inf or with a threshold of 0 has no ratio.
            return table_colour(RATIO_COLOURS, (tile_flags(tile) & TILE_CLAMPED) != 0 ? 1.0 : tile.importance / tile.threshold);
        case FILL_ORDER:
            return table_colour(LEVEL_COLOURS, (float(gl_InstanceIndex) + 0.5) / float(header.written));
    }
    return vec3(0.0);
}

void main() {
    const Tile tile = tiles[gl_InstanceIndex];
    const uint level = tile_level(tile);
    const uvec2 first = uvec2(tile_x(tile), tile_y(tile)) << level;
    const uvec2 end = min(first + (1U << level), uvec2(drawing.map_width, drawing.map_height));
    const vec2 origin = vec2(drawing.origin_x, drawing.origin_y);
    const uvec2 corner = uvec2((gl_VertexIndex & 1) != 0 ? end.x : first.x,
                               (gl_VertexIndex & 2) != 0 ? end.y : first.y);
    const vec2 pixel = origin + vec2(corner) * drawing.zoom;
    gl_Position = vec4(2.0 * pixel / vec2(drawing.target_width, drawing.target_height) - 1.0, 0.0, 1.0);
    first_pixel = origin + vec2(first) * drawing.zoom;
    side_pixels = float(1U << level) * drawing.zoom;
    fill_colour = colour_of(tile);
    flags = tile_flags(tile);
    end_pixel = origin + vec2(end) * drawing.zoom;
}
