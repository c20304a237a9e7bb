#include "map_statistics.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace quadtile::viewer {

namespace {

constexpr std::uint32_t INFINITE_BITS = 0x7f800000U;
constexpr std::uint32_t SIGN_BIT = 0x80000000U;
constexpr std::uint32_t LEAST_NORMAL_BITS = 0x00800000U;
constexpr std::uint32_t KEYS = INFINITE_BITS >> 16U;

// Returns where the bin of a key begins. Those of the last one end where floats do, at 2^128.
double first_value(std::size_t key) {
    const auto bits = static_cast<int>(key);
    return std::ldexp(128 + (bits & 127), (bits >> 7) - 134);
}

std::uint64_t sum(const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// Counts texels by the bits of their values.
class Counter {
 public:
    explicit Counter(std::uint32_t width) : width_(width), count_by_key_(KEYS) {}

    // Takes one branch for most texels: negative and infinite values are the greatest as integers.
    void add(std::uint32_t bits, std::uint64_t texel) {
        if (bits >= INFINITE_BITS) {
            bits = add_odd(bits, texel);
            if (bits >= INFINITE_BITS) {
                return;
            }
        }
        ++count_by_key_[bits >> 16U];
        min_bits_ = std::min(min_bits_, bits);
        max_bits_ = std::max(max_bits_, bits);
    }

    [[nodiscard]] MapStatistics finish(std::uint64_t texels) {
        const auto least_normal = count_by_key_.begin() + std::ptrdiff_t{LEAST_NORMAL_BITS >> 16U};
        statistics_.texels = texels;
        statistics_.zero = std::accumulate(count_by_key_.begin(), least_normal, std::uint64_t{0});
        std::fill(count_by_key_.begin(), least_normal, 0U);
        if (min_bits_ <= max_bits_) {  // otherwise no value is non-negative
            min_ = std::min(min_, flushed(min_bits_));
            max_ = std::max(max_, flushed(max_bits_));
        }
        if (min_ <= max_) {
            statistics_.min = min_;
            statistics_.max = max_;
        }
        statistics_.positive_by_key = std::move(count_by_key_);
        return std::move(statistics_);
    }

 private:
    static float flushed(std::uint32_t bits) {
        return bits < LEAST_NORMAL_BITS ? 0.0F : std::bit_cast<float>(bits);
    }

    // Returns what remains to be counted: a zero, or the same bits.
    std::uint32_t add_odd(std::uint32_t bits, std::uint64_t texel) {
        const std::uint32_t magnitude = bits & ~SIGN_BIT;
        if (magnitude < LEAST_NORMAL_BITS) {
            return 0;
        }
        if (magnitude > INFINITE_BITS) {
            ++statistics_.nan;
        } else if (magnitude == INFINITE_BITS) {
            ++statistics_.infinite;
        } else {
            ++statistics_.negative;
            min_ = std::min(min_, std::bit_cast<float>(bits));
            max_ = std::max(max_, std::bit_cast<float>(bits));
        }
        if (statistics_.odd_texels.size() < MapStatistics::MAX_ODD_TEXELS) {
            statistics_.odd_texels.push_back({static_cast<std::uint32_t>(texel % width_),
                                              static_cast<std::uint32_t>(texel / width_)});
        }
        return bits;
    }

    std::uint32_t width_;
    std::vector<std::uint32_t> count_by_key_;  // values that are neither negative nor infinite
    std::uint32_t min_bits_ = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t max_bits_ = 0;
    float min_ = std::numeric_limits<float>::infinity();
    float max_ = -std::numeric_limits<float>::infinity();
    MapStatistics statistics_;
};

template <typename T, typename Bits>
MapStatistics count(const MapView& map, Bits&& bits_of) {
    const auto* const texels = static_cast<const T*>(map.texels);
    const std::uint64_t number = std::uint64_t{map.shape.width} * map.shape.height;
    Counter counter(map.shape.width);
    for (std::uint64_t i = 0; i < number; ++i) {
        counter.add(bits_of(texels[i]), i);
    }
    return counter.finish(number);
}

// Counts the texels of a type T (std::uint8_t or std::uint16_t). Decodes each possible value once,
// instead of each texel.
template <typename T>
MapStatistics count_coded(const MapView& map) {
    std::vector<T> codes(std::size_t{1} << (8 * sizeof(T)));
    std::iota(codes.begin(), codes.end(), T{0});
    const std::vector<float> values = reference::decode(
        {codes.data(), {256, static_cast<std::uint32_t>(codes.size() / 256), 1, map.shape.format}});
    return count<T>(map, [&](T code) { return std::bit_cast<std::uint32_t>(values[code]); });
}

// Adds a number to the bins that the interval [from, to) covers, to each its share. The bins at the
// ends get what lies outside.
void spread(std::vector<double>& bins, double from, double to, double number) {
    const double last = static_cast<double>(bins.size()) - 1.0;
    const double first_bin = std::clamp(std::floor(from), 0.0, last);
    const double last_bin = std::clamp(std::floor(to), 0.0, last);
    for (double bin = first_bin; bin <= last_bin; ++bin) {
        const double begin = bin == first_bin ? from : bin;
        const double end = bin == last_bin ? to : bin + 1.0;
        bins[static_cast<std::size_t>(bin)] += number * (end - begin) / (to - from);
    }
}

}  // namespace

float MapStatistics::percentile(double fraction) const {
    const double rank = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(sum(positive_by_key));
    double below = 0.0;
    for (std::size_t key = 0; key < positive_by_key.size(); ++key) {
        const double number = positive_by_key[key];
        if (number > 0.0 && below + number >= rank) {
            const double first = first_value(key);
            const double value = first + (first_value(key + 1) - first) * ((rank - below) / number);
            return static_cast<float>(std::min(value, double{max}));
        }
        below += number;
    }
    return 0.0F;
}

std::vector<float> MapStatistics::histogram(float low, float high, bool logarithmic,
                                            std::size_t count) const {
    const auto scale = [&](double value) { return logarithmic ? std::log2(value) : value; };
    const double first = scale(low);
    const double bins_per_unit = static_cast<double>(count) / (scale(high) - first);
    const auto position = [&](std::size_t key) {
        return (scale(first_value(key)) - first) * bins_per_unit;
    };
    std::vector<double> bins(count);
    for (std::size_t key = 0; key < positive_by_key.size(); ++key) {
        if (positive_by_key[key] > 0) {
            spread(bins, position(key), position(key + 1), positive_by_key[key]);
        }
    }
    return {bins.begin(), bins.end()};
}

MapStatistics measure(const MapView& map) {
    check_shape(map.shape);
    switch (texel_size_bytes(map.shape.format)) {
        case 1:
            return count_coded<std::uint8_t>(map);
        case 2:
            return count_coded<std::uint16_t>(map);
        default:  // a map has one channel of floats
            return count<float>(map,
                                [](float value) { return std::bit_cast<std::uint32_t>(value); });
    }
}

float texel_value(const MapView& map, std::uint32_t x, std::uint32_t y) {
    const std::size_t texel = std::size_t{y} * map.shape.width + x;
    const auto* const first = static_cast<const std::byte*>(map.texels);
    return reference::decode(
               {first + texel * texel_size_bytes(map.shape.format), {1, 1, 1, map.shape.format}})
        .front();
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

}  // namespace quadtile::viewer
