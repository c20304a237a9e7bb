// Key of a texel as the texture unit returns it.

#include "quadtile/importance_key.h"
#include "quadtile/unorm.h"

// Returns the exact value of a unorm texel.
float unorm_texel(float texel, uint unorm_bits) {
    const uint c = uint(texel * float((1U << unorm_bits) - 1) + 0.5);
    return uintBitsToFloat(bits_from_unorm(c, unorm_bits));
}

// Returns the key of a texel. `unorm_bits`: 8 or 16 for maps of these unorm formats, 0 for floats.
uint texel_key(float texel, uint unorm_bits) {
    return key_from_bits(floatBitsToUint(unorm_bits == 0 ? texel : unorm_texel(texel, unorm_bits)));
}
