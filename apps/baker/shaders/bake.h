// Inputs and outputs of the baker's kernels, in C++ and in GLSL (std430: all members are words, so
// there is no padding).

#ifndef QUADTILE_BAKE_H
#define QUADTILE_BAKE_H

#include <quadtile/language.h>

QUADTILE_NAMESPACE_BEGIN

// Pixels of one workgroup of walk. A tile's pixels begin at a multiple of it.
const QUADTILE_UINT BLOCK_PIXELS = 64;

const int NORMAL_SCALE = 511;

// A triangle of the scene, counter-clockwise seen from its front.
struct TracedTriangle {
    float positions[9];  // world units
    float light_map[6];  // texels
    float density;       // requested pixels per world unit; 0: the triangle is ignored
    // Normal of its front: x, y and z from the lowest bit on, 10 bits each, times NORMAL_SCALE.
    QUADTILE_UINT normal;
};

// Holes of a triangle: the place of its texture, whose texels are bytes in words, and its vertices
// on it. The texture repeats.
struct AlphaTriangle {
    float texture[6];  // texels, none negative
    QUADTILE_UINT first;
    QUADTILE_UINT width;
    QUADTILE_UINT height;
};

// Returns bits that are independent of those of similar values (PCG: Jarzynski and Olano 2020).
QUADTILE_SHARED QUADTILE_UINT scrambled(QUADTILE_UINT value) {
    const QUADTILE_UINT state = value * 747796405U + 2891336453U;
    const QUADTILE_UINT word = ((state >> ((state >> 28U) + 4U)) ^ state) * 277803737U;
    return (word >> 22U) ^ word;
}

// Returns 0 to 254, spread evenly over the pixels of a tile (Roberts 2018), independently for each
// triangle, tile and direction. Texels of the triangle with greater numbers stop the pixel's ray.
QUADTILE_SHARED QUADTILE_UINT hole_threshold(QUADTILE_UINT triangle, QUADTILE_UINT frame_bits,
                                             QUADTILE_UINT tile_bits, QUADTILE_UINT x,
                                             QUADTILE_UINT y) {
    const QUADTILE_UINT start = scrambled(scrambled(triangle + frame_bits) + tile_bits);
    return ((start + x * 3242174889U + y * 2447445414U) >> 16U) * 255U >> 16U;
}

// Triangles of a cluster, which one workgroup traces.
const QUADTILE_UINT CLUSTER_TRIANGLES = 64;

// CLUSTER_TRIANGLES consecutive triangles, and the box around them.
struct TriangleCluster {
    float centre[3];  // world units
    float half_extent[3];
};

// Returns a component of TracedTriangle::normal.
QUADTILE_SHARED QUADTILE_INT normal_component(QUADTILE_UINT normal, QUADTILE_UINT axis) {
    return QUADTILE_INT(normal << (22U - 10U * axis)) >> 22U;
}
QUADTILE_SHARED QUADTILE_INT normal_dot(QUADTILE_UINT normal, QUADTILE_INT x, QUADTILE_INT y,
                                        QUADTILE_INT z) {
    return normal_component(normal, 0U) * x + normal_component(normal, 1U) * y +
           normal_component(normal, 2U) * z;
}

// Flags beside the radiance that leaves a texel: whether the surface has two sides, and its normal
// if it is smooth, as TracedTriangle's; otherwise 0.
const QUADTILE_UINT TWO_SIDED = 0x40000000U;
const QUADTILE_UINT SMOOTH_NORMAL = 0x3fffffffU;

// Unit of a ray's additional weight: the cosine of a ray to the smooth normal divided by that to
// the triangle's plane, at most 4.
const QUADTILE_UINT BENT_ONE = 4096U;
QUADTILE_SHARED QUADTILE_UINT bent_share(QUADTILE_INT to_smooth, QUADTILE_INT to_plane) {
    if ((to_smooth < 0) != (to_plane < 0) || to_plane == 0) {
        return 0U;
    }
    const QUADTILE_UINT numerator = QUADTILE_UINT(to_smooth < 0 ? -to_smooth : to_smooth);
    const QUADTILE_UINT denominator = QUADTILE_UINT(to_plane < 0 ? -to_plane : to_plane);
    const QUADTILE_UINT share = (numerator * BENT_ONE + denominator / 2U) / denominator;
    return share < 4U * BENT_ONE ? share : 4U * BENT_ONE - 1U;
}

// Least cosine between the planes of a rim, times the square of NORMAL_SCALE.
const QUADTILE_INT RIM_COSINE = 209000;

// Projection of the scene along a direction onto its square importance map. In a parallel
// projection, world p is at (dot(axis_x, p) + offset_x, dot(axis_y, p) + offset_y) map texels,
// dot(axis_z, p) steps deep.
struct ProjectionFrame {
    float axis_x[3];  // map texels per world unit
    float offset_x;   // map texels
    float axis_y[3];
    float offset_y;
    float axis_z[3];        // depth steps per world unit
    float units_per_texel;  // size of a map texel
    float sky_ahead[3];     // radiance from the place that the direction leads to
    float sky_behind[3];    // radiance from the place that it comes from
    // Shares of the radiance from ahead and from behind, with the sky's: 1, or from 0 to 1 for the
    // moments of the light's direction.
    float share_ahead;
    float share_behind;
    // 1: a perspective projection, with rays from a point. x and y are divided by w = dot(axis_w,
    // p) + offset_w, which is positive in front of the point. units_per_texel is the size at w = 1.
    // Sides that look ahead receive nothing. 0: axis_w and offset_w are unused.
    QUADTILE_UINT is_perspective;
    float axis_w[3];
    float offset_w;
    QUADTILE_INT direction[3];  // of parallel rays, times 1023
    // 1: rays of a sun or a lamp, which count alike: the smooth normal is applied to their light
    // later.
    QUADTILE_UINT is_source;
};

// A rectangle of a tile's pixels. Pixel (i, j) of the tile has its centre (i + 0.5, j + 0.5) /
// scale map texels from (map_x, map_y).
struct TracedTile {
    QUADTILE_UINT frame;
    float map_x;  // map texels
    float map_y;
    float scale;            // pixels per map texel
    QUADTILE_UINT first_x;  // of the rectangle
    QUADTILE_UINT first_y;
    QUADTILE_UINT width;
    QUADTILE_UINT height;
    QUADTILE_UINT first_head;  // of its list heads, row by row
    QUADTILE_UINT weight;      // of each fragment: proportional to a pixel's area
    float radiance_scale;      // from radiance to the units of the accumulators, times the weight
};

const QUADTILE_UINT NO_NODE = 0xffffffffU;
const QUADTILE_UINT NO_TEXEL = 0xffffffffU;
// ListNode::order: the front of the surface faces against the direction of the ray.
const QUADTILE_UINT FACES_BACK = 0x80000000U;
// Fragments lie on each other if one is less than this deeper than the other, in steps, and their
// planes are parallel: no component of TracedTriangle::normal differs by more than that.
const float SHEET_DEPTH = 16.0F;
const int SHEET_ANGLE = 20;

// A fragment in a pixel's list.
struct ListNode {
    float depth;          // whole steps along the direction
    QUADTILE_UINT order;  // FACES_BACK or 0, and the triangle
    QUADTILE_UINT texel;  // of the lightmap, or NO_TEXEL
    QUADTILE_UINT next;   // next in the list, or NO_NODE
};

// Light that a lightmap texel has received: numbers of 64 bits, the lower word first. Sums of
// whole numbers do not depend on their order.
struct Accumulator {
    QUADTILE_UINT radiance[6];  // red, green, blue
    QUADTILE_UINT weight[2];
    QUADTILE_UINT back[2];  // part of the weight that saw the back of a surface
};

// A cluster that may touch a tile, which one workgroup treats.
struct TileCluster {
    QUADTILE_UINT tile;
    QUADTILE_UINT cluster;
};

// State of a submission: 0 at the beginning, then its results.
struct TraceState {
    QUADTILE_UINT dispatch_x;  // VkDispatchIndirectCommand: one workgroup per TileCluster
    QUADTILE_UINT dispatch_y;
    QUADTILE_UINT dispatch_z;
    QUADTILE_UINT tile_clusters;  // needed, with those that did not fit
    QUADTILE_UINT nodes;          // needed, as far as counted; written ones came first
};

// Push constants of cull, rasterise and walk.
struct TraceParameters {
    QUADTILE_UINT clusters;
    QUADTILE_UINT triangles;
    QUADTILE_UINT tile_cluster_capacity;
    QUADTILE_UINT node_capacity;
    QUADTILE_UINT light_map_width;
    QUADTILE_UINT light_map_height;
    QUADTILE_UINT blocks;  // of list heads
    // Texels between the light of a front and that of its back, in `outgoing` and in the sums; 0:
    // no surface has two sides.
    QUADTILE_UINT back_texels;
    QUADTILE_UINT alpha_triangles;  // number of the first triangles, which have holes
};

// Result of a tile.
struct TileResult {
    QUADTILE_UINT nodes;         // number of its lists' nodes, with those that did not fit
    QUADTILE_UINT overflow;      // 1: not all of them fit, and none was used
    QUADTILE_UINT longest_list;  // nodes of the longest list that is too long for registers, or 0
};

// Push constants of the kernels that make importance maps.
struct MapParameters {
    QUADTILE_UINT clusters;
    QUADTILE_UINT triangles;
    QUADTILE_UINT extent;  // texels of the map on a side
    QUADTILE_UINT layers;
    QUADTILE_UINT levels;
    float max_resolution;  // pixels of a tile on a side
    float max_nodes;       // of a tile
    // Workgroups of density that share the rows of a cluster's triangles.
    QUADTILE_UINT row_shares;
    // density: first of the shares of all clusters of all layers, one layer after the other.
    QUADTILE_UINT first_work;
    QUADTILE_UINT end_work;
};

// Triangles of a leaf. Boxes around consecutive triangles, the largest first, form a tree in the
// order of its traversal.
const QUADTILE_UINT BOX_TRIANGLES = 8;
struct TriangleBox {
    float low[3];  // world units
    float high[3];
    QUADTILE_UINT next;            // where to go on if the box is not met
    QUADTILE_UINT first_triangle;  // of BOX_TRIANGLES, or NO_NODE: boxes within it follow
};

// Nearest surfaces to a probe on both sides along a ray: a texel of the lightmap, with SEES_BACK
// if the surface's back faces the probe; or NO_TEXEL.
struct ProbeSight {
    QUADTILE_UINT ahead;  // in the direction of the frame's axis_z
    QUADTILE_UINT behind;
};
const float NOWHERE = 3e38F;  // depth steps: beyond all surfaces
const QUADTILE_UINT SEES_BACK = 0x80000000U;
const QUADTILE_UINT TOO_MANY_BOXES = 0xfffffffeU;  // more than ProbeParameters::most_steps

// Push constants of probe.
struct ProbeParameters {
    QUADTILE_UINT boxes;
    QUADTILE_UINT triangles;
    QUADTILE_UINT points;
    QUADTILE_UINT first_ray;  // frame by frame
    QUADTILE_UINT end_ray;
    QUADTILE_UINT most_steps;  // per ray
    QUADTILE_UINT light_map_width;
    QUADTILE_UINT light_map_height;
};

QUADTILE_NAMESPACE_END

#endif
