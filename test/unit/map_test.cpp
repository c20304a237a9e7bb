#include <quadtile/error.hpp>
#include <quadtile/image.hpp>
#include <quadtile/reference.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace quadtile {
namespace {

TEST(Map, TopLevelIsTheCeilingOfTheLogarithm) {
    EXPECT_EQ(top_level(1, 1), 0U);
    EXPECT_EQ(top_level(2, 1), 1U);
    EXPECT_EQ(top_level(1, 3), 2U);
    EXPECT_EQ(top_level(1024, 1024), 10U);
    EXPECT_EQ(top_level(1025, 1), 11U);
    EXPECT_EQ(top_level(65536, 65536), 16U);
}

TEST(Map, ShapesWithoutTexelsAndTooLargeOnesAreRefused) {
    EXPECT_THROW(check_shape({0, 1}), Error);
    EXPECT_THROW(check_shape({1, 0}), Error);
    EXPECT_THROW(check_shape({1, 1, 0}), Error);
    EXPECT_THROW(check_shape({65537, 1}), Error);
    EXPECT_THROW(check_shape({65536, 65536}), Error);  // 2^32 texels
    EXPECT_THROW(check_shape({1, 1, 65537}), Error);
    EXPECT_NO_THROW(check_shape({65536, 65535}));
}

TEST(Map, AViewMustHaveAsManyTexelsAsAnnounced) {
    EXPECT_THROW((void)view_of(std::vector<float>(5), 2, 3), Error);
    EXPECT_NO_THROW((void)view_of(std::vector<float>(6), 2, 3));
}

// Exhaustive: all 65536 halves against the arithmetic of IEEE 754.
TEST(Map, HalvesDecodeExactly) {
    std::vector<std::uint16_t> halves(65536);
    for (std::uint32_t i = 0; i < halves.size(); ++i) {
        halves[i] = static_cast<std::uint16_t>(i);
    }
    const std::vector<float> floats =
        reference::decode({halves.data(), {256, 256, 1, TexelFormat::r16_float}});
    for (std::uint32_t i = 0; i < halves.size(); ++i) {
        const int exponent = static_cast<int>((i >> 10U) & 31U);
        const double fraction = static_cast<double>(i & 1023U) / 1024.0;
        const double sign = (i & 0x8000U) != 0 ? -1.0 : 1.0;
        if (exponent == 31) {
            EXPECT_TRUE(fraction == 0.0 ? std::isinf(floats[i]) : std::isnan(floats[i])) << i;
            continue;
        }
        const double value =
            exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15);
        EXPECT_EQ(floats[i], sign * value) << i;
        EXPECT_EQ(std::signbit(floats[i]), sign < 0) << i;
    }
}

TEST(Map, UnormTexelsAreFractionsOfTheLargest) {
    const std::uint8_t bytes[] = {0, 1, 51, 255};
    EXPECT_EQ(reference::decode({bytes, {4, 1, 1, TexelFormat::r8_unorm}}),
              (std::vector<float>{0.0F, 1.0F / 255.0F, 0.2F, 1.0F}));
    const std::uint16_t words[] = {0, 1, 65535};
    EXPECT_EQ(reference::decode({words, {3, 1, 1, TexelFormat::r16_unorm}}),
              (std::vector<float>{0.0F, 1.0F / 65535.0F, 1.0F}));
}

}  // namespace
}  // namespace quadtile
