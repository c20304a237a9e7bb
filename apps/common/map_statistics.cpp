#include "map_statistics.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace quadtile::app {

namespace {

constexpr std::size_t KEYS =
    std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity()) >> 16U;

// Returns texels of a row, from column x on.
std::vector<float> row_of(const MapView& map, std::uint32_t x, std::uint32_t y,
                          std::uint32_t count) {
    const std::size_t first = std::size_t{y} * map.shape.width + x;
    const auto* const texels = static_cast<const std::byte*>(map.texels);
    return reference::decode(
        {texels + first * texel_size_bytes(map.shape.format), {count, 1, 1, map.shape.format}});
}

// Returns the least value of a key.
float first_value(std::size_t key) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(key) << 16U);
}

}  // namespace

float MapStatistics::percentile(double fraction) const {
    const double rank = std::clamp(fraction, 0.0, 1.0) *
                        std::accumulate(positive_by_key.begin(), positive_by_key.end(), 0.0);
    double below = 0.0;
    for (std::size_t key = 0; key < positive_by_key.size(); ++key) {
        below += positive_by_key[key];
        if (positive_by_key[key] > 0 && below >= rank) {
            return first_value(key);
        }
    }
    return 0.0F;
}

std::vector<float> MapStatistics::histogram(float low, float high, bool logarithmic,
                                            std::size_t count) const {
    const auto scale = [&](float value) { return logarithmic ? std::log2(value) : value; };
    const float bins_per_unit = static_cast<float>(count) / (scale(high) - scale(low));
    std::vector<float> bins(count);
    for (std::size_t key = 0; key < positive_by_key.size(); ++key) {
        if (positive_by_key[key] > 0) {
            const float place = (scale(first_value(key)) - scale(low)) * bins_per_unit;
            const float last = static_cast<float>(count) - 1.0F;
            bins[static_cast<std::size_t>(std::clamp(place, 0.0F, last))] +=
                static_cast<float>(positive_by_key[key]);
        }
    }
    return bins;
}

MapStatistics measure(const MapView& map) {
    check_shape(map.shape);
    MapStatistics result;
    result.positive_by_key.resize(KEYS);
    result.texels = std::uint64_t{map.shape.width} * map.shape.height;
    float min = std::numeric_limits<float>::infinity();
    float max = -min;
    for (std::uint32_t y = 0; y < map.shape.height; ++y) {
        const std::vector<float> row = row_of(map, 0, y, map.shape.width);
        for (std::uint32_t x = 0; x < map.shape.width; ++x) {
            const float value = std::fpclassify(row[x]) == FP_SUBNORMAL ? 0.0F : row[x];
            if (std::isfinite(value)) {
                min = std::min(min, value);
                max = std::max(max, value);
            }
            if (value > 0.0F && std::isfinite(value)) {
                ++result.positive_by_key[std::bit_cast<std::uint32_t>(value) >> 16U];
            } else if (value == 0.0F) {
                ++result.zero;
            } else {
                ++(std::isnan(value)   ? result.nan
                   : std::isinf(value) ? result.infinite
                                       : result.negative);
                if (result.odd_texels.size() < MapStatistics::MAX_ODD_TEXELS) {
                    result.odd_texels.push_back({x, y});
                }
            }
        }
    }
    if (min <= max) {
        result.min = min;
        result.max = max;
    }
    return result;
}

float texel_value(const MapView& map, std::uint32_t x, std::uint32_t y) {
    return row_of(map, x, y, 1).front();
}

Range automatic_range(const MapStatistics& statistics, bool logarithmic) {
    double low = statistics.percentile(0.005);
    double high = statistics.percentile(0.995);
    if (high <= 0.0) {  // no value is positive
        return logarithmic ? Range{0.5F, 2.0F} : Range{0.0F, 1.0F};
    }
    if (!logarithmic) {
        return {0.0F, static_cast<float>(high)};
    }
    constexpr double LEAST_RATIO = 4.0;
    if (high / low < LEAST_RATIO) {  // widens the range around its middle
        const double middle = std::sqrt(low * high);
        low = middle / std::sqrt(LEAST_RATIO);
        high = middle * std::sqrt(LEAST_RATIO);
    }
    // Keeps the range within normal floats.
    constexpr double LEAST = std::numeric_limits<float>::min();
    constexpr double GREATEST = std::numeric_limits<float>::max();
    low = std::clamp(low, LEAST, GREATEST / LEAST_RATIO);
    high = std::clamp(high, LEAST * LEAST_RATIO, GREATEST);
    return {static_cast<float>(low), static_cast<float>(high)};
}

}  // namespace quadtile::app
