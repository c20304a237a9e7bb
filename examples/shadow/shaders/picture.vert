#version 460

// Covers the window; four vertices of a triangle strip.

void main() {
    gl_Position = vec4(2.0 * float(gl_VertexIndex & 1) - 1.0, 2.0 * float(gl_VertexIndex >> 1) - 1.0, 0.0, 1.0);
}
