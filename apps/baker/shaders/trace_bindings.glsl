// Descriptors of cull, rasterise and walk: one set.

#ifndef QUADTILE_BAKER_TRACE_BINDINGS_GLSL
#define QUADTILE_BAKER_TRACE_BINDINGS_GLSL

#include "bake.h"

layout(push_constant, std430) uniform PushConstants {
    TraceParameters parameters;
};
layout(set = 0, binding = 0, std430) readonly buffer Triangles {
    TracedTriangle triangles[];
};
layout(set = 0, binding = 1, std430) readonly buffer Clusters {
    TriangleCluster clusters[];
};
layout(set = 0, binding = 2, std430) readonly buffer Frames {
    ProjectionFrame frames[];
};
layout(set = 0, binding = 3, std430) readonly buffer Tiles {
    TracedTile tiles[];
};
// Tile of each BLOCK_PIXELS list heads.
layout(set = 0, binding = 4, std430) readonly buffer Blocks {
    uint block_tiles[];
};
layout(set = 0, binding = 5, std430) buffer State {
    TraceState state;
};
layout(set = 0, binding = 6, std430) buffer Results {
    TileResult results[];
};
layout(set = 0, binding = 7, std430) buffer TileClusters {
    TileCluster tile_clusters[];
};
layout(set = 0, binding = 8, std430) buffer Heads {
    uint heads[];
};
layout(set = 0, binding = 9, std430) buffer Nodes {
    ListNode nodes[];
};
// Radiance that leaves the front of each covered texel, then that of each back
// (TraceParameters::back_texels), as bits of floats; w: TWO_SIDED and SMOOTH_NORMAL.
layout(set = 0, binding = 10, std430) readonly buffer Radiance {
    uvec4 outgoing[];
};
layout(set = 0, binding = 11, std430) buffer Accumulators {
    Accumulator accumulators[];
};
layout(set = 0, binding = 12, std430) readonly buffer AlphaTriangles {
    AlphaTriangle alpha_triangles[];
};
// Texels of all textures with holes, four per word.
layout(set = 0, binding = 13, std430) readonly buffer AlphaTexels {
    uint alpha_texels[];
};
layout(set = 0, binding = 14, std430) readonly buffer CoveredWords {
    CoveredWord covered_words[];
};

#endif
