#version 460

// Draws the camera's view of a scene: depth, and the surface for shading, with holes.

#extension GL_GOOGLE_include_directive : require
#include "mask_vertex.glsl"
#include "surface_vertex.glsl"

void main() {
    pass_mask();
    place_surface();
}
