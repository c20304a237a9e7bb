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

TEST(Threshold, DenormalsCountAsZero) {
    const float denormal = std::numeric_limits<float>::denorm_min();
    const float normal = std::numeric_limits<float>::min();
    EXPECT_THAT(Threshold::constant(denormal).levels(1), ElementsAre(0.0F, 0.0F));
    EXPECT_THAT(Threshold::constant(normal).levels(1), ElementsAre(normal, normal));
    EXPECT_THAT(Threshold::per_level({normal, normal / 2}).levels(1), ElementsAre(normal, 0.0F));
    EXPECT_THAT(Threshold::max_resolution(2 * normal).levels(2),
                ElementsAre(2 * normal, normal, 0.0F));
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

TEST(Threshold, ScalingMultipliesEveryLevel) {
    EXPECT_THAT(Threshold::constant(3.0F).scaled(1.5F).levels(1), ElementsAre(4.5F, 4.5F));
    EXPECT_THAT(Threshold::per_level({3.0F, 0.0F}).scaled(4.0F).levels(1),
                ElementsAre(12.0F, 0.0F));
    EXPECT_THAT(Threshold::constant(INFINITY).scaled(2.0F).levels(0), ElementsAre(INFINITY));
    EXPECT_THAT(Threshold::constant(3.0F).scaled(1.0F).levels(0), ElementsAre(3.0F));
}

TEST(Threshold, ScalingIsOfTheLevelsNotOfWhatTheyAreMadeFrom) {
    // Neither does twice the resolution overflow at all levels, nor does a denormal come back.
    const float largest = std::numeric_limits<float>::max();
    const float normal = std::numeric_limits<float>::min();
    EXPECT_THAT(Threshold::max_resolution(largest).scaled(2.0F).levels(2),
                ElementsAre(INFINITY, largest, largest / 2));
    EXPECT_THAT(Threshold::max_resolution(normal).scaled(2.0F).levels(1),
                ElementsAre(2 * normal, 0.0F));
}

TEST(Threshold, ScalingTwiceRoundsTwice) {
    const float t = std::nextafter(1.0F, 2.0F);
    const float factor = 1.0F + 1.0F / 64.0F;
    const float once = t * factor;
    const float twice = once * factor;
    EXPECT_THAT(Threshold::constant(t).scaled(factor).scaled(factor).levels(0), ElementsAre(twice));
}

TEST(Threshold, OnlyFactorsOfBudgetsScale) {
    EXPECT_NO_THROW((void)Threshold::constant(1.0F).scaled(0x1.fcp31F));
    for (const float factor :
         {0.0F, -0.0F, -1.0F, 0.984375F, 1.0078125F, std::nextafter(2.0F, 3.0F), 0x1p32F, INFINITY,
          -INFINITY, std::nanf("")}) {
        EXPECT_THROW((void)Threshold::constant(1.0F).scaled(factor), Error) << factor;
    }
}

TEST(Threshold, WhatGrowsWithTheLevelIsNotMonotone) {
    EXPECT_NO_THROW(Threshold::per_level({2.0F, 2.0F, 1.0F}).check_monotone(2));
    EXPECT_NO_THROW(Threshold::max_resolution(8.0F).check_monotone(16));
    try {
        Threshold::per_level({2.0F, 1.0F, 1.5F}).check_monotone(2);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_THAT(error.what(), HasSubstr("level 2 has 1.5"));
        EXPECT_THAT(error.what(), HasSubstr("fused"));
        EXPECT_THAT(error.what(), HasSubstr("budgets"));
    }
}

TEST(Threshold, InfinityIsAllowed) {
    EXPECT_TRUE(std::isinf(Threshold::constant(INFINITY).levels(0).front()));
}

}  // namespace
}  // namespace quadtile
