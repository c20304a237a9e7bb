// Inputs and outputs of the baker's kernels, in C++ and in GLSL (std430: all members are words, so
// there is no padding).

#ifndef QUADTILE_BAKE_H
#define QUADTILE_BAKE_H

#include <quadtile/language.h>

QUADTILE_NAMESPACE_BEGIN

// Pixels of one workgroup of walk. A tile's pixels begin at a multiple of it.
const uint BLOCK_PIXELS = 64;

const int NORMAL_SCALE = 511;

// A triangle of the scene, counter-clockwise seen from its front.
struct TracedTriangle {
    float positions[9];  // world units
    float light_map[6];  // texels
    float density;       // requested pixels per world unit; 0: the triangle is ignored
    // Normal of its front: x, y and z from the lowest bit on, 10 bits each, times NORMAL_SCALE.
    uint normal;
};

// Holes and glass of a triangle: the place of its texture, whose texels are bytes in words, and its vertices
// on it. The texture repeats.
struct AlphaTriangle {
    float texture[6];  // texels, none negative
    float alpha[3];    // at the vertices, times the texels
    float limit;       // from which on it is opaque, else open; negative: it is open in part
    uint first;
    uint width;
    uint height;
    float tint[3];  // of light that goes through; all 1: an empty hole
};

// Returns bits that are independent of those of similar values (PCG: Jarzynski and Olano 2020).
QUADTILE_SHARED uint scrambled(uint value) {
    const uint state = value * 747796405U + 2891336453U;
    const uint word = ((state >> ((state >> 28U) + 4U)) ^ state) * 277803737U;
    return (word >> 22U) ^ word;
}

// Returns 0 to 254, spread evenly over the pixels of a tile (Roberts 2018), independently for each
// triangle, tile and direction. Places of the triangle with greater numbers stop the pixel's ray.
QUADTILE_SHARED uint hole_threshold(uint triangle, uint frame_bits, uint tile_bits, uint x,
                                    uint y) {
    const uint start = scrambled(scrambled(triangle + frame_bits) + tile_bits);
    return ((start + x * 3242174889U + y * 2447445414U) >> 16U) * 255U >> 16U;
}

// Triangles of a cluster, which one workgroup traces.
const uint CLUSTER_TRIANGLES = 64;

// Consecutive clusters whose common box is tested first; a power of two, at most 64.
const uint CLUSTERS_IN_GROUP = 64;

// The box around CLUSTER_TRIANGLES consecutive triangles, or around a group of clusters.
struct TriangleCluster {
    float centre[3];  // world units
    float half_extent[3];
};

// Returns a component of TracedTriangle::normal.
QUADTILE_SHARED int normal_component(uint normal, uint axis) {
    return int(normal << (22U - 10U * axis)) >> 22U;
}
QUADTILE_SHARED int normal_dot(uint normal, int x, int y, int z) {
    return normal_component(normal, 0U) * x + normal_component(normal, 1U) * y +
           normal_component(normal, 2U) * z;
}

// Flags beside the radiance that leaves a texel: whether the surface has two sides, and its normal
// if it is smooth, as TracedTriangle's; otherwise 0.
const uint TWO_SIDED = 0x40000000U;
const uint SMOOTH_NORMAL = 0x3fffffffU;

// Unit of a ray's additional weight: the cosine of a ray to the smooth normal divided by that to
// the triangle's plane, at most 4.
const uint BENT_ONE = 4096U;
QUADTILE_SHARED uint bent_share(int to_smooth, int to_plane) {
    if ((to_smooth < 0) != (to_plane < 0) || to_plane == 0) {
        return 0U;
    }
    const uint numerator = uint(to_smooth < 0 ? -to_smooth : to_smooth);
    const uint denominator = uint(to_plane < 0 ? -to_plane : to_plane);
    const uint share = (numerator * BENT_ONE + denominator / 2U) / denominator;
    return share < 4U * BENT_ONE ? share : 4U * BENT_ONE - 1U;
}

// Least cosine between the planes of a rim, times the square of NORMAL_SCALE.
const int RIM_COSINE = 209000;

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
    uint is_perspective;
    float axis_w[3];
    float offset_w;
    // w beyond which a perspective projection needs no pixels; of a parallel one the depth steps
    // from which on a surface counts as sky.
    float range;
    float refinement;  // pixels along those that triangles request
    int direction[3];  // of parallel rays, times 1023
    // 1: rays of a sun or a lamp, which count alike: the smooth normal is applied to their light
    // later.
    uint is_source;
};

// A rectangle of a tile's pixels. Pixel (i, j) of the tile has its centre (i + 0.5, j + 0.5) /
// scale map texels from (map_x, map_y).
struct TracedTile {
    uint frame;
    float map_x;  // map texels
    float map_y;
    float scale;   // pixels per map texel
    uint first_x;  // of the rectangle
    uint first_y;
    uint width;
    uint height;
    uint first_head;       // of its list heads, row by row
    uint weight;           // of each fragment: proportional to a pixel's area
    float radiance_scale;  // from radiance to the units of the accumulators, times the weight
};

const uint NO_NODE = 0xffffffffU;
const uint NO_TEXEL = 0xffffffffU;
// ListNode::order: the front of the surface faces against the direction of the ray.
const uint FACES_BACK = 0x80000000U;
// The triangle's number in it.
const uint TRIANGLE_NUMBER = 0x1fffffffU;
// Bit of TracedTriangle::normal and of ListNode::order: the triangle receives the light of this
// pass, but blocks none of it, because the source lies in its plane.
const uint BLOCKS_NOTHING = 0x40000000U;
// Bit of ListNode::order: the ray goes through the triangle, which is glass, and is tinted.
const uint IS_PANE = 0x20000000U;
// Fragments lie on each other if one is less than this deeper than the other, in steps, and their
// planes are parallel: no component of TracedTriangle::normal differs by more than that.
const float SHEET_DEPTH = 16.0F;
const int SHEET_ANGLE = 20;

// A fragment in a pixel's list.
struct ListNode {
    float depth;  // whole steps along the direction
    uint order;   // FACES_BACK, BLOCKS_NOTHING and IS_PANE, or 0, and the triangle
    uint texel;   // by its number, or NO_TEXEL
    uint next;    // next in the list, or NO_NODE
};

// Light that a lightmap texel has received: numbers of 64 bits, the lower word first. Sums of
// whole numbers do not depend on their order.
struct Accumulator {
    uint radiance[6];  // red, green, blue
    uint weight[2];
    uint back[2];  // part of the weight that saw the back of a surface
};

// A cluster that may touch a tile, which one workgroup treats.
struct TileCluster {
    uint tile;
    uint cluster;
};

// 32 texels of the lightmap, row by row: a bit for each that a chart covers, the lowest first, and
// the number of covered texels before these. Values by texel are by this number.
struct CoveredWord {
    uint bits;
    uint first;
};

// State of a submission: 0 at the beginning, then its results.
struct TraceState {
    uint dispatch_x;  // VkDispatchIndirectCommand: one workgroup per TileCluster
    uint dispatch_y;
    uint dispatch_z;
    uint tile_clusters;  // needed, with those that did not fit
    uint nodes;          // needed, as far as counted; written ones came first
};

// Push constants of cull, rasterise and walk.
struct TraceParameters {
    uint clusters;
    uint triangles;
    uint tile_cluster_capacity;
    uint node_capacity;
    uint light_map_width;
    uint light_map_height;
    uint blocks;  // of list heads
    uint covered_texels;  // the number of all texels that no chart covers
    // Places between the light of a front and that of its back, in `outgoing` and in the sums; 0:
    // no surface has two sides.
    uint back_texels;
    uint alpha_triangles;  // number of the first triangles, which have holes
    uint has_glass;        // 1: some of them are glass
};

// Specialization constant of walk: the scene has smooth normals; it has glass; the pass is that of a
// source (ProjectionFrame::is_source).
const uint WALKS_SMOOTH = 1U;
const uint WALKS_GLASS = 2U;
const uint WALKS_SOURCE = 4U;

// Result of a tile.
struct TileResult {
    uint nodes;         // number of its lists' nodes, with those that did not fit
    uint overflow;      // 1: not all of them fit, and none was used
    uint longest_list;  // nodes of the longest list that is too long for registers, or 0
};

// Push constants of the kernels that make importance maps.
struct MapParameters {
    uint clusters;
    uint triangles;
    uint extent;  // texels of the map on a side
    uint layers;
    uint levels;
    float max_resolution;  // pixels of a tile on a side
    float max_nodes;       // of a tile
    // Workgroups of density that share the rows of a cluster's triangles.
    uint row_shares;
    // density: first of the shares of all clusters of all layers, one layer after the other.
    uint first_work;
    uint end_work;
};

// Triangles of a leaf. Boxes around consecutive triangles, the largest first, form a tree in the
// order of its traversal.
const uint BOX_TRIANGLES = 8;
struct TriangleBox {
    float low[3];  // world units
    float high[3];
    uint next;            // where to go on if the box is not met
    uint first_triangle;  // of BOX_TRIANGLES, or NO_NODE: boxes within it follow
};

// Nearest surfaces to a probe on both sides along a ray: a texel's number, with SEES_BACK
// if the surface's back faces the probe; or NO_TEXEL.
struct ProbeSight {
    uint ahead;  // in the direction of the frame's axis_z
    uint behind;
};
const float NOWHERE = 3e38F;  // depth steps: beyond all surfaces
const uint SEES_BACK = 0x80000000U;
const uint TOO_MANY_BOXES = 0xfffffffeU;  // more than ProbeParameters::most_steps

// Points per patch of a lamp. The first points of all patches are one half of them.
const uint POINTS_A_PATCH = 2;
// Triangles that lamps takes at a time: some drivers end long loops.
const uint LAMP_TRIANGLES = 32;

// A piece of a lamp's patch.
struct LampTriangle {
    float a[3];  // world units; counter-clockwise, seen from the shining side
    float b[3];
    float c[3];
    float cross[3];  // normal, with a length of twice the area
    float size;      // that length
    float radiance[3];
};

// Push constants of lamps.
struct LampParameters {
    uint light_map_width;
    uint light_map_height;
    uint covered_texels;
    uint back_texels;  // as in TraceParameters
    uint first_triangle;
    uint end_triangle;
    uint is_first_half;  // 1: the sums of the first half take the light, too
    uint has_moments;    // 1: the moments take the light, too
    float share_unit;    // from radiance sums, divided by their weight, to the share of the light
    float words;         // from irradiance to the high words of the sums
    float low[3];        // box around the patch
    float high[3];
    float point[3];   // which emitted the rays
    float normal[3];  // of its piece, of length 1
};

// Push constants of probe.
struct ProbeParameters {
    uint boxes;
    uint triangles;
    uint points;
    uint first_ray;  // frame by frame
    uint end_ray;
    uint most_steps;  // per ray
    uint light_map_width;
    uint light_map_height;
    uint covered_texels;
};

QUADTILE_NAMESPACE_END

#endif
