// Importance as an unsigned key, for exact maxima and comparisons in every float mode of a GPU.
//
// Drivers differ in how float instructions treat NaN, -0 and denormals. Keys are integers in the
// order
//
//     -inf < ... < -0 < +0 < ... < +inf < NaN of either sign
//
// so a maximum of keys is exact. Settling an importance keeps this order, so only the maximum is
// settled: NaN counts as +inf; -0 and denormals (magnitudes below 2^-126) count as 0, because
// texture units may flush denormals before a shader sees them. 0 is the key of -inf, the identity
// of the maximum.

#ifndef QUADTILE_IMPORTANCE_KEY_H
#define QUADTILE_IMPORTANCE_KEY_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

const uint KEY_BIAS = 0x807fffffU;      // result of the sign fold for -inf
const uint KEY_INFINITY = 0xff000001U;  // keys above it: NaN
const uint DENORMALS = 0x007fffffU;     // largest denormal of each sign

// Returns the key of a float given as its IEEE 754 bits.
QUADTILE_SHARED uint key_from_bits(uint bits) {
    const uint magnitude_flip = uint(int(bits) >> 31) & 0x7fffffffU;
    return (bits ^ magnitude_flip) - KEY_BIAS;
}

QUADTILE_SHARED bool key_is_nan(uint key) {
    return key > KEY_INFINITY;
}

// Returns the bits of the settled float for a key. Settled floats compare as floats.
QUADTILE_SHARED uint settled_bits(uint key) {
    const uint folded = (key < KEY_INFINITY ? key : KEY_INFINITY) + KEY_BIAS;
    const uint bits = folded ^ (uint(int(folded) >> 31) & 0x7fffffffU);
    return (bits & 0x7fffffffU) <= DENORMALS ? 0 : bits;
}

#ifndef __cplusplus
float settled(float value) {
    return uintBitsToFloat(settled_bits(key_from_bits(floatBitsToUint(value))));
}
#endif

QUADTILE_NAMESPACE_END

#endif
