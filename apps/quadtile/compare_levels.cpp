#include "compare_levels.hpp"

#include "save_image.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace quadtile::app {

namespace {

template <typename Code>
double largest_code_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    int largest = 0;
    for (std::size_t i = 0; i < a.size(); i += sizeof(Code)) {
        Code code_a = 0;
        Code code_b = 0;
        std::memcpy(&code_a, a.data() + i, sizeof(Code));
        std::memcpy(&code_b, b.data() + i, sizeof(Code));
        largest = std::max(largest, std::abs(int{code_a} - int{code_b}));
    }
    return largest;
}

double value_difference(float a, float b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) {
        return 0.0;
    }
    const double difference = std::abs(double{a} - double{b});
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

double largest_value_difference(const MipChain::Level& a, const MipChain::Level& b) {
    const std::vector<reference::Texel> texels_a =
        reference::decode_texels({a.texels.data(), a.shape});
    const std::vector<reference::Texel> texels_b =
        reference::decode_texels({b.texels.data(), b.shape});
    double largest = 0.0;
    for (std::size_t i = 0; i < texels_a.size(); ++i) {
        for (std::size_t c = 0; c < channel_count(a.shape.format); ++c) {
            largest = std::max(largest, value_difference(texels_a[i][c], texels_b[i][c]));
        }
    }
    return largest;
}

}  // namespace

double largest_difference(const MipChain& a, const MipChain& b) {
    double largest = 0.0;
    for (std::size_t level = 1; level < a.levels.size(); ++level) {
        const MipChain::Level& level_a = a.levels[level];
        const MipChain::Level& level_b = b.levels[level];
        const TexelFormat format = level_a.shape.format;
        double difference = 0.0;
        if (!has_codes(format)) {
            difference = largest_value_difference(level_a, level_b);
        } else if (texel_size_bytes(format) / channel_count(format) == 2) {
            difference = largest_code_difference<std::uint16_t>(level_a.texels, level_b.texels);
        } else {
            difference = largest_code_difference<std::uint8_t>(level_a.texels, level_b.texels);
        }
        largest = std::max(largest, difference);
    }
    return largest;
}

}  // namespace quadtile::app
