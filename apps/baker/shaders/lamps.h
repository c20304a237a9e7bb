// The light of a lamp's patch that a texel would receive if nothing lay between, in C++ and in
// GLSL: Lambert's formula for polygons (Baum, Rushmeier and Winget 1989).
//
// The bits are the same everywhere: there are only sums, products and conversions, each rounded by
// itself. Vulkan leaves division, roots and angles to the device.
//
// The device does this, because it has the sums: 40 bytes per texel would go to the host for each
// of a lamp's points. There the formula took 160 ns per texel and point, in doubles: 8 s of one
// processor for 825,000 texels and 64 points. Here it is some hundred operations and 200 bytes for
// each.
//
// Errors, in units of the radiance: up to 1e-4 where an edge or the triangle's plane goes past the
// texel closely, else about 1e-6.

#ifndef QUADTILE_BAKER_LAMPS_H
#define QUADTILE_BAKER_LAMPS_H

#include "bake.h"

#ifdef __cplusplus
#include <glm/common.hpp>
#include <glm/integer.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#define LAMPS_SHARED static inline
#define precise
namespace quadtile::baker::lamps {
using namespace glm;
static inline vec3 vector_of(const float (&values)[3]) {
    return {values[0], values[1], values[2]};
}
#else
#define LAMPS_SHARED
vec3 vector_of(float values[3]) {
    return vec3(values[0], values[1], values[2]);
}
#endif

const float LEAST_SQUARE = 1e-30F;
const float HALF_TURN = 3.14159265F;
// Squared distance, in squared sizes of a triangle, from which its middle stands for all of it,
// right to a thousandth.
const float FAR_SQUARE = 256.0F;
// Points of a texel along each side, by its size at the patch's distance.
const float POINTS_AT_ITS_SIZE = 16.0F;
const float MOST_POINTS = 16.0F;
// Least cosine of a triangle: rounding aside, a texel in its plane sees none of it.
const float LEAST_COSINE = 1e-4F;
// Of the planes of neighbours that lend their share of the light.
const float SAME_PLANE_COSINE = 0.9F;

LAMPS_SHARED float product(vec3 a, vec3 b) {
    precise const float sum = (a.x * b.x + a.y * b.y) + a.z * b.z;
    return sum;
}

LAMPS_SHARED vec3 normal_of(vec3 a, vec3 b) {
    precise const vec3 across =
        vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
    return across;
}

LAMPS_SHARED float grey_of(vec3 colour) {
    precise const float mean = ((colour.x + colour.y) + colour.z) * (1.0F / 3.0F);
    return mean;
}

// Returns 1 / sqrt(value) by Newton's steps; 0 for a value next to 0.
LAMPS_SHARED float inverse_root(float value) {
    precise float root = uintBitsToFloat(0x5f375a86U - (floatBitsToUint(value) >> 1U));
    precise const float half_value = 0.5F * value;
    root = root * (1.5F - (half_value * root) * root);
    root = root * (1.5F - (half_value * root) * root);
    root = root * (1.5F - (half_value * root) * root);
    return value > LEAST_SQUARE ? root : 0.0F;
}

// Returns an angle divided by its sine, for a cosine from 0 to 1: right to 1e-6.
LAMPS_SHARED float angle_by_sine(float cosine) {
    precise float ratio = 0.141067654F - 0.0280905627F * cosine;
    ratio = ratio * cosine - 0.331016064F;
    ratio = ratio * cosine + 0.513926029F;
    ratio = ratio * cosine - 0.650350392F;
    ratio = ratio * cosine + 0.783589125F;
    ratio = ratio * cosine - 0.999922097F;
    ratio = ratio * cosine + 1.57079577F;
    return ratio;
}

// Returns the angle of an edge, seen from the origin, times the cosine of its plane's normal.
LAMPS_SHARED float edge_light(vec3 from, vec3 to, vec3 normal) {
    precise const vec3 along = to - from;
    precise const float by_lengths =
        inverse_root(product(from, from)) * inverse_root(product(to, to));
    precise const vec3 sine = normal_of(from, along) * by_lengths;
    precise const float cosine = product(from, to) * by_lengths;
    precise float ratio = angle_by_sine(abs(cosine));
    if (cosine < 0.0F) {
        ratio = HALF_TURN * inverse_root(product(sine, sine)) - ratio;
    }
    precise const float light = ratio * product(sine, normal);
    return light;
}

// Returns the irradiance of a triangle with radiance 1, whose corners are relative to a point with
// the normal; only the part above the horizon counts.
LAMPS_SHARED float polygon_light(vec3 a, vec3 b, vec3 c, vec3 normal) {
    precise float sum = 0.0F;
    vec3 leaves = vec3(0.0F);  // where the triangle's edge goes below the horizon
    vec3 enters = vec3(0.0F);
    vec3 here = a;
    vec3 next = b;
    for (int i = 0; i < 3; ++i) {
        const float height = product(here, normal);
        const float next_height = product(next, normal);
        vec3 from = here;
        vec3 to = next;
        if ((height >= 0.0F) != (next_height >= 0.0F)) {
            precise const float root = inverse_root(abs(height) + abs(next_height));
            precise const vec3 crossing = here + (((abs(height) * root) * root) * (next - here));
            if (height >= 0.0F) {
                to = crossing;
                leaves = crossing;
            } else {
                from = crossing;
                enters = crossing;
            }
        }
        if (height >= 0.0F || next_height >= 0.0F) {
            sum = sum + edge_light(from, to, normal);
        }
        here = next;
        next = i == 0 ? c : a;
    }
    if (leaves != enters) {
        sum = sum + edge_light(leaves, enters, normal);
    }
    precise const float light = 0.5F * abs(sum);
    return light;
}

// Returns the irradiance of a triangle with radiance 1 at the place `centre` + `offset`.
LAMPS_SHARED float triangle_light(LampTriangle triangle, vec3 centre, vec3 offset, vec3 normal) {
    precise const vec3 a = (vector_of(triangle.a) - centre) - offset;
    precise const vec3 b = (vector_of(triangle.b) - centre) - offset;
    precise const vec3 c = (vector_of(triangle.c) - centre) - offset;
    precise const vec3 middle = ((a + b) + c) * (1.0F / 3.0F);
    precise const float square = product(middle, middle);
    precise const float root = inverse_root(square);
    precise const float shown = -product(vector_of(triangle.cross), middle) * root;
    precise const float least = LEAST_COSINE * triangle.size;
    if (!(shown > least)) {
        return 0.0F;
    }
    precise const float near = FAR_SQUARE * triangle.size;
    if (square > near) {
        precise const float cosine = max(product(middle, normal) * root, 0.0F);
        precise const float light = ((0.5F * shown) * root) * (cosine * root);
        return light;
    }
    return polygon_light(a, b, c, normal);
}

// Returns the number of points of a texel along each side, by its distance from the patch's box.
LAMPS_SHARED float points_of(LampParameters parameters, vec3 centre, vec3 across, vec3 down) {
    precise const vec3 way =
        clamp(centre, vector_of(parameters.low), vector_of(parameters.high)) - centre;
    const float size = max(product(across, across), product(down, down));
    precise const float square = max(product(way, way), 0.25F * size);
    precise const float points =
        ceil(((POINTS_AT_ITS_SIZE * size) * inverse_root(size)) * inverse_root(square));
    return clamp(points, 1.0F, MOST_POINTS);
}

// Returns the place of point (x, y) of a texel, relative to its centre.
LAMPS_SHARED vec3 place_of(float x, float y, float points, vec3 across, vec3 down) {
    precise const float root = inverse_root(points);
    precise const float right = (((x + 0.5F) * root) * root) - 0.5F;
    precise const float below = (((y + 0.5F) * root) * root) - 0.5F;
    precise const vec3 place = (right * across) + (below * down);
    return place;
}

// Returns the light of one of the patch's points from the sums over a texel's points.
LAMPS_SHARED vec3 mean_over(vec3 sums, float points) {
    precise const float root = inverse_root(points);
    precise const float share = ((root * root) * (root * root)) * (1.0F / float(POINTS_A_PATCH));
    precise const vec3 light = sums * share;
    return light;
}

LAMPS_SHARED float whole_part(uint low, uint high) {
    precise const float number = float(high) * 4294967296.0F + float(low);
    return number;
}

// Returns the share of the light by the rays that a texel has received, at least one.
LAMPS_SHARED vec3 share_of(Accumulator sums, float unit) {
    precise const float root = inverse_root(whole_part(sums.weight[0], sums.weight[1]));
    precise const vec3 share = ((vec3(whole_part(sums.radiance[0], sums.radiance[1]),
                                      whole_part(sums.radiance[2], sums.radiance[3]),
                                      whole_part(sums.radiance[4], sums.radiance[5])) *
                                 root) *
                                root) *
                               unit;
    return share;
}

// Returns the sum of a whole number of two words, the lower first, and a value in units of its high
// word.
LAMPS_SHARED uvec2 added(uvec2 number, float value) {
    const float high = floor(value);
    precise const float rest = (value - high) * 2147483648.0F;
    const uint low = number.x + (uint(min(rest, 2147483520.0F)) << 1U);
    return uvec2(low, number.y + uint(int(high)) + (low < number.x ? 1U : 0U));
}

// Returns the direction from a texel to the middle of the patch.
LAMPS_SHARED vec3 direction_to(LampParameters parameters, vec3 centre) {
    precise const vec3 way =
        (0.5F * (vector_of(parameters.low) + vector_of(parameters.high))) - centre;
    precise const vec3 direction = way * inverse_root(product(way, way));
    return direction;
}

// Returns whether the piece of the patch's point faces the texel. Behind it, it is unknown which of
// the patch's other pieces the texel sees.
LAMPS_SHARED bool faces(LampParameters parameters, vec3 centre) {
    precise const vec3 way = centre - vector_of(parameters.point);
    return product(way, vector_of(parameters.normal)) > 0.0F;
}

#ifdef __cplusplus
#undef precise
}  // namespace quadtile::baker::lamps
#endif

#endif
