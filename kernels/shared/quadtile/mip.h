/// \file
/// Mip levels of an image of any size, by three edge rules, one axis at a time (n texels at level
/// l, m at level l + 1):
///
///   - round_up: m = ceil(n / 2). Texel i is made from the existing ones of 2i and 2i + 1. The
///     quadtree's rule.
///   - fold: m = max(floor(n / 2), 1), as in Vulkan mip chains. The last texel includes the
///     remainder, so it is made from three texels if n is odd: nothing is lost.
///   - drop: m as for fold; the remainder is dropped, as in AMD's FidelityFX SPD.
///
/// An axis of one texel stays at one texel under every rule.

#ifndef QUADTILE_MIP_H
#define QUADTILE_MIP_H

#include "language.h"
#include "quadtree.h"

QUADTILE_NAMESPACE_BEGIN

const uint EDGE_ROUND_UP = 0;  ///< sizes rounded up: the quadtree's rule
const uint EDGE_FOLD = 1;      ///< rounded down; the last texel includes the remainder
const uint EDGE_DROP = 2;      ///< rounded down; the remainder is dropped

const uint REDUCE_MAX = 0;      ///< largest of the covered texels
const uint REDUCE_MIN = 1;      ///< smallest of the covered texels
const uint REDUCE_MEAN = 2;     ///< their mean with equal weights
const uint REDUCE_SUM = 3;      ///< their sum
const uint REDUCE_MIN_MAX = 4;  ///< minimum in the first channel, maximum in the second
const uint REDUCE_CUSTOM = 5;   ///< by the caller's GLSL

/// Returns the texels of a level along one axis of an image of `extent` texels.
QUADTILE_SHARED uint mip_extent(uint extent, uint level, uint edge_rule) {
    if (edge_rule == EDGE_ROUND_UP) {
        return level_extent(extent, level);
    }
    return extent >> level != 0 ? extent >> level : 1;
}

/// Returns the last texel of level - 1 that texel `i` of `level` is made from; the first is 2 * i.
QUADTILE_SHARED uint mip_last_child(uint extent, uint level, uint i, uint edge_rule) {
    const uint last_below = mip_extent(extent, level - 1, edge_rule) - 1;
    const bool takes_the_rest =
        edge_rule == EDGE_FOLD && i + 1 == mip_extent(extent, level, edge_rule);
    return takes_the_rest || last_below < 2 * i + 1 ? last_below : 2 * i + 1;
}

/// Returns the texels of the image that the last texel of a level covers; all others cover 2^level.
QUADTILE_SHARED uint mip_last_coverage(uint extent, uint level, uint edge_rule) {
    if (edge_rule == EDGE_DROP) {
        const uint halvings = QUADTILE_HIGHEST_BIT(extent);
        return 1U << (level < halvings ? level : halvings);
    }
    return extent - ((mip_extent(extent, level, edge_rule) - 1) << level);
}

/// Returns 2^level / coverage, cut off after 24 bits, for `coverage` below 2^31. It uses integers,
/// because float divisions differ from device to device.
QUADTILE_SHARED float mip_weight(uint level, uint coverage) {
    uint quotient = (1U << level) / coverage;
    uint remainder = (1U << level) % coverage;
    float unit = 1.0F;
    for (uint digit = 0; digit < 25; ++digit) {
        if (remainder != 0 && quotient < 0x00800000U) {
            remainder = 2 * remainder;
            quotient = 2 * quotient;
            unit = unit * 0.5F;
            if (remainder >= coverage) {
                remainder = remainder - coverage;
                quotient = quotient + 1;
            }
        }
    }
    return float(quotient) * unit;
}

QUADTILE_NAMESPACE_END

#endif
