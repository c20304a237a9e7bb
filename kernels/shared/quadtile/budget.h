/// \file
/// A budget of tiles: the factors that thresholds are scaled by until no more tiles are left than
/// there may be, and the factors under which a node is split.
///
/// Factor i is the float with the bits 0x3f800000 + (i << 17): 1, 1 + 1/64, ..., 2, 2 + 1/32, ...,
/// the last just below 2^32. So a budget is kept in steps of 0.8 to 1.6 percent of the thresholds.
///
/// All arithmetic is on integers: Vulkan leaves the rounding of float products to the device, and a
/// quotient's last bits, too. Factors have 7 digits, so a product with a float's 24 fits a word.
///
/// Importances are settled (importance_key.h: no NaN, no -0, no denormals), as pyramids hold them.
/// Thresholds are neither NaN nor negative, as Threshold sees to; their denormals count as 0 here.

#ifndef QUADTILE_BUDGET_H
#define QUADTILE_BUDGET_H

#include "language.h"
#ifdef __cplusplus
#include <bit>
#endif

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT BUDGET_OCTAVE_FACTORS = 64;  ///< from one power of two to the next
const QUADTILE_UINT BUDGET_FACTORS = 32 * BUDGET_OCTAVE_FACTORS;  ///< in all

const QUADTILE_UINT BITS_ONE = 0x3f800000U;            ///< of the float 1
const QUADTILE_UINT BITS_INFINITY = 0x7f800000U;       ///< of +infinity
const QUADTILE_UINT BITS_LEADING_DIGIT = 0x00800000U;  ///< 2^-126 too: below it lie denormals

/// The IEEE 754 bits of a float.
QUADTILE_SHARED QUADTILE_UINT bits_from_float(float value) {
#ifdef __cplusplus
    return std::bit_cast<QUADTILE_UINT>(value);
#else
    return floatBitsToUint(value);
#endif
}

/// The float with these IEEE 754 bits.
QUADTILE_SHARED float float_from_bits(QUADTILE_UINT bits) {
#ifdef __cplusplus
    return std::bit_cast<float>(bits);
#else
    return uintBitsToFloat(bits);
#endif
}

/// The 24 digits of a float that is neither 0 nor denormal, as an integer.
QUADTILE_SHARED QUADTILE_UINT digits_of_bits(QUADTILE_UINT bits) {
    return (bits & (BITS_LEADING_DIGIT - 1)) | BITS_LEADING_DIGIT;
}

/// Factor i, for i < BUDGET_FACTORS.
QUADTILE_SHARED float budget_factor(QUADTILE_UINT i) {
    return float_from_bits(BITS_ONE + (i << 17));
}

/// A threshold times factor i, rounded to the nearest float, ties to even. What is above all floats
/// is infinite. No product is denormal, since no factor is below 1.
QUADTILE_SHARED float scaled_threshold(float threshold, QUADTILE_UINT i) {
    const QUADTILE_UINT bits = bits_from_float(threshold);
    if (bits < BITS_LEADING_DIGIT) {
        return 0.0F;
    }
    // 30 or 31 digits, 24 of which stay.
    const QUADTILE_UINT product =
        digits_of_bits(bits) * (BUDGET_OCTAVE_FACTORS + i % BUDGET_OCTAVE_FACTORS);
    const QUADTILE_UINT carry = product >> 30;
    const QUADTILE_UINT lost = 6 + carry;
    const QUADTILE_UINT odd = (product >> lost) & 1U;
    const QUADTILE_UINT digits = (product + (1U << (lost - 1)) - 1 + odd) >> lost;
    // Digits that have been rounded up to 2^24 raise the exponent by the addition. It stays below
    // 2^9, so the sum fits a word; that of infinity begins with 255, so infinity stays.
    const QUADTILE_UINT exponent = (bits >> 23) + i / BUDGET_OCTAVE_FACTORS + carry;
    const QUADTILE_UINT scaled = (exponent << 23) + (digits - BITS_LEADING_DIGIT);
    return float_from_bits(scaled < BITS_INFINITY ? scaled : BITS_INFINITY);
}

/// The number of factors under which a node of level 1 or above is split: it is under factor i
/// exactly when i < budget_bin, which says the same as importance >= scaled_threshold(threshold,
/// i). 0 where it is not split even under factor 1, BUDGET_FACTORS where it is split under all.
///
/// Of two numbers v >= t > 0, v reaches f * t for the factors up to v / t where nothing is rounded;
/// how many these are follows from a quotient of integers, cut off, so it is exact. Rounding takes
/// none of them away: what is at most v stays so, as v is a float. It may add the one that follows,
/// whose product, above v, may become v; but no other: the next factor is larger by more than 2^-7,
/// so its product is above the float that follows v (or infinite), and stays there. So one
/// comparison settles it.
QUADTILE_SHARED QUADTILE_UINT budget_bin(float importance, float threshold) {
    const QUADTILE_UINT v = bits_from_float(importance);
    const QUADTILE_UINT given = bits_from_float(threshold);
    const QUADTILE_UINT t = given < BITS_LEADING_DIGIT ? 0 : given;
    // As signed integers floats of one sign compare as floats, and all that are negative are less.
    if (QUADTILE_INT(v) < QUADTILE_INT(t)) {
        return 0;
    }
    // 0 stays 0 however it is scaled; nothing that is finite exceeds an infinite importance. An
    // infinite threshold is reached by no other, so it goes this way too.
    if (t == 0 || v == BITS_INFINITY) {
        return BUDGET_FACTORS;
    }
    // Both are finite and not denormal now. Factors that are reached within the octave: the
    // quotient of the digits lies above 1/2 and below 2, so that of 64 or 128 times is 64 to 127.
    const QUADTILE_UINT v_digits = digits_of_bits(v);
    const QUADTILE_UINT t_digits = digits_of_bits(t);
    const QUADTILE_UINT borrow = v_digits < t_digits ? 1 : 0;
    const QUADTILE_UINT octave = (v >> 23) - (t >> 23) - borrow;
    const QUADTILE_UINT quotient = (v_digits << (6 + borrow)) / t_digits;
    const QUADTILE_UINT reached =
        octave * BUDGET_OCTAVE_FACTORS + quotient - BUDGET_OCTAVE_FACTORS + 1;
    if (reached >= BUDGET_FACTORS) {
        return BUDGET_FACTORS;
    }
    return v >= bits_from_float(scaled_threshold(threshold, reached)) ? reached + 1 : reached;
}

QUADTILE_NAMESPACE_END

#endif
