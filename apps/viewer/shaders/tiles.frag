// A tile: the map, under a fill, under stripes where it is clamped, under its outline.
#version 460

#include "draw.glsl"

layout(location = 0) flat in vec2 first_pixel;
layout(location = 1) flat in float side_pixels;
layout(location = 2) flat in vec3 fill_colour;
layout(location = 3) flat in uint is_clamped;

layout(location = 0) out vec4 colour;

const vec3 CLAMPED = vec3(255.0, 0.0, 80.0) / 255.0;
const vec3 LIGHT = vec3(120.0, 235.0, 255.0) / 255.0;
const vec3 DARK = vec3(20.0, 40.0, 90.0) / 255.0;

// Outlines of small tiles are fainter: they would hide the map.
float outline_opacity() {
    return clamp((side_pixels / drawing.outline_pixels - 1.0) / 11.0, 0.0, 0.75);
}

void main() {
    vec3 shown = map_colour(gl_FragCoord.xy);
    if (drawing.fill != FILL_NONE) {
        shown = mix(shown, fill_colour, drawing.fill_opacity);
    }
    if (drawing.mark_clamped != 0 && is_clamped != 0) {
        const uvec2 pixel = uvec2(gl_FragCoord.xy);
        const bool is_striped = side_pixels >= 8.0;
        if (!is_striped || ((pixel.x + pixel.y) & 7) < 3) {
            shown = CLAMPED;
        }
    }
    // The left and upper side; the neighbours draw the others. Light on dark and dark on light.
    const vec2 from_side = gl_FragCoord.xy - first_pixel;
    if (min(from_side.x, from_side.y) < drawing.outline_pixels) {
        const float brightness = dot(shown, vec3(0.25, 0.625, 0.125));
        shown = mix(shown, brightness < 0.588 ? LIGHT : DARK, outline_opacity());
    }
    colour = vec4(shown, 1.0);
}
