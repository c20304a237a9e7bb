// Exact values of unorm texels. Drivers differ in the last bit of c / 255 and c / 65535. The
// integer c follows from any of their answers, and the quotient follows from c without a division.

#ifndef QUADTILE_UNORM_H
#define QUADTILE_UNORM_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

// Returns the IEEE 754 bits of the float nearest to c / (2^bits - 1), for bits = 8 or 16.
//
// In binary that fraction is 0.ccc...: the bits of c, repeated for ever. 32 bits of it hold whole
// repetitions, so moving the leading one to the top is a rotation. The digits never end, so a
// remainder whose top bit is set is always above one half.
QUADTILE_SHARED QUADTILE_UINT bits_from_unorm(QUADTILE_UINT c, QUADTILE_UINT bits) {
    const QUADTILE_UINT largest = (1U << bits) - 1;
    if (c == 0) {
        return 0;
    }
    if (c == largest) {
        return 0x3f800000U;  // 1
    }
    const QUADTILE_UINT fraction = bits == 8 ? c * 0x01010101U : c * 0x00010001U;
    const QUADTILE_UINT shift = 31 - QUADTILE_HIGHEST_BIT(fraction);
    const QUADTILE_UINT digits =
        shift == 0 ? fraction : (fraction << shift) | (fraction >> (32 - shift));
    const QUADTILE_UINT mantissa = (digits >> 8) + ((digits >> 7) & 1U);
    return ((126 - shift) << 23) + (mantissa - 0x00800000U);
}

QUADTILE_NAMESPACE_END

#endif
