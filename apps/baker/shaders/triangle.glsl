// A triangle in the pixels of a tile, or in the texels of an importance map.
//
// Vertices are rounded to 1 / SUBPIXELS pixel. A pixel belongs to a triangle when its centre is
// inside; of two triangles that share an edge exactly one has a centre on it: an edge's function is
// evaluated from its lower (then left) end, whichever triangle asks, so that both get the same number
// and one takes zero. Everything is precise: the CPU twin, traced_triangle.cpp, gives the same bits.

#ifndef QUADTILE_BAKER_TRIANGLE_GLSL
#define QUADTILE_BAKER_TRIANGLE_GLSL

#include "bake.h"
#include "exact.glsl"

// From its lower end; `reversed` where the triangle goes the other way.
struct Edge {
    vec2 start;
    vec2 along;
    bool reversed;
};

struct PixelTriangle {
    Edge edges[3];  // opposite to the vertices
    float inverse_area;
    // Values at the first vertex, and what the others have more.
    vec3 depth;
    vec3 light_map_x;
    vec3 light_map_y;
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

// To pixels.
vec2 projected(ProjectionFrame frame, vec2 map_origin, float scale, vec3 position) {
    precise const float map_x =
        precise_dot(frame.axis_x[0], frame.axis_x[1], frame.axis_x[2], position) + frame.offset_x;
    precise const float map_y =
        precise_dot(frame.axis_y[0], frame.axis_y[1], frame.axis_y[2], position) + frame.offset_y;
    precise const vec2 pixels = (vec2(map_x, map_y) - map_origin) * scale;
    precise const vec2 rounded = floor(pixels * float(SUBPIXELS) + 0.5) * (1.0 / float(SUBPIXELS));
    return rounded;
}

float depth_of(ProjectionFrame frame, vec3 position) {
    return precise_dot(frame.axis_z[0], frame.axis_z[1], frame.axis_z[2], position);
}

Edge edge_between(vec2 from, vec2 to) {
    const bool reversed = from.y > to.y || (from.y == to.y && from.x > to.x);
    const vec2 start = reversed ? to : from;
    precise const vec2 along = (reversed ? from : to) - start;
    return Edge(start, along, reversed);
}

// Twice the area of the triangle that a point makes with the edge; positive to the left of it, as
// the triangle goes.
float side_of(Edge edge, vec2 point) {
    precise const float area = edge.along.x * (point.y - edge.start.y) -
                               edge.along.y * (point.x - edge.start.x);
    return edge.reversed ? -area : area;
}

bool is_inside(Edge edge, float side) {
    return side > 0.0 || (side == 0.0 && !edge.reversed);
}

// Twice the area; of the triangle with the sign that tells whether it faces forward.
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

// `reach` 0: pixels with their centre inside; 1: all that it touches. `lower` and `upper` are the
// rectangle of pixels that count, the upper ones included.
PixelTriangle pixel_triangle(TracedTriangle triangle, ProjectionFrame frame, vec2 map_origin,
                             float scale, float reach, ivec2 lower, ivec2 upper) {
    uint ib = 1;
    uint ic = 2;
    const vec2 a = projected(frame, map_origin, scale, position_of(triangle, 0));
    vec2 b = projected(frame, map_origin, scale, position_of(triangle, 1));
    vec2 c = projected(frame, map_origin, scale, position_of(triangle, 2));
    const float area = area_of(a, b, c);
    PixelTriangle result;
    result.faces_forward = area > 0.0;
    if (area < 0.0) {
        const vec2 other = b;
        b = c;
        c = other;
        ib = 2;
        ic = 1;
    }
    const vec2 least = min(a, min(b, c));
    const vec2 greatest = max(a, max(b, c));
    // In floats first: what is far outside has no integer.
    const vec2 outer_lower = vec2(lower) - 1.0;
    const vec2 outer_upper = vec2(upper) + 1.0;
    if (reach > 0.0) {
        result.first = max(lower, ivec2(clamp(floor(least), outer_lower, outer_upper)));
        result.last = min(upper, ivec2(clamp(floor(greatest), outer_lower, outer_upper)));
    } else {
        result.first = max(lower, ivec2(clamp(ceil(least - 0.5), outer_lower, outer_upper)));
        result.last = min(upper, ivec2(clamp(floor(greatest - 0.5), outer_lower, outer_upper)));
    }
    const bool is_empty = (area == 0.0 && reach == 0.0) || result.last.x < result.first.x ||
                          result.last.y < result.first.y;
    if (is_empty) {
        result.first = ivec2(0);
        result.last = ivec2(-1);
        return result;
    }
    result.edges[0] = edge_between(b, c);
    result.edges[1] = edge_between(c, a);
    result.edges[2] = edge_between(a, b);
    result.inverse_area = area == 0.0 ? 0.0 : quotient(1.0, abs(area));
    result.depth = interpolant(depth_of(frame, position_of(triangle, 0)),
                               depth_of(frame, position_of(triangle, ib)),
                               depth_of(frame, position_of(triangle, ic)));
    result.light_map_x = interpolant(triangle.light_map[0], triangle.light_map[2 * ib],
                                     triangle.light_map[2 * ic]);
    result.light_map_y = interpolant(triangle.light_map[1], triangle.light_map[2 * ib + 1],
                                     triangle.light_map[2 * ic + 1]);
    return result;
}

bool covers(PixelTriangle triangle, ivec2 pixel) {
    const vec2 centre = vec2(pixel) + 0.5;
    return is_inside(triangle.edges[0], side_of(triangle.edges[0], centre)) &&
           is_inside(triangle.edges[1], side_of(triangle.edges[1], centre)) &&
           is_inside(triangle.edges[2], side_of(triangle.edges[2], centre));
}

// Whether any point of the pixel may be inside of all edges: at its corner that is most inside.
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
