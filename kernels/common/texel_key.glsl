// Key of a texel as the texture unit delivers it.

#include "quadtile/importance_key.h"
#include "quadtile/unorm.h"

// `unorm_bits`: 8 or 16 for maps of these unorm formats, 0 for floats.
uint texel_key(float texel, uint unorm_bits) {
    if (unorm_bits == 0) {
        return key_from_bits(floatBitsToUint(texel));
    }
    const uint c = uint(texel * float((1U << unorm_bits) - 1) + 0.5);
    return key_from_bits(bits_from_unorm(c, unorm_bits));
}
