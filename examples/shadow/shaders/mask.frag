#version 460

// Leaves holes in depths.

#extension GL_GOOGLE_include_directive : require
#include "mask_fragment.glsl"

void main() { discard_holes(); }
