// A triangle in the pixels of a tile, or in the texels of an importance map.
//
// A pixel belongs to a triangle if its centre is inside. If two triangles share an edge, exactly one has a centre on
// it: an edge's function is evaluated from its lower (then left) end for both triangles, so that both get the same
// number and one takes zero. Vertices are not rounded: rounding would shift depths, and light would leak at edges of
// walls. Everything is precise: the CPU twin, traced_triangle.hpp, gives the same bits.
//
// In a perspective projection vertices are homogeneous, (x w, y w, w). An edge's function is the volume that a pixel's
// ray spans with the edge. If all three have the triangle's sign, the ray meets it, in front of the point that the rays
// come from: nothing is clipped.
// Source: Olano and Greer, "Triangle Scan Conversion using 2D Homogeneous Coordinates" (1997).

#ifndef QUADTILE_BAKER_TRIANGLE_GLSL
#define QUADTILE_BAKER_TRIANGLE_GLSL

#include "bake.h"
#include "exact.glsl"

// An edge from its lower end; `reversed`: the triangle goes the other way.
struct Edge {
    vec2 start;
    vec2 along;
    float constant;
    bool reversed;
};

// It has an odd number of words, so that threads that read a member of several triangles in shared memory meet different
// banks.
struct PixelTriangle {
    Edge edges[3];  // opposite to the vertices
    float inverse_area;  // 0: it covers no pixel
    // In a perspective projection: the homogeneous vertices' determinant, and the least and the greatest w. Otherwise
    // 0.
    float volume;
    float nearest;
    float farthest;
    // Values at the first vertex, and the differences of the others.
    vec3 depth;
    vec3 light_map_x;
    vec3 light_map_y;
    // The texels around the triangle. Rounding would lead fragments at its edges beyond them, out of its chart.
    vec2 first_texel;
    uint more_texels;  // beside it, and << 16 below
    bool faces_forward;
    // Pixels that it may cover; last < first: none.
    ivec2 first;
    ivec2 last;
};

float precise_dot(float a0, float a1, float a2, vec3 b) {
    precise const float sum = (a0 * b.x + a1 * b.y) + a2 * b.z;
    return sum;
}

vec3 position_of(TracedTriangle triangle, uint vertex) {
    return vec3(triangle.positions[3 * vertex], triangle.positions[3 * vertex + 1],
                triangle.positions[3 * vertex + 2]);
}

// Returns a position in pixels.
vec2 projected(ProjectionFrame frame, vec2 map_origin, float scale, vec3 position) {
    precise const float map_x =
        precise_dot(frame.axis_x[0], frame.axis_x[1], frame.axis_x[2], position) + frame.offset_x;
    precise const float map_y =
        precise_dot(frame.axis_y[0], frame.axis_y[1], frame.axis_y[2], position) + frame.offset_y;
    precise const vec2 pixels = (vec2(map_x, map_y) - map_origin) * scale;
    return pixels;
}

float depth_of(ProjectionFrame frame, vec3 position) {
    return precise_dot(frame.axis_z[0], frame.axis_z[1], frame.axis_z[2], position);
}

Edge edge_between(vec2 from, vec2 to) {
    const bool reversed = from.y > to.y || (from.y == to.y && from.x > to.x);
    const vec2 start = reversed ? to : from;
    precise const vec2 along = (reversed ? from : to) - start;
    return Edge(start, along, 0.0, reversed);
}

// Returns twice the area of the triangle of a point and the edge; positive to the left of the edge in the triangle's
// direction.
float side_of(Edge edge, vec2 point) {
    precise const float area = (edge.along.x * (point.y - edge.start.y) -
                                edge.along.y * (point.x - edge.start.x)) +
                               edge.constant;
    return edge.reversed ? -area : area;
}

bool is_inside(Edge edge, float side) {
    return side > 0.0 || (side == 0.0 && !edge.reversed);
}

// Returns twice the area, whose sign tells whether the triangle faces forward.
float area_of(vec2 a, vec2 b, vec2 c) {
    precise const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    return area;
}

vec3 interpolant(float a, float b, float c) {
    precise const vec2 more = vec2(b - a, c - a);
    return vec3(a, more);
}

float interpolated(vec3 values, float weight_b, float weight_c) {
    precise const float value = (values.x + weight_b * values.y) + weight_c * values.z;
    return value;
}

// ---- Perspective

// Vertices nearer to the rays' origin are not projected, and their triangles may cover all pixels. In units of w.
const float NEAREST_VERTEX = 1.0 / 1048576.0;
// Triangles of smaller volume are invisible.
const float LEAST_VOLUME = 1e-24;

vec3 homogeneous(ProjectionFrame frame, vec2 map_origin, float scale, vec3 position) {
    precise const float x =
        precise_dot(frame.axis_x[0], frame.axis_x[1], frame.axis_x[2], position) + frame.offset_x;
    precise const float y =
        precise_dot(frame.axis_y[0], frame.axis_y[1], frame.axis_y[2], position) + frame.offset_y;
    precise const float w =
        precise_dot(frame.axis_w[0], frame.axis_w[1], frame.axis_w[2], position) + frame.offset_w;
    precise const vec2 pixels = (vec2(x, y) - map_origin * w) * scale;
    return vec3(pixels, w);
}

vec3 precise_cross(vec3 a, vec3 b) {
    precise const vec3 product =
        vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
    return product;
}

Edge homogeneous_edge(vec3 from, vec3 to) {
    const bool reversed =
        from.y > to.y ||
        (from.y == to.y && (from.x > to.x || (from.x == to.x && from.z > to.z)));
    const vec3 start = reversed ? to : from;
    precise const vec3 along = (reversed ? from : to) - start;
    const vec3 normal = precise_cross(start, along);
    return Edge(vec2(0.0), vec2(normal.y, -normal.x), normal.z, reversed);
}

float volume_of(vec3 a, vec3 b, vec3 c) {
    precise const vec3 along_b = b - a;
    precise const vec3 along_c = c - a;
    return precise_dot(a.x, a.y, a.z, precise_cross(along_b, along_c));
}

// Returns numerator / w, as exactly as pixels require.
float divided(float numerator, float w) {
    const float size = abs(numerator);
    precise const float least = w * (1.0 / 1048576.0);
    precise const float greatest = w * 16777216.0;
    const float magnitude =
        size <= least ? 0.0 : (size >= greatest ? 16777216.0 : quotient(size, w));
    return numerator < 0.0 ? -magnitude : magnitude;
}

// Returns whether all vertices are on one side of the range from `low` to `high`, by their x or y, and w.
bool is_beyond(vec3 at, vec3 w, float low, float high) {
    precise const vec3 at_low = low * w;
    precise const vec3 at_high = high * w;
    return all(lessThan(at, at_low)) || all(greaterThan(at, at_high));
}

// ----

// Limits a box to pixels whose centre is in it, or with `reach` 1 to all that it touches.
void limit(inout PixelTriangle triangle, vec2 least, vec2 greatest, float reach, ivec2 lower,
           ivec2 upper) {
    // In floats first, because far values have no integer.
    const vec2 outer_lower = vec2(lower) - 1.0;
    const vec2 outer_upper = vec2(upper) + 1.0;
    if (reach > 0.0) {
        triangle.first = max(lower, ivec2(clamp(floor(least), outer_lower, outer_upper)));
        triangle.last = min(upper, ivec2(clamp(floor(greatest), outer_lower, outer_upper)));
    } else {
        triangle.first = max(lower, ivec2(clamp(ceil(least - 0.5), outer_lower, outer_upper)));
        triangle.last = min(upper, ivec2(clamp(floor(greatest - 0.5), outer_lower, outer_upper)));
    }
}

// Returns a triangle. `reach` 0: pixels with their centre inside; 1: all that it touches. `lower` and `upper` are the
// rectangle of pixels that count, with the upper ones.
PixelTriangle pixel_triangle(TracedTriangle triangle, ProjectionFrame frame, vec2 map_origin,
                             float scale, float reach, ivec2 lower, ivec2 upper) {
    PixelTriangle result;
    result.volume = 0.0;
    float size;  // whose sign tells whether the triangle faces forward; else its vertices b and c change places
    bool is_empty;
    if (frame.is_perspective != 0) {
        const vec3 a = homogeneous(frame, map_origin, scale, position_of(triangle, 0));
        const vec3 second = homogeneous(frame, map_origin, scale, position_of(triangle, 1));
        const vec3 third = homogeneous(frame, map_origin, scale, position_of(triangle, 2));
        size = volume_of(a, second, third);
        const vec3 b = size < 0.0 ? third : second;
        const vec3 c = size < 0.0 ? second : third;
        const vec3 w = vec3(a.z, b.z, c.z);
        result.volume = abs(size);
        result.nearest = min(w.x, min(w.y, w.z));
        result.farthest = max(w.x, max(w.y, w.z));
        is_empty = result.volume < LEAST_VOLUME || result.farthest <= 0.0 ||
                   is_beyond(vec3(a.x, b.x, c.x), w, float(lower.x), float(upper.x + 1)) ||
                   is_beyond(vec3(a.y, b.y, c.y), w, float(lower.y), float(upper.y + 1));
        vec2 least = vec2(lower);
        vec2 greatest = vec2(upper + 1);
        if (!is_empty && result.nearest > NEAREST_VERTEX) {
            const vec2 at_a = vec2(divided(a.x, a.z), divided(a.y, a.z));
            const vec2 at_b = vec2(divided(b.x, b.z), divided(b.y, b.z));
            const vec2 at_c = vec2(divided(c.x, c.z), divided(c.y, c.z));
            least = min(at_a, min(at_b, at_c));
            greatest = max(at_a, max(at_b, at_c));
        }
        limit(result, least, greatest, reach, lower, upper);
        result.edges[0] = homogeneous_edge(b, c);
        result.edges[1] = homogeneous_edge(c, a);
        result.edges[2] = homogeneous_edge(a, b);
        result.inverse_area = 1.0;
    } else {
        const vec2 a = projected(frame, map_origin, scale, position_of(triangle, 0));
        const vec2 second = projected(frame, map_origin, scale, position_of(triangle, 1));
        const vec2 third = projected(frame, map_origin, scale, position_of(triangle, 2));
        size = area_of(a, second, third);
        const vec2 b = size < 0.0 ? third : second;
        const vec2 c = size < 0.0 ? second : third;
        limit(result, min(a, min(b, c)), max(a, max(b, c)), reach, lower, upper);
        is_empty = size == 0.0 && reach == 0.0;
        result.edges[0] = edge_between(b, c);
        result.edges[1] = edge_between(c, a);
        result.edges[2] = edge_between(a, b);
        result.inverse_area = size == 0.0 ? 0.0 : quotient(1.0, abs(size));
    }
    result.faces_forward = size > 0.0;
    const uint ib = size < 0.0 ? 2 : 1;
    const uint ic = 3 - ib;
    if (is_empty || result.last.x < result.first.x || result.last.y < result.first.y) {
        result.first = ivec2(0);
        result.last = ivec2(-1);
        return result;
    }
    result.depth = interpolant(depth_of(frame, position_of(triangle, 0)),
                               depth_of(frame, position_of(triangle, ib)),
                               depth_of(frame, position_of(triangle, ic)));
    result.light_map_x = interpolant(triangle.light_map[0], triangle.light_map[2 * ib],
                                     triangle.light_map[2 * ic]);
    result.light_map_y = interpolant(triangle.light_map[1], triangle.light_map[2 * ib + 1],
                                     triangle.light_map[2 * ic + 1]);
    const vec2 a = vec2(triangle.light_map[0], triangle.light_map[1]);
    const vec2 b = vec2(triangle.light_map[2], triangle.light_map[3]);
    const vec2 c = vec2(triangle.light_map[4], triangle.light_map[5]);
    result.first_texel = floor(min(a, min(b, c)));
    const uvec2 more = uvec2(max(ceil(max(a, max(b, c))) - 1.0 - result.first_texel, 0.0));
    result.more_texels = more.x | more.y << 16;
    return result;
}

bool covers(PixelTriangle triangle, ivec2 pixel) {
    const vec2 centre = vec2(pixel) + 0.5;
    return is_inside(triangle.edges[0], side_of(triangle.edges[0], centre)) &&
           is_inside(triangle.edges[1], side_of(triangle.edges[1], centre)) &&
           is_inside(triangle.edges[2], side_of(triangle.edges[2], centre));
}

// Returns the weights of the second and the third vertex at a covered pixel.
vec2 weights_at(PixelTriangle triangle, ivec2 pixel) {
    const vec2 centre = vec2(pixel) + 0.5;
    const vec2 sides = vec2(side_of(triangle.edges[1], centre), side_of(triangle.edges[2], centre));
    float inverse = triangle.inverse_area;
    if (triangle.volume > 0.0) {
        precise const float sum = (side_of(triangle.edges[0], centre) + sides.x) + sides.y;
        inverse = quotient(1.0, max(sum, 1e-30));
    }
    precise const vec2 weights = sides * inverse;
    // Rounding makes those of slivers larger, which would lead out of the triangle and its chart.
    const float second = min(weights.x, 1.0);
    return vec2(second, min(weights.y, 1.0 - second));
}

// Returns the texel of a lightmap of `width` by `height` texels at the weights.
uint light_map_texel(PixelTriangle triangle, vec2 weights, uint width, uint height) {
    const vec2 place = vec2(interpolated(triangle.light_map_x, weights.x, weights.y),
                            interpolated(triangle.light_map_y, weights.x, weights.y));
    const vec2 last_texel = triangle.first_texel + vec2(triangle.more_texels & 0xffffU, triangle.more_texels >> 16);
    const vec2 near = clamp(floor(place), triangle.first_texel, last_texel);
    const uvec2 texel = uvec2(clamp(near, vec2(0.0), vec2(width - 1, height - 1)));
    return texel.y * width + texel.x;
}

// Returns the number of a texel by its word, or `others`.
uint number_of(uint texel, CoveredWord word, uint others) {
    const uint place = texel & 31U;
    return bitfieldExtract(word.bits, int(place), 1) != 0
               ? word.first + bitCount(bitfieldExtract(word.bits, 0, int(place)))
               : others;
}

// Returns the factor of a pixel's size at the triangle: w, or 1 in a parallel projection.
float distance_at(PixelTriangle triangle, ivec2 pixel) {
    if (triangle.volume == 0.0) {
        return 1.0;
    }
    const vec2 centre = vec2(pixel) + 0.5;
    precise const float sum =
        (side_of(triangle.edges[0], centre) + side_of(triangle.edges[1], centre)) +
        side_of(triangle.edges[2], centre);
    precise const float volume = sum * triangle.farthest;
    // Beside the triangle its plane may recede to infinity, or approach.
    return volume > triangle.volume ? max(quotient(triangle.volume, sum), triangle.nearest)
                                    : triangle.farthest;
}

// Returns whether the triangle may have a smaller w than `range` in the pixel. 1 / w is linear there.
bool is_within(PixelTriangle triangle, ivec2 pixel, float range) {
    if (triangle.volume == 0.0) {
        return true;
    }
    const vec2 centre = vec2(pixel) + 0.5;
    precise float sum = 0.0;
    precise vec2 slope = vec2(0.0);
    for (uint i = 0; i < 3; ++i) {
        const vec2 along = triangle.edges[i].along;
        sum += side_of(triangle.edges[i], centre);
        slope += triangle.edges[i].reversed ? -along : along;
    }
    precise const float most = (sum + 0.5 * (abs(slope.x) + abs(slope.y))) * range;
    return triangle.nearest < range && most > triangle.volume;
}

// Returns whether any point of the pixel may be inside of all edges: tests its corner that is most inside.
bool touches(PixelTriangle triangle, ivec2 pixel) {
    const vec2 centre = vec2(pixel) + 0.5;
    for (uint i = 0; i < 3; ++i) {
        precise const float corner = 0.5 * (abs(triangle.edges[i].along.x) +
                                            abs(triangle.edges[i].along.y));
        precise const float most = side_of(triangle.edges[i], centre) + corner;
        if (most < 0.0) {
            return false;
        }
    }
    return true;
}

#endif
