// Holes of triangles by the alpha of a texture (glTF's alphaMode MASK), in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_MASK_H
#define QUADTILE_SHADOW_MASK_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

// A texture with a bit per texel: 0 is a hole.
struct Mask {
    uint first_bit;
    uint width;   // texels
    uint height;  // texels
};

struct MaskVertex {
    float coordinates[2];  // in the mask, which repeats: 0 to 1
    uint mask;
};

QUADTILE_SHARED uint mask_texel(float coordinate, uint extent) {
    const float part = coordinate - float(int(coordinate));
    const uint texel = uint((part < 0.0F ? part + 1.0F : part) * float(extent));
    return texel < extent ? texel : extent - 1;
}

// Returns the number of the nearest texel's bit.
QUADTILE_SHARED uint mask_bit(Mask mask, float u, float v) {
    return mask.first_bit + mask_texel(v, mask.height) * mask.width + mask_texel(u, mask.width);
}

QUADTILE_NAMESPACE_END

#endif
