// Finds the tile of a texel, and the importance of the nodes that contain the texel.
//
// Dispatch: any number of workgroups; together they walk over the list.
// Bindings: resources.glsl; 3: the result, whose tile_index is NO_TILE before the dispatch.
// Memory order: at most one thread finds the tile, since tiles do not overlap. Another thread
// writes all other members. The host reads the result after the submission.
#version 460

#include "resources.glsl"

layout(local_size_x = 256) in;
layout(binding = 3, std430) buffer ProbeBuffer { ProbeResult result; };
layout(push_constant) uniform Parameters { ProbeRequest request; };

void describe_texel() {
    result.texel = texelFetch(map, ivec3(request.x, request.y, 0), 0).r;
    for (uint level = 1; level <= request.top_level; ++level) {
        result.importance_of_level[level] =
            pyramid[pyramid_index(request.map_width, request.map_height, level, request.x >> level,
                                  request.y >> level, 0)];
    }
}

void main() {
    if (gl_GlobalInvocationID.x == 0) {
        describe_texel();
    }
    for (uint i = gl_GlobalInvocationID.x; i < header.written; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
        const Tile tile = tiles[i];
        const uint level = tile_level(tile);
        if (request.x >> level == tile_x(tile) && request.y >> level == tile_y(tile)) {
            result.tile = tile;
            result.tile_index = i;
        }
    }
}
