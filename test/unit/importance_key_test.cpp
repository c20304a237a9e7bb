#include <quadtile/importance_key.h>
#include <quadtile/unorm.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace quadtile {
namespace {

std::uint32_t key_of(float value) {
    return key_from_bits(std::bit_cast<std::uint32_t>(value));
}

TEST(ImportanceKey, OrdersAsTheFloatsDo) {
    using Limits = std::numeric_limits<float>;
    const std::vector<float> ascending{-Limits::infinity(),
                                       Limits::lowest(),
                                       -1.0F,
                                       -Limits::min(),
                                       -Limits::denorm_min(),
                                       -0.0F,
                                       0.0F,
                                       Limits::denorm_min(),
                                       Limits::min(),
                                       1.0F,
                                       Limits::max(),
                                       Limits::infinity()};
    for (std::size_t i = 1; i < ascending.size(); ++i) {
        EXPECT_LT(key_of(ascending[i - 1]), key_of(ascending[i])) << ascending[i];
    }
    EXPECT_EQ(key_of(-Limits::infinity()), 0U);
    EXPECT_EQ(key_of(0.0F), KEY_ZERO);
    EXPECT_EQ(key_of(Limits::infinity()), KEY_INFINITY);
}

TEST(ImportanceKey, EveryNaNIsAboveInfinity) {
    for (const std::uint32_t bits :
         {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffc00000U, 0xffffffffU}) {
        EXPECT_TRUE(key_is_nan(key_from_bits(bits))) << std::hex << bits;
        EXPECT_EQ(settle_key(key_from_bits(bits)), KEY_INFINITY);
    }
    EXPECT_FALSE(key_is_nan(KEY_INFINITY));
}

TEST(ImportanceKey, IsInverted) {
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 65521) {
        const auto word = static_cast<std::uint32_t>(bits);
        EXPECT_EQ(bits_from_key(key_from_bits(word)), word);
    }
}

TEST(ImportanceKey, SettlingTurnsNegativeZeroAndDenormalsIntoZero) {
    using Limits = std::numeric_limits<float>;
    const float largest_denormal = std::nextafter(Limits::min(), 0.0F);
    for (const float value : {-0.0F, 0.0F, Limits::denorm_min(), -Limits::denorm_min(),
                              largest_denormal, -largest_denormal}) {
        EXPECT_EQ(settle_key(key_of(value)), KEY_ZERO) << value;
    }
    for (const float value :
         {-INFINITY, -3.0F, -Limits::min(), Limits::min(), 7.0F, Limits::max(), INFINITY}) {
        EXPECT_EQ(settle_key(key_of(value)), key_of(value)) << value;
    }
}

// Exhaustive: every 8 and 16 bit value against the division, which IEEE 754 rounds correctly.
TEST(Unorm, BitsAreThoseOfTheNearestFloat) {
    for (const std::uint32_t bits : {8U, 16U}) {
        const std::uint32_t largest = (1U << bits) - 1;
        for (std::uint32_t c = 0; c <= largest; ++c) {
            const float quotient = static_cast<float>(c) / static_cast<float>(largest);
            ASSERT_EQ(bits_from_unorm(c, bits), std::bit_cast<std::uint32_t>(quotient)) << c;
        }
    }
}

}  // namespace
}  // namespace quadtile
