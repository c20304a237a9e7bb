// A tile's colour, and its outline.
#version 460

#extension GL_GOOGLE_include_directive : require

#include "scene.h"

layout(location = 0) flat in uvec2 first_pixel;
layout(location = 1) flat in uint colour;
layout(location = 0) out vec4 pixel_colour;

void main() {
    Colour shown = Colour(colour & 0xffU, colour >> 8 & 0xffU, colour >> 16 & 0xffU);
    if (any(equal(uvec2(gl_FragCoord.xy), first_pixel))) {
        shown = outline_of(shown);
    }
    pixel_colour = vec4(shown.red, shown.green, shown.blue, 255.0) / 255.0;
}
