// Makes the importance maps of several directions: per texel the greatest lightmap density of the triangles that touch
// it, and the number of fragments, whose texel centres are covered. No culling, no depth test.
//
// Dispatch: row_shares workgroups per cluster and layer, or as many of these as there is time for, folded into x and y;
// CLUSTER_TRIANGLES threads each.
// Bindings: triangles, frames (one per layer), density and fragments (words, zeros at first).
// Memory: only atomics without order, and reads that may be old. Maxima of positive floats are those of their bits, and
// sums of whole numbers do not depend on the order. The host puts a barrier behind.
// Source: Tokuyoshi, "An Implementation of Adaptive Tile Subdivision on the GPU", importance maps.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "cluster_rows.glsl"

layout(local_size_x = CLUSTER_TRIANGLES) in;

layout(set = 0, binding = 0, std430) readonly buffer Triangles {
    TracedTriangle triangles[];
};
layout(set = 0, binding = 1, std430) readonly buffer Frames {
    ProjectionFrame frames[];
};
layout(set = 0, binding = 2, std430) buffer Density {
    uint density_bits[];
};
layout(set = 0, binding = 3, std430) buffer Fragments {
    uint fragment_counts[];
};
layout(push_constant, std430) uniform PushConstants {
    MapParameters parameters;
};

void main() {
    const uint work =
        parameters.first_work + gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (work >= parameters.end_work) {
        return;
    }
    const uint row_share = work % parameters.row_shares;
    const uint cluster = work / parameters.row_shares % parameters.clusters;
    const uint layer = work / parameters.row_shares / parameters.clusters;
    const ProjectionFrame frame = frames[layer];
    const uint index = cluster * CLUSTER_TRIANGLES + gl_LocalInvocationIndex;
    PixelTriangle mine;
    mine.first = ivec2(0);
    mine.last = ivec2(-1);
    if (index < parameters.triangles) {
        mine = pixel_triangle(triangles[index], frame, vec2(0.0), 1.0, 1.0, ivec2(0),
                              ivec2(parameters.extent - 1));
    }
    const uint rows = share_rows(mine);
    for (uint row = row_share * CLUSTER_TRIANGLES + gl_LocalInvocationIndex; row < rows;
         row += parameters.row_shares * CLUSTER_TRIANGLES) {
        ivec2 texel;
        const uint i = find_row(row, texel.y);
        const PixelTriangle triangle = cluster_triangles[i];
        precise const float density =
            triangles[cluster * CLUSTER_TRIANGLES + i].density * frame.units_per_texel * frame.refinement;
        for (texel.x = triangle.first.x; texel.x <= triangle.last.x; ++texel.x) {
            const uint place =
                (layer * parameters.extent + uint(texel.y)) * parameters.extent + uint(texel.x);
            const bool is_fragment = triangle.inverse_area > 0.0 && covers(triangle, texel);
            if (is_fragment) {
                atomicAdd(fragment_counts[place], 1);
            }
            if ((is_fragment || touches(triangle, texel)) &&
                is_within(triangle, texel, frame.range)) {
                precise const float density_here = density * distance_at(triangle, texel);
                // Neighbours are often as dense, so most threads have nothing to add, and need not wait.
                if (density_bits[place] < floatBitsToUint(density_here)) {
                    atomicMax(density_bits[place], floatBitsToUint(density_here));
                }
            }
        }
    }
}
