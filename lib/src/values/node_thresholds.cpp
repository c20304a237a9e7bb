#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/threshold.hpp>

#include "refuse.hpp"
#include "texel_codec.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace quadtile {

namespace {

void check_parameter(const char* name, float value) {
    if (std::isnan(value) || value < 0.0F) {
        detail::refuse("a threshold for memory needs a ", name,
                       " that is neither negative nor NaN, but it is ", value);
    }
}

// One level of one layer: the sums over its nodes, row by row.
struct Sums {
    std::uint32_t width;
    std::uint32_t height;
    std::vector<double> values;
};

// Returns the fragments of one layer at its texels.
Sums texel_sums(const MapShape& shape, std::span<const float> fragments, std::uint32_t layer) {
    Sums sums{shape.width, shape.height, {}};
    sums.values.reserve(fragments.size());
    for (const float count : fragments) {
        if (!std::isfinite(count) || count < 0.0F) {
            const std::size_t texel = sums.values.size();
            detail::refuse(
                "fragment counts must not be negative, infinite or NaN, but that of texel (x ",
                texel % shape.width, ", y ", texel / shape.width, ", layer ", layer, ") is ",
                count);
        }
        sums.values.push_back(count);
    }
    return sums;
}

Sums sums_above(const Sums& below) {
    Sums sums{(below.width + 1) / 2, (below.height + 1) / 2, {}};
    sums.values.resize(std::size_t{sums.width} * sums.height);
    for (std::uint32_t y = 0; y < below.height; ++y) {
        for (std::uint32_t x = 0; x < below.width; ++x) {
            sums.values[std::size_t{y / 2} * sums.width + x / 2] +=
                below.values[std::size_t{y} * below.width + x];
        }
    }
    return sums;
}

}  // namespace

NodeThresholds::NodeThresholds(std::uint32_t width, std::uint32_t height, std::uint32_t layers)
    : width_(width), height_(height), layers_(layers) {
    check_shape({width, height, layers});
    const std::size_t texels = std::size_t{width} * height;
    const std::size_t pitch = pyramid_pitch(width);
    places_.push_back({0, texels, width});
    for (std::uint32_t level = 1; level <= top(); ++level) {
        places_.push_back(
            {texels * layers + level_offset_y(height, level) * pitch + level_offset_x(width, level),
             pyramid_rows(height) * pitch, pitch});
    }
    values_.resize(threshold_map_size_bytes({width, height, layers}) / sizeof(float));
}

// With S the sum over a node's texels, the mean is S / 4^l, and
//
//     min(M, sqrt(nodes / mean)) / 2^l = min(M / 2^l, sqrt(nodes / S)),
//
// in floats too, because powers of two only change exponents. So the threshold is monotone: a
// parent's S is not below that of its child, its M / 2^l not above. Rounding keeps that order in
// sums of non-negative numbers, in quotients and roots, and to 32 bits.
//
// A mean over the texels inside the map alone would not be monotone. Take 3 x 3 texels with all
// fragments in the last one: the node of level 1 at the lower right covers 1 texel and has S / 1,
// the root covers 9 and has S / 9. So the root's threshold would be sqrt(nodes * 9 / S) / 4, above
// sqrt(nodes / S) / 2.
Threshold Threshold::memory(float max_resolution, float nodes, const MapView& fragments) {
    check_parameter("largest resolution", max_resolution);
    check_parameter("number of nodes", nodes);
    const MapShape& shape = fragments.shape;
    NodeThresholds thresholds(shape.width, shape.height, shape.layers);
    std::vector<float> counts = reference::decode(fragments);
    if (const std::uint32_t encoding = detail::encoding_of(shape.format);
        encoding >= ENCODING_UNORM8) {
        // Texels of unorm formats were read as parts of 1, but they are counts.
        const auto largest = static_cast<float>(encoding_largest_code(encoding));
        std::ranges::for_each(counts, [&](float& count) { count = std::round(count * largest); });
    }
    const std::size_t layer_texels = std::size_t{shape.width} * shape.height;
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        Sums sums =
            texel_sums(shape, std::span(counts).subspan(layer * layer_texels, layer_texels), layer);
        for (std::uint32_t level = 0; level <= thresholds.top(); ++level) {
            const double largest = std::ldexp(double{max_resolution}, -static_cast<int>(level));
            for (std::uint32_t y = 0; y < sums.height; ++y) {
                for (std::uint32_t x = 0; x < sums.width; ++x) {
                    const double sum = sums.values[std::size_t{y} * sums.width + x];
                    const double by_memory = sum > 0.0 ? std::sqrt(double{nodes} / sum) : largest;
                    thresholds.at(level, x, y, layer) =
                        static_cast<float>(std::min(largest, by_memory));
                }
            }
            sums = sums_above(sums);
        }
    }
    return map(std::move(thresholds));
}

}  // namespace quadtile
