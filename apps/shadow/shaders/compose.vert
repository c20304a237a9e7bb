// Rectangle of the target: a triangle strip of four vertices.
#version 460

#include "composition.glsl"

void main() {
    const vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    const vec2 pixel = vec2(composition.left, composition.top) +
                       corner * vec2(composition.width, composition.height);
    gl_Position =
        vec4(2.0 * pixel / vec2(composition.target_width, composition.target_height) - 1.0, 0.0, 1.0);
}
