// Texels as numbers, bit-identical on all devices: encoding, decoding, and keys of importances.
//
// Drivers may round when they store to an image, so kernels first round to a value that the format
// holds. docs/architecture.md (exact results) tells how drivers differ.

#ifndef QUADTILE_TEXEL_ENCODING_H
#define QUADTILE_TEXEL_ENCODING_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

// Meanings of the four bytes or halves of a texel.
const uint ENCODING_FLOAT32 = 0;
const uint ENCODING_FLOAT16 = 1;
const uint ENCODING_UNORM8 = 2;
const uint ENCODING_UNORM16 = 3;
const uint ENCODING_SRGB8 = 4;  // colours; a fourth channel is unorm

// Returns the largest code of a unorm or sRGB channel.
QUADTILE_SHARED uint encoding_largest_code(uint encoding) {
    return encoding == ENCODING_UNORM16 ? 65535U : 255U;
}

// Tables of the sRGB curve: the linear light of each code; the borders between codes (the last is
// above all light); and for each cell of floats the code to start a search from, four in a word.
// The bits of a float from 2^-13 to 1, without the last 16, name its cell. No cell has more than
// one border in it, so its code is the start or the next one.
const uint SRGB_CODES = 256;
const uint SRGB_DARKEST = 0x39000000U;    // 2^-13: it and all darker light is code 0
const uint SRGB_BRIGHTEST = 0x3f7fffffU;  // the float below 1: code 255
const uint SRGB_START_WORDS = 416;

struct SrgbTables {
    float light[SRGB_CODES];
    float border[SRGB_CODES];
    uint starts[SRGB_START_WORDS];
};

// Returns the cell of light between the darkest and the brightest, given as bits.
QUADTILE_SHARED uint srgb_cell(uint bits) {
    return (bits - SRGB_DARKEST) >> 16;
}

// Rounds a float to the nearest half, ties to even; both are given as IEEE 754 binary32 bits.
QUADTILE_SHARED uint round_to_half(uint bits) {
    const uint sign = bits & 0x80000000U;
    const uint magnitude = bits & 0x7fffffffU;
    const uint infinity = 0x7f800000U;
    if (magnitude >= infinity) {
        return bits;
    }
    // A half has 10 digits behind the point, and fewer below 2^-14; the last one is 2^-24.
    const uint exponent = magnitude >> 23;
    const uint lost = exponent >= 113 ? 13 : 126 - exponent;
    if (lost > 24) {
        return sign;
    }
    const uint digits = (magnitude & 0x007fffffU) | 0x00800000U;
    const uint half_unit = 1U << (lost - 1);
    const uint odd = (digits >> lost) & 1U;
    const uint kept = ((digits + half_unit - 1 + odd) >> lost) << lost;
    // If the digits carry into the next power of two, they raise the exponent. 24 lost digits leave
    // 0 or 2^24 units of the lowest exponent.
    if (kept == 0) {
        return sign;
    }
    const uint rounded = (exponent << 23) + kept - 0x00800000U;
    return sign | (rounded >= 0x47800000U ? infinity : rounded);
}

// Returns the IEEE 754 bits of the float nearest to c / (2^bits - 1), for bits = 8 or 16. In binary
// that fraction is the bits of c, repeated for ever. 32 bits hold whole repetitions, so moving the
// leading one to the top is a rotation. A remainder whose top bit is set is always above one half.
QUADTILE_SHARED uint bits_from_unorm(uint c, uint bits) {
    const uint largest = (1U << bits) - 1;
    if (c == 0) {
        return 0;
    }
    if (c == largest) {
        return 0x3f800000U;  // 1
    }
    const uint fraction = bits == 8 ? c * 0x01010101U : c * 0x00010001U;
    const uint shift = 31 - QUADTILE_HIGHEST_BIT(fraction);
    const uint digits = shift == 0 ? fraction : (fraction << shift) | (fraction >> (32 - shift));
    const uint mantissa = (digits >> 8) + ((digits >> 7) & 1U);
    return ((126 - shift) << 23) + (mantissa - 0x00800000U);
}

// ---- Importance as an unsigned key, for exact maxima and comparisons in every float mode of a GPU
//
// Keys are integers in the order -inf < ... < -0 < +0 < ... < +inf < NaN of either sign. Settling
// an importance keeps this order, so only the maximum is settled: NaN counts as +inf; -0 and
// denormals (magnitudes below 2^-126) count as 0, because texture units may flush denormals before
// a shader sees them. 0 is the key of -inf, the identity of the maximum.

const uint KEY_BIAS = 0x807fffffU;      // result of the sign fold for -inf
const uint KEY_INFINITY = 0xff000001U;  // keys above it: NaN
const uint INFINITY_BITS = 0x7f800000U;
const uint NAN_BITS = 0x7fc00000U;
const uint DENORMALS = 0x007fffffU;  // largest denormal of each sign

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
// Returns the exact value of a texel of a unorm format with 8 or 16 bits, as the texture unit
// returns it.
float unorm_texel(float texel, uint unorm_bits) {
    const uint c = uint(texel * float((1U << unorm_bits) - 1) + 0.5);
    return uintBitsToFloat(bits_from_unorm(c, unorm_bits));
}

float settled(float value) {
    return uintBitsToFloat(settled_bits(key_from_bits(floatBitsToUint(value))));
}
#endif

QUADTILE_NAMESPACE_END

#endif
