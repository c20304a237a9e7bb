// Statistics of a map's values: range of colours, histogram and odd texels.

#pragma once

#include <quadtile/image.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::app {

struct TexelPosition {
    std::uint32_t x;
    std::uint32_t y;
};

struct MapStatistics {
    std::uint64_t texels = 0;
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;  // of either sign
    std::uint64_t negative = 0;  // finite
    std::uint64_t zero = 0;      // also -0 and denormals, which count as 0
    float min = 0.0F;            // of the finite values; 0 if there are none
    float max = 0.0F;
    // The first texels that are NaN, infinite or negative, row by row. Colour scales cannot show
    // them.
    static constexpr std::size_t MAX_ODD_TEXELS = 1000;
    std::vector<TexelPosition> odd_texels;
    // Counts of positive finite values by the upper 16 bits of the float: 128 bins per octave.
    std::vector<std::uint32_t> positive_by_key;

    // Returns the value below which a fraction of the positive finite values lies, less up to 1/128
    // octave; 0 if there are none.
    [[nodiscard]] float percentile(double fraction) const;

    // Counts positive finite values in `count` bins from low to high, of equal width or
    // (logarithmic) of equal ratio. The bins at the ends count the values outside. 0 < low < high.
    [[nodiscard]] std::vector<float> histogram(float low, float high, bool logarithmic,
                                               std::size_t count) const;
};

// Measures layer 0.
[[nodiscard]] MapStatistics measure(const MapView& map);

// Returns a texel of layer 0 as the file has it.
[[nodiscard]] float texel_value(const MapView& map, std::uint32_t x, std::uint32_t y);

// Default range of importance for the colours: percentiles 0.5 to 99.5 of the positive values, at
// least two octaves, on a logarithmic scale; from 0 on a linear one. For every map low < high, both
// are finite, and low > 0 if the scale is logarithmic.
struct Range {
    float low;
    float high;
};
[[nodiscard]] Range automatic_range(const MapStatistics& statistics, bool logarithmic);

}  // namespace quadtile::app
