#include "compare_levels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace quadtile::app::test {
namespace {

constexpr float INFINITE = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

// A source that differs in each, and one level of the values.
template <typename Value>
MipChain chain_of(TexelFormat format, const std::vector<Value>& values) {
    static std::uint32_t different = 0;
    ++different;
    const auto bytes_of = [](const auto& from) {
        std::vector<std::byte> bytes(from.size() * sizeof(from[0]));
        std::memcpy(bytes.data(), from.data(), bytes.size());
        return bytes;
    };
    const auto width =
        static_cast<std::uint32_t>(values.size() * sizeof(Value) / texel_size_bytes(format));
    return {{{{1, 1, 1, TexelFormat::r32_float}, bytes_of(std::vector{different})},
             {{width, 1, 1, format}, bytes_of(values)}}};
}

TEST(LargestDifference, CountsCodes) {
    using Bytes = std::vector<std::uint8_t>;
    for (const TexelFormat format : {TexelFormat::rgba8_srgb, TexelFormat::rgba8_unorm}) {
        EXPECT_EQ(largest_difference(chain_of(format, Bytes{0, 9, 255, 7}),
                                     chain_of(format, Bytes{2, 8, 252, 7})),
                  3.0);
    }
    EXPECT_EQ(largest_difference(chain_of(TexelFormat::r8_unorm, Bytes{0, 255}),
                                 chain_of(TexelFormat::r8_unorm, Bytes{255, 255})),
              255.0);
    using Words = std::vector<std::uint16_t>;
    EXPECT_EQ(largest_difference(chain_of(TexelFormat::r16_unorm, Words{65535, 256}),
                                 chain_of(TexelFormat::r16_unorm, Words{65535, 1})),
              255.0);
}

TEST(LargestDifference, IsOfValuesForFloats) {
    const auto difference = [](const std::vector<float>& a, const std::vector<float>& b) {
        return largest_difference(chain_of(TexelFormat::r32_float, a),
                                  chain_of(TexelFormat::r32_float, b));
    };
    EXPECT_EQ(difference({1.0F, -2.0F}, {1.25F, -2.5F}), 0.5);
    EXPECT_EQ(difference({INFINITE, NOT_A_NUMBER, -0.0F}, {INFINITE, NOT_A_NUMBER, 0.0F}), 0.0);
    EXPECT_EQ(difference({1.0F}, {INFINITE}), INFINITE);
    EXPECT_EQ(difference({NOT_A_NUMBER}, {1.0F}), INFINITE);
    EXPECT_EQ(difference({INFINITE}, {-INFINITE}), INFINITE);
}

}  // namespace
}  // namespace quadtile::app::test
