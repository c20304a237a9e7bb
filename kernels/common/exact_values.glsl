// Exact values of texels as the texture unit returns them, and settled floats.

#include "quadtile/importance_key.h"
#include "quadtile/unorm.h"

// Returns the exact value of a texel of a unorm format with 8 or 16 bits.
float unorm_texel(float texel, uint unorm_bits) {
    const uint c = uint(texel * float((1U << unorm_bits) - 1) + 0.5);
    return uintBitsToFloat(bits_from_unorm(c, unorm_bits));
}

float settled(float value) { return uintBitsToFloat(settled_bits(key_from_bits(floatBitsToUint(value)))); }
