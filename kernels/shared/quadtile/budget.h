/// \file
/// Budgets of tiles: the factors that scale thresholds until the budget is kept, and the factors
/// under which a node is split.
///
/// Factor i is the float with the bits 0x3f800000 + (i << 17): 1, 1 + 1/64, ..., 2, 2 + 1/32, ...,
/// the last just below 2^32. So thresholds are scaled in steps of 0.8 to 1.6 percent.
///
/// All arithmetic is on integers, because Vulkan leaves the rounding of float products and
/// quotients to the device. Factors have 7 digits, so a product with the 24 digits of a float fits
/// a word. Importances are settled as in pyramids (texel_encoding.h: no NaN, no -0, no denormals).
/// Thresholds are neither NaN nor negative, which Threshold ensures; denormal thresholds count as 0
/// here.

#ifndef QUADTILE_BUDGET_H
#define QUADTILE_BUDGET_H

#include "language.h"

QUADTILE_NAMESPACE_BEGIN

const uint BUDGET_OCTAVE_FACTORS = 64;                   ///< factors per power of two
const uint BUDGET_FACTORS = 32 * BUDGET_OCTAVE_FACTORS;  ///< number of factors

const uint BITS_ONE = 0x3f800000U;       ///< 1 as a float
const uint BITS_INFINITY = 0x7f800000U;  ///< +infinity as a float
/// Digit in front of the point; also the smallest float that is not denormal, 2^-126.
const uint BITS_LEADING_DIGIT = 0x00800000U;

/// Returns the 24 digits of a float that is neither 0 nor denormal, as an integer.
QUADTILE_SHARED uint digits_of_bits(uint bits) {
    return (bits & (BITS_LEADING_DIGIT - 1)) | BITS_LEADING_DIGIT;
}

/// Returns factor i, for i < BUDGET_FACTORS.
QUADTILE_SHARED float budget_factor(uint i) {
    return float_from_bits(BITS_ONE + (i << 17));
}

/// Returns a threshold times factor i, rounded to the nearest float, ties to even; infinity above
/// the largest float. No product is denormal, since no factor is below 1.
QUADTILE_SHARED float scaled_threshold(float threshold, uint i) {
    const uint bits = bits_from_float(threshold);
    if (bits < BITS_LEADING_DIGIT) {
        return 0.0F;
    }
    // The product has 30 or 31 digits, of which 24 stay.
    const uint product = digits_of_bits(bits) * (BUDGET_OCTAVE_FACTORS + i % BUDGET_OCTAVE_FACTORS);
    const uint carry = product >> 30;
    const uint lost = 6 + carry;
    const uint odd = (product >> lost) & 1U;
    const uint digits = (product + (1U << (lost - 1)) - 1 + odd) >> lost;
    // If rounding gives 2^24 digits, the addition raises the exponent. The exponent stays below
    // 2^9, so the sum fits a word. That of infinity is 255 or more, so infinity stays infinity.
    const uint exponent = (bits >> 23) + i / BUDGET_OCTAVE_FACTORS + carry;
    const uint scaled = (exponent << 23) + (digits - BITS_LEADING_DIGIT);
    return float_from_bits(scaled < BITS_INFINITY ? scaled : BITS_INFINITY);
}

/// Returns the number of factors under which a node of level 1 or above is split: exactly those
/// with i < budget_bin, which is the same as importance >= scaled_threshold(threshold, i). 0: not
/// split under factor 1; BUDGET_FACTORS: split under all factors.
///
/// Without rounding, v >= t > 0 reaches f * t for all factors f up to v / t. The integer quotient,
/// cut off, gives their number exactly. Rounding removes none of them: a product that is at most v
/// stays so, because v is a float. It may add the next factor, if its product above v is rounded to
/// v, but no further one: that factor is larger by more than 2^-7, so its product is above the
/// float that follows v (or infinite). So one comparison is enough.
QUADTILE_SHARED uint budget_bin(float importance, float threshold) {
    const uint v = bits_from_float(importance);
    const uint given = bits_from_float(threshold);
    const uint t = given < BITS_LEADING_DIGIT ? 0 : given;
    // As signed integers, floats of one sign compare as floats, and negative ones are less.
    if (int(v) < int(t)) {
        return 0;
    }
    // A threshold of 0 stays 0 under every factor. No threshold exceeds an infinite importance, and
    // no other importance reaches an infinite threshold.
    if (t == 0 || v == BITS_INFINITY) {
        return BUDGET_FACTORS;
    }
    // Both are finite and not denormal here. The quotient of the digits is between 1/2 and 2, so 64
    // or 128 times it is 64 to 127: the factors reached within the octave.
    const uint v_digits = digits_of_bits(v);
    const uint t_digits = digits_of_bits(t);
    const uint borrow = v_digits < t_digits ? 1 : 0;
    const uint octave = (v >> 23) - (t >> 23) - borrow;
    const uint quotient = (v_digits << (6 + borrow)) / t_digits;
    const uint reached = octave * BUDGET_OCTAVE_FACTORS + quotient - BUDGET_OCTAVE_FACTORS + 1;
    if (reached >= BUDGET_FACTORS) {
        return BUDGET_FACTORS;
    }
    return v >= bits_from_float(scaled_threshold(threshold, reached)) ? reached + 1 : reached;
}

QUADTILE_NAMESPACE_END

#endif
