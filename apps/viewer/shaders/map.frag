// Colours of the map, or of a level of its pyramid.
#version 460

#include "draw.glsl"

layout(location = 0) out vec4 colour;

void main() {
    colour = vec4(map_colour(gl_FragCoord.xy), 1.0);
}
