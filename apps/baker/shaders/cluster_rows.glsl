// Rows of pixels of a cluster's triangles, as work for the threads of one workgroup: triangles differ in size, rows
// much less. For workgroups of CLUSTER_TRIANGLES threads, one per triangle.

#ifndef QUADTILE_BAKER_CLUSTER_ROWS_GLSL
#define QUADTILE_BAKER_CLUSTER_ROWS_GLSL

#include "triangle.glsl"

shared PixelTriangle cluster_triangles[CLUSTER_TRIANGLES];
shared uint row_ends[CLUSTER_TRIANGLES];  // rows of this triangle and the earlier ones

// Shares out the rows. All threads call it, each with its triangle. Returns the number of rows.
uint share_rows(PixelTriangle triangle) {
    const uint thread = gl_LocalInvocationIndex;
    cluster_triangles[thread] = triangle;
    row_ends[thread] = uint(triangle.last.y - triangle.first.y + 1);
    barrier();
    for (uint distance = 1; distance < CLUSTER_TRIANGLES; distance <<= 1) {
        const uint before = thread >= distance ? row_ends[thread - distance] : 0;
        barrier();
        row_ends[thread] += before;
        barrier();
    }
    return row_ends[CLUSTER_TRIANGLES - 1];
}

// Returns the triangle of a row, and the y of its pixels.
uint find_row(uint row, out int y) {
    uint index = 0;
    for (uint step = CLUSTER_TRIANGLES / 2; step > 0; step >>= 1) {
        index += row_ends[index + step - 1] <= row ? step : 0;
    }
    const uint first_row = index == 0 ? 0 : row_ends[index - 1];
    y = cluster_triangles[index].first.y + int(row - first_row);
    return index;
}

#endif
