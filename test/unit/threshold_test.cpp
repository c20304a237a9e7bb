#include <quadtile/error.hpp>
#include <quadtile/threshold.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace quadtile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Threshold, ConstantIsTheSameAtEveryLevel) {
    EXPECT_THAT(Threshold::constant(2.5F).levels(2), ElementsAre(2.5F, 2.5F, 2.5F));
}

TEST(Threshold, MaxResolutionHalvesWithEachLevel) {
    EXPECT_THAT(Threshold::max_resolution(256.0F).levels(3),
                ElementsAre(256.0F, 128.0F, 64.0F, 32.0F));
}

TEST(Threshold, MaxResolutionIsExactForDenormals) {
    const float smallest = std::numeric_limits<float>::denorm_min();
    EXPECT_THAT(Threshold::max_resolution(4 * smallest).levels(2),
                ElementsAre(4 * smallest, 2 * smallest, smallest));
}

TEST(Threshold, PerLevelIsTakenAsGiven) {
    EXPECT_THAT(Threshold::per_level({1.0F, 5.0F, 3.0F}).levels(2), ElementsAre(1.0F, 5.0F, 3.0F));
}

TEST(Threshold, PerLevelNeedsOneValueForEachLevel) {
    try {
        (void)Threshold::per_level({1.0F, 2.0F}).levels(4);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_THAT(error.what(), HasSubstr("5 levels"));
        EXPECT_THAT(error.what(), HasSubstr("2 level thresholds"));
    }
}

TEST(Threshold, NaNAndNegativeValuesAreRefused) {
    EXPECT_THROW((void)Threshold::constant(std::nanf("")), Error);
    EXPECT_THROW((void)Threshold::constant(-1.0F), Error);
    EXPECT_THROW((void)Threshold::max_resolution(-0.5F), Error);
    try {
        (void)Threshold::per_level({1.0F, -2.0F});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("level 1 is -2"));
    }
}

TEST(Threshold, NegativeZeroBecomesZero) {
    EXPECT_FALSE(std::signbit(Threshold::constant(-0.0F).levels(0).front()));
}

TEST(Threshold, InfinityIsAllowed) {
    EXPECT_TRUE(std::isinf(Threshold::constant(INFINITY).levels(0).front()));
}

}  // namespace
}  // namespace quadtile
