// Rectangle of the map: a triangle strip of four vertices.
#version 460

#include "draw.glsl"

void main() {
    const vec2 corner = vec2((gl_VertexIndex & 1) != 0 ? drawing.map_width : 0,
                             (gl_VertexIndex & 2) != 0 ? drawing.map_height : 0);
    const vec2 pixel = vec2(drawing.origin_x, drawing.origin_y) + corner * drawing.zoom;
    gl_Position = vec4(2.0 * pixel / vec2(drawing.target_width, drawing.target_height) - 1.0, 0.0, 1.0);
}
