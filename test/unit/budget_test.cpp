// Budgets of tiles: the bins of budget.h against all factors one by one, the histogram against
// subdivisions, and what `max_tiles` promises.

#include <quadtile/budget.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include "reference/budget.hpp"
#include "support/definition.hpp"
#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/tile_lists.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace quadtile {
namespace {

using test::is_refused;

constexpr float INF = std::numeric_limits<float>::infinity();
constexpr float SMALLEST = std::numeric_limits<float>::min();  // that is not denormal
constexpr float DENORMAL = std::numeric_limits<float>::denorm_min();
constexpr float LARGEST = std::numeric_limits<float>::max();

float settled(float importance) {
    return std::bit_cast<float>(
        settled_bits(key_from_bits(std::bit_cast<std::uint32_t>(importance))));
}

// By the processor's floats, which round to the nearest: 64 factors from each power of two to the
// next.
float expected_scaled(float threshold, std::uint32_t i) {
    const float factor =
        std::ldexp(1.0F + static_cast<float>(i % 64) / 64.0F, static_cast<int>(i / 64));
    return threshold < SMALLEST ? 0.0F : threshold * factor;
}

std::uint32_t expected_bin(float importance, float threshold) {
    std::uint32_t split = 0;
    for (std::uint32_t i = 0; i < BUDGET_FACTORS; ++i) {
        split += importance >= expected_scaled(threshold, i) ? 1 : 0;
    }
    return split;
}

// A float that can be a threshold.
float random_threshold(std::mt19937& random) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(random()) % (BITS_INFINITY + 1));
}

const std::vector<float> SPECIAL_THRESHOLDS{0.0F,
                                            DENORMAL,
                                            std::nextafter(SMALLEST, 0.0F),
                                            SMALLEST,
                                            std::nextafter(SMALLEST, 1.0F),
                                            0x1p-95F,
                                            0.1F,
                                            std::nextafter(1.0F, 0.0F),
                                            1.0F,
                                            std::nextafter(1.0F, 2.0F),
                                            3.0F,
                                            0x1p31F,
                                            0x1.fcp31F,
                                            0x1p32F,
                                            0x1p96F,
                                            0x1p127F,
                                            LARGEST,
                                            INF};

// Special values over each other, and at the borders of factors, where rounding may add one.
TEST(Budget, ScaledThresholdsAndBinsAreThoseOfTheDefinition) {
    EXPECT_EQ(budget_factor(BUDGET_FACTORS - 1), 0x1.fcp31F);
    std::vector<float> importances = SPECIAL_THRESHOLDS;
    importances.push_back(std::nanf(""));
    importances.push_back(-1.0F);
    for (const float importance : importances) {
        const float v = settled(importance);
        for (const float threshold : SPECIAL_THRESHOLDS) {
            EXPECT_EQ(budget_bin(v, threshold), expected_bin(v, threshold))
                << importance << " over " << threshold;
        }
    }
    for (const float threshold : SPECIAL_THRESHOLDS) {
        for (std::uint32_t i = 0; i < BUDGET_FACTORS; ++i) {
            EXPECT_EQ(scaled_threshold(threshold, i), expected_scaled(threshold, i)) << i;
        }
    }
    std::mt19937 random(3);
    int rounded_down = 0;
    for (int n = 0; n < 10000; ++n) {
        const float threshold = random_threshold(random);
        const std::uint32_t i = static_cast<std::uint32_t>(random()) % BUDGET_FACTORS;
        const float v = expected_scaled(threshold, i);
        ASSERT_EQ(scaled_threshold(threshold, i), v) << threshold << " times factor " << i;
        for (const float near : {std::nextafter(v, 0.0F), v, std::nextafter(v, INF)}) {
            ASSERT_EQ(budget_bin(settled(near), threshold), expected_bin(settled(near), threshold))
                << near << " over " << threshold;
        }
        rounded_down += double{v} < double{threshold} * double{budget_factor(i)} ? 1 : 0;
    }
    EXPECT_GT(rounded_down, 1000);
}

// ---- Maps --------------------------------------------------------------------------------------

struct SmallMap {
    MapShape shape;
    std::vector<float> texels;

    [[nodiscard]] MapView view() const {
        return view_of(texels, shape.width, shape.height, shape.layers);
    }
    [[nodiscard]] std::uint32_t top() const { return top_level(shape.width, shape.height); }
};

// Importances from 2^-8 to 2^24, so that nodes fall into bins of all octaves.
SmallMap wide_map(const MapShape& shape, bool special_values) {
    SmallMap map{shape, test::random_map(shape, shape.width)};
    for (float& texel : map.texels) {
        texel = std::ldexp(1.0F + texel, static_cast<int>(texel * 1024.0F) % 32 - 8);
    }
    if (special_values) {
        map.texels = test::with_special_values(map.texels, 24);
    }
    return map;
}

std::vector<SmallMap> small_maps() {
    std::vector<SmallMap> maps;
    for (const MapShape& shape :
         {MapShape{1, 1}, MapShape{1, 1, 3}, MapShape{2, 1}, MapShape{3, 3}, MapShape{1, 13},
          MapShape{17, 2}, MapShape{16, 16}, MapShape{21, 13}, MapShape{9, 11, 3}}) {
        maps.push_back(wide_map(shape, false));
        maps.push_back(wide_map(shape, true));
    }
    return maps;
}

// Monotone.
std::vector<Threshold> thresholds_for(const SmallMap& map) {
    const std::vector<float> fragments = test::random_fragments(map.shape);
    std::vector<float> falling;
    for (std::uint32_t level = 0; level <= map.top(); ++level) {
        falling.push_back(level > 2 ? 0.0F : 7.0F / static_cast<float>(level + 1));
    }
    return {
        Threshold::constant(0.3F),
        Threshold::constant(0.0F),
        Threshold::constant(INF),
        Threshold::constant(0x1p24F),
        Threshold::max_resolution(11.0F),
        Threshold::per_level(falling),
        Threshold::constant(0.7F).scaled(1.5F),
        Threshold::max_resolution(2 * SMALLEST),
        Threshold::memory(11.0F, 40.0F,
                          view_of(fragments, map.shape.width, map.shape.height, map.shape.layers))};
}

TEST(Budget, TheSmallestFactorThatKeepsTheBudgetIsTaken) {
    std::set<float> factors;
    for (const SmallMap& map : small_maps()) {
        for (const Threshold& threshold : thresholds_for(map)) {
            const auto tiles_under = [&](std::uint32_t factor) {
                return reference::subdivide(map.view(), threshold.scaled(budget_factor(factor)))
                    .tiles.size();
            };
            const std::uint64_t all = tiles_under(0);
            std::set<float> checked;  // each factor once: the definition takes its time
            for (std::uint64_t budget = tiles_under(BUDGET_FACTORS - 1); budget <= all; ++budget) {
                const TileList list =
                    reference::subdivide(map.view(), threshold, {.max_tiles = budget});
                ASSERT_TRUE(test::is_partition(list.tiles, map.shape));
                ASSERT_EQ(list.tiles,
                          reference::subdivide(map.view(), threshold.scaled(list.threshold_factor))
                              .tiles);
                ASSERT_LE(list.tiles.size(), budget);
                if (checked.insert(list.threshold_factor).second) {
                    ASSERT_EQ(test::wrong_budget(map.view(), threshold, list, budget), "");
                }
            }
            factors.merge(checked);
        }
    }
    EXPECT_GT(factors.size(), 200U);
    EXPECT_EQ(*factors.begin(), 1.0F);
    EXPECT_GT(*factors.rbegin(), 0x1p20F);
}

void expect_infeasible(const SmallMap& map, const Threshold& threshold, std::uint64_t least) {
    EXPECT_EQ(reference::subdivide(map.view(), threshold, {.max_tiles = least}).tiles.size(),
              least);
    for (const std::uint64_t budget : {std::uint64_t{0}, least - 1}) {
        EXPECT_THAT(
            [&] { (void)reference::subdivide(map.view(), threshold, {.max_tiles = budget}); },
            is_refused("max_tiles is " + std::to_string(budget) + ",",
                       "at least " + std::to_string(least) + " tiles",
                       "allow " + std::to_string(least) + " or more"));
    }
}

TEST(Budget, WhatNoFactorKeepsIsRefused) {
    const MapShape shape{4, 4, 3};
    SmallMap map{shape, test::constant_map(shape, 1e30F)};
    expect_infeasible(map, Threshold::constant(1e30F), 3);  // the layers
    expect_infeasible(map, Threshold::constant(1e20F), 48);
    expect_infeasible(map, Threshold::constant(0.0F), 48);
    expect_infeasible(map, Threshold::constant(DENORMAL), 48);
    expect_infeasible(map, Threshold::per_level({1e30F, 1e30F, 0.0F}), 12);
    map.texels[20] = INF;
    expect_infeasible(map, Threshold::constant(INF), 9);
    map.texels[0] = std::nanf("");
    expect_infeasible(map, Threshold::constant(1e30F), 15);
    EXPECT_THAT(
        [&] {
            (void)reference::subdivide(map.view(), Threshold::per_level({1.0F, 2.0F, 2.0F}),
                                       {.max_tiles = 48});
        },
        is_refused("level 1 has 2", "budget"));
}

}  // namespace
}  // namespace quadtile
