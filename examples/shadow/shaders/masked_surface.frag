#version 460

#extension GL_GOOGLE_include_directive : require
#include "mask_fragment.glsl"
#include "surface.glsl"

void main() {
    write_surface();  // first, since its derivatives need all fragments
    discard_holes();
}
