// The tiles of a light's map, in the colours of their levels or of their changes in this frame.
// Bindings: 4 the page table, 5 the tiles.
#version 460

#include "composition.glsl"

#include <quadtile/shadow.h>

#include "level_colour.h"

layout(binding = 4, r32ui) uniform readonly uimage2DArray page_table;
layout(binding = 5, std430) readonly buffer Tiles { ShadowTile tiles[]; };

layout(location = 0) out vec4 colour;

uint page_at(vec2 pixel) {
    const vec2 place = clamp(vec2(composition.shown_x, composition.shown_y) +
                                 composition.shown_extent * place_in_rectangle(pixel),
                             0.0, 0.99999);
    return imageLoad(page_table, ivec3(place * float(composition.extent), composition.layer)).r;
}

vec3 change_colour(uint state) {
    const bool is_kept = (state & (SHADOW_KEPT << 8)) != 0;
    const bool is_rendered = (state & (SHADOW_RENDER << 8)) != 0;
    if (!is_rendered) {
        return vec3(0.20, 0.24, 0.30);
    }
    return is_kept ? vec3(0.95, 0.80, 0.25) : vec3(0.95, 0.45, 0.20);
}

void main() {
    const uint page = page_at(gl_FragCoord.xy);
    const bool is_edge = page_at(gl_FragCoord.xy - vec2(1.0, 0.0)) != page ||
                         page_at(gl_FragCoord.xy - vec2(0.0, 1.0)) != page;
    const vec3 fill = composition.marks == 1
                          ? change_colour(tiles[shadow_page_tile(page)].state)
                          : vec3(level_channel(shadow_page_level(page), 0),
                                 level_channel(shadow_page_level(page), 1),
                                 level_channel(shadow_page_level(page), 2));
    colour = vec4(is_edge ? 0.35 * fill : fill, 1.0);
}
