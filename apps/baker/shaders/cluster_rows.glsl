// Rows of pixels of a cluster's triangles, as work for the threads of one workgroup: triangles differ in size, rows
// much less. For workgroups of CLUSTER_TRIANGLES threads, one per triangle.

#ifndef QUADTILE_BAKER_CLUSTER_ROWS_GLSL
#define QUADTILE_BAKER_CLUSTER_ROWS_GLSL

#include "triangle.glsl"

shared PixelTriangle cluster_triangles[CLUSTER_TRIANGLES];
shared uint row_ends[CLUSTER_TRIANGLES];  // rows of this triangle and the earlier ones
shared uint sums[2][CLUSTER_TRIANGLES];

// Returns the sum of the values of this thread and the earlier ones, which sums[0] then has for all. All threads call
// it, with a barrier between their last use of sums[0] and this.
uint sum_so_far(uint value) {
    const uint thread = gl_LocalInvocationIndex;
    sums[0][thread] = value;
    barrier();
    for (uint step = 0; step < 6; ++step) {
        const uint distance = 1U << step;
        value += thread >= distance ? sums[step & 1U][thread - distance] : 0;
        sums[1U - (step & 1U)][thread] = value;
        barrier();
    }
    return value;
}

// Shares out the rows. All threads call it, each with its triangle. Returns the number of rows.
uint share_rows(PixelTriangle triangle) {
    const uint thread = gl_LocalInvocationIndex;
    cluster_triangles[thread] = triangle;
    row_ends[thread] = sum_so_far(uint(triangle.last.y - triangle.first.y + 1));
    barrier();
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
