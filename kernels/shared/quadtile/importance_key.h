// Importance as an unsigned key: exact maxima and comparisons whatever the float mode of the GPU.
//
// What float instructions make of NaN, of -0 and of denormals differs from driver to driver. Keys
// are integers, ordered
//
//     -inf < ... < -0 < +0 < ... < +inf < every NaN, of either sign
//
// so a maximum of keys is exact. What an importance counts as is settled once, for the maximum,
// because it keeps that order: NaN as +inf, -0 as 0, and denormals (magnitudes below 2^-126) as 0
// too: texture units may flush them, so no shader can tell. 0 is the key of -inf, the identity of
// the maximum.

#ifndef QUADTILE_IMPORTANCE_KEY_H
#define QUADTILE_IMPORTANCE_KEY_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT KEY_BIAS = 0x807fffffU;      // what -inf becomes after the sign fold
const QUADTILE_UINT KEY_INFINITY = 0xff000001U;  // above it: NaN
const QUADTILE_UINT DENORMALS = 0x007fffffU;     // of each sign

// Key of a float given as its IEEE 754 bits.
QUADTILE_SHARED QUADTILE_UINT key_from_bits(QUADTILE_UINT bits) {
    const QUADTILE_UINT magnitude_flip = QUADTILE_UINT(QUADTILE_INT(bits) >> 31) & 0x7fffffffU;
    return (bits ^ magnitude_flip) - KEY_BIAS;
}

QUADTILE_SHARED QUADTILE_UINT bits_from_key(QUADTILE_UINT key) {
    const QUADTILE_UINT folded = key + KEY_BIAS;
    return folded ^ (QUADTILE_UINT(QUADTILE_INT(folded) >> 31) & 0x7fffffffU);
}

QUADTILE_SHARED bool key_is_nan(QUADTILE_UINT key) {
    return key > KEY_INFINITY;
}

// Bits of the float that a key counts as: settled floats compare as they are.
QUADTILE_SHARED QUADTILE_UINT settled_bits(QUADTILE_UINT key) {
    const QUADTILE_UINT bits = bits_from_key(key < KEY_INFINITY ? key : KEY_INFINITY);
    return (bits & 0x7fffffffU) <= DENORMALS ? 0 : bits;
}

QUADTILE_NAMESPACE_END

#endif
