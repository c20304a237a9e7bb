// Rays from the points of a depth buffer to lights, in C++ and in GLSL: parameters and arithmetic.
// Each operation is rounded once, so that all results are bit-identical.
//
// The test of ray and triangle is that of Woop, Benthin and Wald, "Watertight Ray/Triangle
// Intersection" (2013): nothing slips through between two triangles at an edge.

#ifndef QUADTILE_SHADOW_RAYS_H
#define QUADTILE_SHADOW_RAYS_H

#include "mask.h"

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT RAY_LEAF_TRIANGLES = 4;        // at most
const QUADTILE_UINT RAY_INNER_NODE = 0xffffffffU;  // RayNode::leaf

// A node of the bounding volume hierarchy. Nodes are in depth-first order: the first child follows
// its parent.
struct RayNode {
    float low[3];        // of its box
    QUADTILE_UINT next;  // node behind its subtree, for rays that miss the box
    float high[3];
    QUADTILE_UINT leaf;  // first triangle * RAY_LEAF_TRIANGLES + triangles - 1, or RAY_INNER_NODE
};

struct RayTriangle {
    float corners[9];  // x, y, z of each
};

// Camera of a depth buffer.
struct RayCamera {
    // Homogeneous world coordinates from (column, row, depth, 1), by column; columns and rows are
    // those of pixel centres: 0.5 in the first.
    float world_from_pixel[16];
    float eye[3];
    float background_depth;
    float offset;         // of a ray's origin from the surface, units of the world
    float offset_share;   // additional, as a share of the distance from the eye
    QUADTILE_UINT width;  // pixels
    QUADTILE_UINT height;
};

struct RayFrame {
    RayCamera camera;
    MaskLight lights[SHADOW_MAX_LIGHTS];
    float radii[SHADOW_MAX_LIGHTS];  // as DrawnLight::radius
    QUADTILE_UINT light_count;
    QUADTILE_UINT samples;  // rays per light with an extent; 1: hard shadow
};

// Differences of two masks: sums over pixels.
struct MaskCounts {
    QUADTILE_UINT surface_pixels;
    QUADTILE_UINT wrong;
    QUADTILE_UINT wrongly_lit;
    QUADTILE_UINT wrongly_shadowed;
    QUADTILE_UINT light_difference;  // of the parts of the first four lights, in 1/255
};

// Ray from `origin` to origin + farthest * direction.
struct Ray {
    MaskVector origin;
    MaskVector direction;
    float farthest;
    // Axis of the largest component of the direction, and the shear of the direction onto it.
    QUADTILE_UINT axis;
    MaskVector shear;
};

QUADTILE_SHARED MaskVector ray_minus(MaskVector a, MaskVector b) {
    QUADTILE_PRECISE const float x = a.x - b.x;
    QUADTILE_PRECISE const float y = a.y - b.y;
    QUADTILE_PRECISE const float z = a.z - b.z;
    return mask_vector(x, y, z);
}

// Permutes a vector so that the axis becomes z.
QUADTILE_SHARED MaskVector ray_turned(MaskVector v, QUADTILE_UINT axis) {
    if (axis == 0) {
        return mask_vector(v.y, v.z, v.x);
    }
    if (axis == 1) {
        return mask_vector(v.z, v.x, v.y);
    }
    return v;
}

// Returns the point of the world at a pixel's centre.
QUADTILE_SHARED MaskVector ray_surface_point(RayCamera camera, QUADTILE_UINT column,
                                             QUADTILE_UINT row, float depth) {
    const float px = float(column) + 0.5F;
    const float py = float(row) + 0.5F;
    float at[4];
    for (int i = 0; i < 4; ++i) {
        QUADTILE_PRECISE const float coordinate =
            ((camera.world_from_pixel[i] * px + camera.world_from_pixel[4 + i] * py) +
             camera.world_from_pixel[8 + i] * depth) +
            camera.world_from_pixel[12 + i];
        at[i] = coordinate;
    }
    const float reciprocal = shadow_reciprocal(at[3]);
    QUADTILE_PRECISE const float x = at[0] * reciprocal;
    QUADTILE_PRECISE const float y = at[1] * reciprocal;
    QUADTILE_PRECISE const float z = at[2] * reciprocal;
    return mask_vector(x, y, z);
}

// Returns the origin of rays, above a surface.
QUADTILE_SHARED MaskVector ray_origin(RayCamera camera, MaskVector point, MaskVector normal) {
    const MaskVector eye = mask_vector(camera.eye[0], camera.eye[1], camera.eye[2]);
    const MaskVector sight = ray_minus(point, eye);
    QUADTILE_PRECISE const float offset =
        camera.offset + camera.offset_share * shadow_square_root(mask_dot(sight, sight));
    QUADTILE_PRECISE const float x = point.x + offset * normal.x;
    QUADTILE_PRECISE const float y = point.y + offset * normal.y;
    QUADTILE_PRECISE const float z = point.z + offset * normal.z;
    return mask_vector(x, y, z);
}

QUADTILE_SHARED float ray_absolute(float value) {
    return value < 0.0F ? -value : value;
}

// Returns the ray from a point to a light.
QUADTILE_SHARED Ray ray_to_light(MaskLight light, MaskVector origin) {
    Ray ray;
    ray.origin = origin;
    ray.direction = mask_way(light, origin);
    ray.farthest = light.is_spot != 0 ? 1.0F : float_from_bits(BITS_ONE + (60U << 23));
    const float x = ray_absolute(ray.direction.x);
    const float y = ray_absolute(ray.direction.y);
    const float z = ray_absolute(ray.direction.z);
    ray.axis = x > y && x > z ? 0U : (y > z ? 1U : 2U);
    const MaskVector turned = ray_turned(ray.direction, ray.axis);
    const float reciprocal = shadow_reciprocal(ray_absolute(turned.z));
    const float inverse = turned.z < 0.0F ? -reciprocal : reciprocal;
    QUADTILE_PRECISE const float shear_x = turned.x * inverse;
    QUADTILE_PRECISE const float shear_y = turned.y * inverse;
    ray.shear = mask_vector(shear_x, shear_y, inverse);
    return ray;
}

// Returns a triangle's corner in the ray's coordinates: the ray is at x = y = 0, z is its
// parameter.
QUADTILE_SHARED MaskVector ray_sheared(Ray ray, MaskVector corner) {
    const MaskVector v = ray_turned(ray_minus(corner, ray.origin), ray.axis);
    QUADTILE_PRECISE const float x = v.x - ray.shear.x * v.z;
    QUADTILE_PRECISE const float y = v.y - ray.shear.y * v.z;
    QUADTILE_PRECISE const float z = ray.shear.z * v.z;
    return mask_vector(x, y, z);
}

// Returns the side of an edge on which the ray passes. For the triangle across the edge only the
// sign differs.
QUADTILE_SHARED float ray_side(MaskVector from, MaskVector to) {
    QUADTILE_PRECISE const float side = from.x * to.y - from.y * to.x;
    return side;
}

// Returns whether a ray meets a triangle, from either side.
QUADTILE_SHARED bool ray_meets(Ray ray, RayTriangle triangle) {
    const MaskVector a = ray_sheared(
        ray, mask_vector(triangle.corners[0], triangle.corners[1], triangle.corners[2]));
    const MaskVector b = ray_sheared(
        ray, mask_vector(triangle.corners[3], triangle.corners[4], triangle.corners[5]));
    const MaskVector c = ray_sheared(
        ray, mask_vector(triangle.corners[6], triangle.corners[7], triangle.corners[8]));
    const float u = ray_side(b, c);
    const float v = ray_side(c, a);
    const float w = ray_side(a, b);
    const bool is_between =
        (u >= 0.0F && v >= 0.0F && w >= 0.0F) || (u <= 0.0F && v <= 0.0F && w <= 0.0F);
    QUADTILE_PRECISE const float sum = (u + v) + w;
    QUADTILE_PRECISE const float product = (u * a.z + v * b.z) + w * c.z;
    const float parameter = sum < 0.0F ? -product : product;  // times |sum|
    QUADTILE_PRECISE const float reach = ray.farthest * ray_absolute(sum);
    return is_between && parameter > 0.0F && parameter < reach;
}

QUADTILE_NAMESPACE_END

#endif
