// What the values of a map are like: for its range of colours, its histogram and its oddities.

#pragma once

#include <quadtile/image.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::viewer {

struct TexelPosition {
    std::uint32_t x;
    std::uint32_t y;
};

struct MapStatistics {
    std::uint64_t texels = 0;
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;  // of either sign
    std::uint64_t negative = 0;  // finite
    std::uint64_t zero = 0;      // and -0 and denormals, which are 0 to a subdivision
    float min = 0.0F;            // of the finite values; 0 where there are none
    float max = 0.0F;
    // The first of those that are NaN, infinite or negative, row by row: no colour scale has a
    // place for them.
    static constexpr std::size_t MAX_ODD_TEXELS = 1000;
    std::vector<TexelPosition> odd_texels;
    // Positive finite values, by the upper 16 bits of the float: 128 bins an octave.
    std::vector<std::uint32_t> positive_by_key;

    // The value below which a fraction of the positive finite values lies, to 1/128 octave; 0 where
    // there are none.
    [[nodiscard]] float percentile(double fraction) const;

    // The numbers of positive finite values in `count` bins of one width from low to high, or of
    // one ratio; those outside count to the bins at the ends. Positive low < high.
    [[nodiscard]] std::vector<float> histogram(float low, float high, bool logarithmic,
                                               std::size_t count) const;
};

// Of layer 0.
[[nodiscard]] MapStatistics measure(const MapView& map);

// Of layer 0, as it is in the file.
[[nodiscard]] float texel_value(const MapView& map, std::uint32_t x, std::uint32_t y);

// The range of importance that colours are spread over where the user gives none: between the
// percentiles 0.5 and 99.5 of the positive values, two octaves at least on a logarithmic scale;
// from 0 on a linear one. For every map low < high, both finite, low > 0 where logarithmic.
struct Range {
    float low;
    float high;
};
[[nodiscard]] Range automatic_range(const MapStatistics& statistics, bool logarithmic);

}  // namespace quadtile::viewer
