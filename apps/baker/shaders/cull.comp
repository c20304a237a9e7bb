// Finds the clusters of triangles that may touch each tile.
//
// Dispatch: one workgroup of CLUSTERS_IN_GROUP threads per tile. Its threads test groups of clusters, then the clusters
// of the groups that may touch the tile.
// Bindings: trace_bindings.glsl; reads clusters, with the boxes of groups behind them, frames, tiles; writes
// tile_clusters, the arguments for the dispatch of rasterise in the state, and the overflow of tiles in the results.
// Memory: places are taken by atomics, each written by one thread, in any order. The host puts a barrier behind.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "trace_bindings.glsl"

layout(local_size_x = CLUSTERS_IN_GROUP) in;

const uint LARGEST_DISPATCH_X = 65535;  // limit of every device

const float FLOAT_ERROR = 1.0 / 1048576.0;  // 2^-20: of some sums and products, with a margin

shared uint found_groups;
shared uint group_list[CLUSTERS_IN_GROUP];
shared uint found;  // clusters
shared uint first_place;

// Returns the reach of a box along an axis of the frame, and the place of its centre, in map texels.
float reach_along(float x, float y, float z, TriangleCluster cluster) {
    return abs(x) * cluster.half_extent[0] + abs(y) * cluster.half_extent[1] +
           abs(z) * cluster.half_extent[2];
}
float centre_along(float x, float y, float z, TriangleCluster cluster) {
    return x * cluster.centre[0] + y * cluster.centre[1] + z * cluster.centre[2];
}

bool may_touch(TriangleCluster cluster, ProjectionFrame frame, TracedTile tile) {
    const vec2 centre = vec2(centre_along(frame.axis_x[0], frame.axis_x[1], frame.axis_x[2],
                                          cluster) + frame.offset_x,
                             centre_along(frame.axis_y[0], frame.axis_y[1], frame.axis_y[2],
                                          cluster) + frame.offset_y);
    const vec2 reach =
        vec2(reach_along(frame.axis_x[0], frame.axis_x[1], frame.axis_x[2], cluster),
             reach_along(frame.axis_y[0], frame.axis_y[1], frame.axis_y[2], cluster));
    const vec3 distance = abs(vec3(cluster.centre[0], cluster.centre[1], cluster.centre[2]));
    // A margin of one pixel, because vertices are rounded; and the rounding of the sums here and in triangle.glsl.
    const vec2 middle = (centre - vec2(tile.map_x, tile.map_y)) * tile.scale;
    const vec2 summands =
        reach + vec2(dot(abs(vec3(frame.axis_x[0], frame.axis_x[1], frame.axis_x[2])), distance),
                     dot(abs(vec3(frame.axis_y[0], frame.axis_y[1], frame.axis_y[2])), distance)) +
        abs(vec2(frame.offset_x, frame.offset_y)) + vec2(tile.map_x, tile.map_y);
    const vec2 outer = (reach + FLOAT_ERROR * summands) * tile.scale + 1.0;
    const vec2 lower = vec2(tile.first_x, tile.first_y);
    const vec2 upper = lower + vec2(tile.width, tile.height);
    return all(greaterThan(middle + outer, lower)) && all(lessThan(middle - outer, upper));
}

vec3 vector_of(float values[3]) {
    return vec3(values[0], values[1], values[2]);
}

// Returns whether the box may reach to where dot(axis, p) + offset is positive. Both are differences of terms whose
// sums are `axis_size` and `offset_size`.
bool reaches(TriangleCluster cluster, vec3 axis, float offset, vec3 axis_size, float offset_size) {
    const vec3 centre = vector_of(cluster.centre);
    const vec3 half_extent = vector_of(cluster.half_extent);
    const float error = FLOAT_ERROR * (dot(axis_size, abs(centre) + half_extent) + offset_size);
    return dot(axis, centre) + offset + dot(abs(axis), half_extent) + error > 0.0;
}

// Returns whether the box may reach between the planes through the rays' origin at `lower` and `upper` along an axis of
// the map.
bool reaches_between(TriangleCluster cluster, ProjectionFrame frame, float axis[3], float offset,
                     float lower, float upper) {
    const vec3 w = vector_of(frame.axis_w);
    const float outer = max(abs(lower), abs(upper));
    const vec3 axis_size = abs(vector_of(axis)) + outer * abs(w);
    const float offset_size = abs(offset) + outer * abs(frame.offset_w);
    return reaches(cluster, vector_of(axis) - lower * w, offset - lower * frame.offset_w,
                   axis_size, offset_size) &&
           reaches(cluster, upper * w - vector_of(axis), upper * frame.offset_w - offset,
                   axis_size, offset_size);
}

// Returns whether a box may be seen, with a margin of one pixel on each side, as in may_touch.
bool may_be_seen(TriangleCluster cluster, ProjectionFrame frame, TracedTile tile) {
    const vec3 w = vector_of(frame.axis_w);
    const vec2 first = vec2(tile.first_x, tile.first_y);
    const vec2 lower = vec2(tile.map_x, tile.map_y) + (first - 1.0) / tile.scale;
    const vec2 upper = lower + (vec2(tile.width, tile.height) + 2.0) / tile.scale;
    return reaches(cluster, w, frame.offset_w, abs(w), abs(frame.offset_w)) &&
           reaches_between(cluster, frame, frame.axis_x, frame.offset_x, lower.x, upper.x) &&
           reaches_between(cluster, frame, frame.axis_y, frame.offset_y, lower.y, upper.y);
}

bool may_reach(uint cluster, ProjectionFrame frame, TracedTile tile) {
    return frame.is_perspective != 0 ? may_be_seen(clusters[cluster], frame, tile)
                                     : may_touch(clusters[cluster], frame, tile);
}

void main() {
    const uint tile_index = gl_WorkGroupID.x;
    const uint thread = gl_LocalInvocationIndex;
    const TracedTile tile = tiles[tile_index];
    const ProjectionFrame frame = frames[tile.frame];
    const uint groups = (parameters.clusters + CLUSTERS_IN_GROUP - 1) / CLUSTERS_IN_GROUP;
    for (uint first = 0; first < groups; first += CLUSTERS_IN_GROUP) {
        if (thread == 0) {
            found_groups = 0;
            found = 0;
        }
        barrier();
        if (first + thread < groups && may_reach(parameters.clusters + first + thread, frame, tile)) {
            group_list[atomicAdd(found_groups, 1)] = first + thread;
        }
        barrier();
        uvec2 hits = uvec2(0);  // a bit for each group
        for (uint i = 0; i < found_groups; ++i) {
            const uint cluster = group_list[i] * CLUSTERS_IN_GROUP + thread;
            if (cluster < parameters.clusters && may_reach(cluster, frame, tile)) {
                hits[i >> 5] |= 1U << (i & 31U);
            }
        }
        const uint count = bitCount(hits.x) + bitCount(hits.y);
        uint place = count > 0 ? atomicAdd(found, count) : 0;
        barrier();
        if (thread == 0 && found > 0) {
            first_place = atomicAdd(state.tile_clusters, found);
            const uint end = min(first_place + found, parameters.tile_cluster_capacity);
            atomicMax(state.dispatch_x, min(end, LARGEST_DISPATCH_X));
            atomicMax(state.dispatch_y, (end + LARGEST_DISPATCH_X - 1) / LARGEST_DISPATCH_X);
            if (first_place + found > parameters.tile_cluster_capacity) {
                results[tile_index].overflow = 1;
            }
        }
        barrier();
        for (place += first_place; hits != uvec2(0); ++place) {
            const uint i = hits.x != 0 ? findLSB(hits.x) : 32 + findLSB(hits.y);
            hits[i >> 5] &= ~(1U << (i & 31U));
            if (place < parameters.tile_cluster_capacity) {
                tile_clusters[place] =
                    TileCluster(tile_index, group_list[i] * CLUSTERS_IN_GROUP + thread);
            }
        }
        barrier();
    }
}
