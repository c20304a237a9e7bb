// What vertex shaders pass on for holes. Only triangles with holes read it, whose vertices are the first ones.

#include "mask.h"

layout(std430, set = 0, binding = 11) readonly buffer MaskVertices { MaskVertex mask_vertices[]; };

layout(location = 2) out vec2 mask_coordinates;
layout(location = 3) out flat uint mask_number;

void pass_mask() {
    const MaskVertex vertex = mask_vertices[min(gl_VertexIndex, mask_vertices.length() - 1)];
    mask_coordinates = vec2(vertex.coordinates[0], vertex.coordinates[1]);
    mask_number = vertex.mask;
}
