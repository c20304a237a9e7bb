#version 460

#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

void main() { write_surface(); }
