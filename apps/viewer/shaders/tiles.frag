// Draws a tile: the map, in grey if the tile has a fill, then stripes if the tile is clamped, then
// the outline.
#version 460

#include "draw.glsl"

layout(location = 0) flat in vec2 first_pixel;
layout(location = 1) flat in float side_pixels;
layout(location = 2) flat in vec3 fill_colour;
layout(location = 3) flat in uint flags;
layout(location = 4) flat in vec2 end_pixel;

layout(location = 0) out vec4 colour;

const vec3 CLAMPED = vec3(255.0, 0.0, 80.0) / 255.0;
const vec3 LIGHT = vec3(120.0, 235.0, 255.0) / 255.0;
const vec3 COARSER = vec3(255.0, 80.0, 255.0) / 255.0;
const vec3 DARK = vec3(20.0, 40.0, 90.0) / 255.0;

// Returns the opacity of outlines: small tiles have fainter ones, which do not hide the map.
float outline_opacity() {
    return clamp((side_pixels / drawing.outline_pixels - 1.0) / 11.0, 0.0, 0.75);
}

float brightness_of(vec3 shown) {
    return dot(shown, vec3(0.25, 0.625, 0.125));
}

void main() {
    vec3 shown = map_colour(gl_FragCoord.xy);
    if (drawing.fill != FILL_NONE) {
        // Greys are neither black nor white, so that the fill looks as in its legend.
        shown = mix(vec3(0.3 + 0.5 * brightness_of(shown)), fill_colour, drawing.fill_opacity);
    }
    if (drawing.mark_clamped != 0 && (flags & TILE_CLAMPED) != 0) {
        const uvec2 pixel = uvec2(gl_FragCoord.xy);
        const bool is_striped = side_pixels >= 8.0;
        if (!is_striped || ((pixel.x + pixel.y) & 7) < 3) {
            shown = CLAMPED;
        }
    }
    // Outlines of the left and upper side; the neighbours draw the others. A side whose neighbour
    // is coarser is drawn, too. Dark colours have light outlines, light colours dark ones.
    // Rounding may place a pixel before the tile, which must not become an outline of no width.
    const vec2 from_side = max(gl_FragCoord.xy - first_pixel, 0.0);
    const bvec2 is_first = lessThan(from_side, vec2(drawing.outline_pixels));
    const bvec2 is_last = lessThan(max(end_pixel - gl_FragCoord.xy, 0.0), vec2(drawing.outline_pixels));
    if ((is_first.x && (flags & TILE_COARSER_LEFT) != 0) || (is_last.x && (flags & TILE_COARSER_RIGHT) != 0) ||
        (is_first.y && (flags & TILE_COARSER_TOP) != 0) || (is_last.y && (flags & TILE_COARSER_BOTTOM) != 0)) {
        shown = mix(shown, COARSER, outline_opacity());
    } else if (any(is_first)) {
        shown = mix(shown, brightness_of(shown) < 0.588 ? LIGHT : DARK, outline_opacity());
    }
    colour = vec4(shown, 1.0);
}
