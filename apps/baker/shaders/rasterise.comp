// Puts the fragments of a cluster of triangles into the lists of a tile's pixels.
//
// Dispatch: one workgroup of CLUSTER_TRIANGLES threads per TileCluster, indirect (cull.comp).
// Bindings: trace_bindings.glsl; reads triangles, frames, tiles, tile_clusters, alpha_triangles, alpha_texels,
// covered_words; writes
// heads, nodes, results, the state's count of nodes.
// Memory: a workgroup finds the fragments of a round of rows, each thread those of one, and takes places for all of them
// with one atomic. Then threads share the fragments evenly, and neighbours write neighbouring nodes, each by one thread.
// Heads are exchanged by atomics, so that each node is linked once, in any order: walk.comp sorts. The host puts a
// barrier behind. If the nodes of a round do not fit, none of them is written, the tile is marked, and its lists are not
// read.
// Source: Yang et al., "Real-Time Concurrent Linked List Construction on the GPU" (2010).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "cluster_rows.glsl"
#include "trace_bindings.glsl"

layout(local_size_x = CLUSTER_TRIANGLES) in;

// true: the scene has triangles with holes.
layout(constant_id = 0) const bool HAS_HOLES = false;

shared uint orders[CLUSTER_TRIANGLES];  // ListNode::order of each triangle
// Rows of the round: their triangles, and their first pixels.
shared uint row_triangles[CLUSTER_TRIANGLES];
shared ivec2 row_pixels[CLUSTER_TRIANGLES];
shared uint shown;  // fragments of the round that are no holes
shared uint first_node;
shared bool fits;

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

// Returns whether the box around a triangle reaches a tile: most triangles near a tile do not.
bool may_cover(TracedTriangle triangle, ProjectionFrame frame, TracedTile tile, ivec2 lower,
               ivec2 upper) {
    if (frame.is_perspective != 0) {
        return true;
    }
    const vec2 origin = vec2(tile.map_x, tile.map_y);
    const vec2 a = projected(frame, origin, tile.scale, position_of(triangle, 0));
    const vec2 b = projected(frame, origin, tile.scale, position_of(triangle, 1));
    const vec2 c = projected(frame, origin, tile.scale, position_of(triangle, 2));
    return all(greaterThanEqual(max(a, max(b, c)), vec2(lower))) &&
           all(lessThanEqual(min(a, min(b, c)), vec2(upper + 1)));
}

// Narrows the places of a row that may be inside of an edge, with a margin for rounding.
void narrow(Edge edge, float y, inout float low, inout float high) {
    const float slope = edge.reversed ? edge.along.y : -edge.along.y;  // of side_of along the row
    if (abs(slope) > 1e-30) {
        const float product = edge.along.x * (y - edge.start.y);
        const float side = edge.reversed ? -(product + edge.constant) : product + edge.constant;
        const float reach = max(abs(low - edge.start.x), abs(high - edge.start.x));
        const float error = 1e-6 * (abs(product) + abs(edge.constant) + abs(slope) * reach);
        // side + slope * (x - edge.start.x) is at least -error inside.
        const float apart = (side + error) / slope;
        const float place = edge.start.x - apart;
        const float margin = 1e-6 * (abs(apart) + abs(edge.start.x)) + 0.01;
        low = slope > 0.0 ? max(low, place - margin) : low;
        high = slope > 0.0 ? high : min(high, place + margin);
    }
}

// Returns the first and the end of the pixels of a row that a triangle covers. They are consecutive: rounding leaves
// the sides of edges monotone along the row.
ivec2 covered_pixels(PixelTriangle triangle, int y) {
    const vec2 row = vec2(triangle.first.x, triangle.last.x) + 0.5;
    float low = row.x;
    float high = row.y;
    for (uint i = 0; i < 3; ++i) {
        narrow(triangle.edges[i], float(y) + 0.5, low, high);
    }
    int first = int(ceil(min(low, row.y + 1.0) - 0.5));
    int end = int(floor(max(high, row.x - 1.0) - 0.5)) + 1;
    while (first < end && !covers(triangle, ivec2(first, y))) {
        ++first;
    }
    while (end > first && !covers(triangle, ivec2(end - 1, y))) {
        --end;
    }
    return ivec2(first, max(first, end));
}

// Returns the first thread whose sum in sums[0] is greater.
uint first_beyond(uint number) {
    uint index = sums[0][31] <= number ? 32 : 0;
    index += sums[0][index + 15] <= number ? 16 : 0;
    index += sums[0][index + 7] <= number ? 8 : 0;
    index += sums[0][index + 3] <= number ? 4 : 0;
    index += sums[0][index + 1] <= number ? 2 : 0;
    return index + (sums[0][index] <= number ? 1 : 0);
}

// Returns a fragment of the round by its number: its triangle's number in the cluster, and its pixel.
uint find_fragment(uint number, out ivec2 pixel) {
    const uint row = first_beyond(number);
    pixel = row_pixels[row] + ivec2(number - (row == 0 ? 0 : sums[0][row - 1]), 0);
    return row_triangles[row];
}

// Writes a fragment's node, and links it.
void write_node(uint node, uint in_cluster, ivec2 pixel, bool is_open, TracedTile tile) {
    const PixelTriangle triangle = cluster_triangles[in_cluster];
    const vec2 weights = weights_at(triangle, pixel);
    const uint head = tile.first_head + (uint(pixel.y) - tile.first_y) * tile.width +
                      (uint(pixel.x) - tile.first_x);
    const uint next = atomicExchange(heads[head], node);
    const float depth = floor(interpolated(triangle.depth, weights.x, weights.y) + 0.5);
    const uint texel = light_map_texel(triangle, weights, parameters.light_map_width,
                                       parameters.light_map_height);
    nodes[node] =
        ListNode(depth, orders[in_cluster] | (is_open ? IS_PANE : 0),
                 number_of(texel, covered_words[texel / 32], parameters.covered_texels), next);
}

void main() {
    const uint thread = gl_LocalInvocationIndex;
    const uint item = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (item >= min(state.tile_clusters, parameters.tile_cluster_capacity)) {
        return;
    }
    const TileCluster work = tile_clusters[item];
    const TracedTile tile = tiles[work.tile];
    const uint first_triangle = work.cluster * CLUSTER_TRIANGLES;
    PixelTriangle mine;
    mine.first = ivec2(0);
    mine.last = ivec2(-1);
    const ivec2 lower = ivec2(tile.first_x, tile.first_y);
    const ivec2 upper = lower + ivec2(tile.width, tile.height) - 1;
    if (first_triangle + thread < parameters.triangles &&
        may_cover(triangles[first_triangle + thread], frames[tile.frame], tile, lower, upper)) {
        mine = pixel_triangle(triangles[first_triangle + thread], frames[tile.frame],
                              vec2(tile.map_x, tile.map_y), tile.scale, 0.0, lower, upper);
        orders[thread] = (mine.faces_forward ? 0 : FACES_BACK) |
                         (triangles[first_triangle + thread].normal & BLOCKS_NOTHING) |
                         (first_triangle + thread);
    }
    const uint rows = share_rows(mine);
    uint all_nodes = 0;  // of the workgroup, in its first thread
    for (uint first_row = 0; first_row < rows; first_row += CLUSTER_TRIANGLES) {
        ivec2 covered = ivec2(0);
        if (first_row + thread < rows) {
            int y;
            const uint i = find_row(first_row + thread, y);
            covered = covered_pixels(cluster_triangles[i], y);
            row_triangles[thread] = i;
            row_pixels[thread] = ivec2(covered.x, y);
        }
        if (thread == 0) {
            shown = 0;
        }
        sum_so_far(uint(covered.y - covered.x));
        const uint fragments = sums[0][CLUSTER_TRIANGLES - 1];
        uint place = 0;  // of the thread's next node, if there are holes
        if (HAS_HOLES) {
            uint count = 0;
            for (uint i = thread; i < fragments; i += CLUSTER_TRIANGLES) {
                ivec2 pixel;
                const uint in_cluster = find_fragment(i, pixel);
                const uint index = first_triangle + in_cluster;
                const bool is_open = is_hole(index, cluster_triangles[in_cluster], pixel, tile);
                count += is_open && !is_pane(index) ? 0 : 1;
            }
            place = atomicAdd(shown, count);
            barrier();
        }
        if (thread == 0) {
            const uint needed = HAS_HOLES ? shown : fragments;
            all_nodes += needed;
            first_node = needed > 0 ? atomicAdd(state.nodes, needed) : 0;
            // Also if the count itself overflows: all later counts have overflowed then.
            fits = first_node <= parameters.node_capacity &&
                   needed <= parameters.node_capacity - first_node;
            if (!fits) {
                results[work.tile].overflow = 1;
            }
        }
        barrier();
        for (uint i = thread; fits && i < fragments; i += CLUSTER_TRIANGLES) {
            ivec2 pixel;
            const uint in_cluster = find_fragment(i, pixel);
            if (HAS_HOLES) {
                const uint index = first_triangle + in_cluster;
                const bool is_open = is_hole(index, cluster_triangles[in_cluster], pixel, tile);
                if (!is_open || is_pane(index)) {
                    write_node(first_node + place, in_cluster, pixel, is_open, tile);
                    ++place;
                }
            } else {
                write_node(first_node + i, in_cluster, pixel, false, tile);
            }
        }
        barrier();
    }
    if (thread == 0 && all_nodes > 0) {
        atomicAdd(results[work.tile].nodes, all_nodes);
    }
}
