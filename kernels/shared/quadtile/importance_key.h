// Importance as an unsigned key: exact maxima and comparisons whatever the float mode of the GPU.
//
// Float instructions may flush denormals, and what they make of NaN and of -0 differs from driver to
// driver. Keys are integers, ordered
//
//     -inf < ... < -0 < +0 < ... < +inf < every NaN, of either sign
//
// so a maximum of keys is exact. What design gives NaN (it counts as +inf) and -0 (it counts as 0)
// keeps that order, so it may be applied once, to the maximum: `settle_key`. 0 is the key of -inf,
// the identity of the maximum.

#ifndef QUADTILE_IMPORTANCE_KEY_H
#define QUADTILE_IMPORTANCE_KEY_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT KEY_BIAS = 0x807fffffU;      // what -inf becomes after the sign fold
const QUADTILE_UINT KEY_NEGATIVE_ZERO = 0x7f800000U;
const QUADTILE_UINT KEY_INFINITY = 0xff000001U;  // above it: NaN

// Key of a float given as its IEEE 754 bits.
QUADTILE_SHARED QUADTILE_UINT key_from_bits(QUADTILE_UINT bits) {
    const QUADTILE_UINT magnitude_flip = (bits >> 31) * 0x7fffffffU;
    return (bits ^ magnitude_flip) - KEY_BIAS;
}

QUADTILE_SHARED QUADTILE_UINT bits_from_key(QUADTILE_UINT key) {
    const QUADTILE_UINT folded = key + KEY_BIAS;
    return folded ^ ((folded >> 31) * 0x7fffffffU);
}

QUADTILE_SHARED bool key_is_nan(QUADTILE_UINT key) { return key > KEY_INFINITY; }

// NaN becomes +inf, -0 becomes 0; all other keys stay.
QUADTILE_SHARED QUADTILE_UINT settle_key(QUADTILE_UINT key) {
    if (key > KEY_INFINITY) {
        return KEY_INFINITY;
    }
    return key == KEY_NEGATIVE_ZERO ? key + 1 : key;
}

QUADTILE_NAMESPACE_END

#endif
