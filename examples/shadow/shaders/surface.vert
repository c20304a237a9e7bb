#version 460

// Draws the camera's view of a scene: depth, and the surface for shading.

#extension GL_GOOGLE_include_directive : require
#include "surface_vertex.glsl"

void main() { place_surface(); }
