// Words of a picture's mask (Targets::mask), in C++ and in GLSL: one rule for shadow maps and for
// rays. Each operation is rounded once, so that all results are bit-identical.

#ifndef QUADTILE_SHADOW_MASK_H
#define QUADTILE_SHADOW_MASK_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

// Bit of a surface, only in the masks of rays. Otherwise they have SHADOW_LIT alone.
const QUADTILE_UINT MASK_SURFACE = 0x80000000U;

struct MaskVector {
    float x;
    float y;
    float z;
};

QUADTILE_SHARED MaskVector mask_vector(float x, float y, float z) {
    MaskVector v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

QUADTILE_SHARED float mask_dot(MaskVector a, MaskVector b) {
    QUADTILE_PRECISE const float sum = (a.x * b.x + a.y * b.y) + a.z * b.z;
    return sum;
}

// A light, for the test whether it reaches a point.
struct MaskLight {
    float clip_from_world[16];  // of its map, by column
    float towards[3];           // direction to a sun; position of others
    QUADTILE_UINT is_spot;      // 0: a sun, 1: a spot, 2: a point light
};

// Returns the vector from a point to the light; to a sun, of any length.
QUADTILE_SHARED MaskVector mask_way(MaskLight light, MaskVector point) {
    MaskVector way = mask_vector(light.towards[0], light.towards[1], light.towards[2]);
    if (light.is_spot != 0) {
        QUADTILE_PRECISE const float x = way.x - point.x;
        QUADTILE_PRECISE const float y = way.y - point.y;
        QUADTILE_PRECISE const float z = way.z - point.z;
        way = mask_vector(x, y, z);
    }
    return way;
}

// Returns whether a light reaches an unshadowed surface: it shines on the side that is seen, and a
// spot has the point in its clip space.
QUADTILE_SHARED bool mask_may_light(MaskLight light, MaskVector point, MaskVector normal) {
    if (!(mask_dot(normal, mask_way(light, point)) > 0.0F)) {
        return false;
    }
    float clip[4];
    for (int i = 0; i < 4; ++i) {
        QUADTILE_PRECISE const float coordinate =
            ((light.clip_from_world[i] * point.x + light.clip_from_world[4 + i] * point.y) +
             light.clip_from_world[8 + i] * point.z) +
            light.clip_from_world[12 + i];
        clip[i] = coordinate;
    }
    const bool is_inside = clip[3] > 0.0F && clip[0] >= -clip[3] && clip[0] <= clip[3] &&
                           clip[1] >= -clip[3] && clip[1] <= clip[3] && clip[2] >= 0.0F &&
                           clip[2] <= clip[3];
    return light.is_spot != 1 || is_inside;
}

QUADTILE_NAMESPACE_END

#endif
