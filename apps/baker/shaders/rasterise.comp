// Puts the fragments of a cluster of triangles into the lists of a tile's pixels.
//
// Dispatch: one workgroup of CLUSTER_TRIANGLES threads per TileCluster, indirect (cull.comp).
// Bindings: trace_bindings.glsl; reads triangles, frames, tiles, tile_clusters, alpha_triangles, alpha_texels,
// covered_words; writes
// heads, nodes, results, the state's count of nodes.
// Memory: a workgroup counts its fragments and takes places for all of them with one atomic; each is written by one
// thread. Heads are exchanged by atomics, so that each node is linked once, in any order: walk.comp sorts. The host
// puts a barrier behind. If the nodes do not fit, none of the workgroup's is written, the tile is marked, and its lists
// are not read.
// Source: Yang et al., "Real-Time Concurrent Linked List Construction on the GPU" (2010).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "cluster_rows.glsl"
#include "trace_bindings.glsl"

layout(local_size_x = CLUSTER_TRIANGLES) in;

// true: the scene has triangles with holes.
layout(constant_id = 0) const bool HAS_HOLES = false;

shared uint fragments;  // of the workgroup
shared uint first_node;

float texture_place(uint index, uint axis, bool faces_forward, vec2 weights) {
    const uint b = faces_forward ? 2 : 4;
    return interpolated(interpolant(alpha_triangles[index].texture[axis],
                                    alpha_triangles[index].texture[axis + b],
                                    alpha_triangles[index].texture[axis + 6 - b]),
                        weights.x, weights.y);
}

// Returns whether a ray goes through a hole of the triangle.
bool is_hole(uint index, PixelTriangle triangle, ivec2 pixel, TracedTile tile) {
    if (!HAS_HOLES || index >= parameters.alpha_triangles) {
        return false;
    }
    const vec2 weights = weights_at(triangle, pixel);
    const uint width = alpha_triangles[index].width;
    const float x = texture_place(index, 0, triangle.faces_forward, weights);
    const float y = texture_place(index, 1, triangle.faces_forward, weights);
    const uint texel = alpha_triangles[index].first +
                       uint(max(y, 0.0)) % alpha_triangles[index].height * width +
                       uint(max(x, 0.0)) % width;
    const uint b = triangle.faces_forward ? 1 : 2;
    const float alpha = interpolated(interpolant(alpha_triangles[index].alpha[0],
                                                 alpha_triangles[index].alpha[b],
                                                 alpha_triangles[index].alpha[3 - b]),
                                     weights.x, weights.y) *
                        float(bitfieldExtract(alpha_texels[texel >> 2], int(texel & 3U) * 8, 8));
    const float limit = alpha_triangles[index].limit;
    const uint coverage =
        limit < 0.0 ? uint(clamp(alpha, 0.0, 255.0) + 0.5) : (alpha >= limit ? 255 : 0);
    return coverage <= hole_threshold(index, floatBitsToUint(frames[tile.frame].offset_x),
                                      floatBitsToUint(tile.map_x) * 3 + floatBitsToUint(tile.map_y),
                                      uint(pixel.x), uint(pixel.y));
}

bool is_pane(uint index) {
    return parameters.has_glass != 0 &&
           min(min(alpha_triangles[index].tint[0], alpha_triangles[index].tint[1]),
               alpha_triangles[index].tint[2]) < 1.0;
}

// Returns the first and the end of the pixels of a row that a triangle covers. They are consecutive: rounding leaves
// the sides of edges monotone along the row.
ivec2 covered_pixels(PixelTriangle triangle, int y) {
    int first = triangle.first.x;
    int end = triangle.last.x + 1;
    while (first < end && !covers(triangle, ivec2(first, y))) {
        ++first;
    }
    while (end > first && !covers(triangle, ivec2(end - 1, y))) {
        --end;
    }
    return ivec2(first, end);
}

void main() {
    const uint item = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const bool is_work = item < min(state.tile_clusters, parameters.tile_cluster_capacity);
    TracedTile tile;
    TileCluster work;
    PixelTriangle mine;
    mine.first = ivec2(0);
    mine.last = ivec2(-1);
    if (is_work) {
        work = tile_clusters[item];
        tile = tiles[work.tile];
        const uint index = work.cluster * CLUSTER_TRIANGLES + gl_LocalInvocationIndex;
        if (index < parameters.triangles) {
            const ivec2 lower = ivec2(tile.first_x, tile.first_y);
            mine = pixel_triangle(triangles[index], frames[tile.frame],
                                  vec2(tile.map_x, tile.map_y), tile.scale, 0.0, lower,
                                  lower + ivec2(tile.width, tile.height) - 1);
        }
    }
    if (gl_LocalInvocationIndex == 0) {
        fragments = 0;
    }
    const uint rows = share_rows(mine);

    uint count = 0;
    for (uint row = gl_LocalInvocationIndex; row < rows; row += CLUSTER_TRIANGLES) {
        ivec2 pixel;
        const uint i = find_row(row, pixel.y);
        const PixelTriangle triangle = cluster_triangles[i];
        const ivec2 covered = covered_pixels(triangle, pixel.y);
        count += uint(covered.y - covered.x);
        const uint index = work.cluster * CLUSTER_TRIANGLES + i;
        for (pixel.x = covered.x; HAS_HOLES && pixel.x < covered.y; ++pixel.x) {
            count -= is_hole(index, triangle, pixel, tile) && !is_pane(index) ? 1 : 0;
        }
    }
    uint place = 0;
    if (count > 0) {
        place = atomicAdd(fragments, count);
    }
    barrier();
    if (gl_LocalInvocationIndex == 0 && fragments > 0) {
        first_node = atomicAdd(state.nodes, fragments);
        atomicAdd(results[work.tile].nodes, fragments);
        // Also if the count itself overflows: all later counts have overflowed then.
        if (first_node > parameters.node_capacity ||
            fragments > parameters.node_capacity - first_node) {
            results[work.tile].overflow = 1;
            fragments = 0;
        }
    }
    barrier();
    if (count > 0 && fragments > 0) {
        uint node = first_node + place;
        for (uint row = gl_LocalInvocationIndex; row < rows; row += CLUSTER_TRIANGLES) {
            ivec2 pixel;
            const uint i = find_row(row, pixel.y);
            const PixelTriangle triangle = cluster_triangles[i];
            const uint index = work.cluster * CLUSTER_TRIANGLES + i;
            const uint order = (triangle.faces_forward ? 0 : FACES_BACK) |
                               (triangles[index].normal & BLOCKS_NOTHING) | index;
            const ivec2 covered = covered_pixels(triangle, pixel.y);
            for (pixel.x = covered.x; pixel.x < covered.y; ++pixel.x) {
                const bool is_open = is_hole(index, triangle, pixel, tile);
                if (!is_open || is_pane(index)) {
                    const vec2 weights = weights_at(triangle, pixel);
                    const uint head = tile.first_head +
                                      (uint(pixel.y) - tile.first_y) * tile.width +
                                      (uint(pixel.x) - tile.first_x);
                    const float depth =
                        floor(interpolated(triangle.depth, weights.x, weights.y) + 0.5);
                    const uint texel = light_map_texel(
                        triangle, weights, parameters.light_map_width, parameters.light_map_height);
                    nodes[node] = ListNode(depth, order | (is_open ? IS_PANE : 0),
                                           number_of(texel, covered_words[texel / 32],
                                                     parameters.covered_texels),
                                           atomicExchange(heads[head], node));
                    ++node;
                }
            }
        }
    }
}
