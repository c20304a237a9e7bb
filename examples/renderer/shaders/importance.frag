// The importance: texels of the lightmap along a side of this pixel.
#version 460

layout(location = 0) flat in float texels_at_1;
layout(location = 0) out float importance;

void main() {
    importance = texels_at_1 * pow(gl_FragCoord.w, -1.5);  // gl_FragCoord.w is 1 / distance
}
