// Small parts without a device: maps, numbers, tables of sRGB, tiles, thresholds, budgets.

#include <quadtile/budget.h>
#include <quadtile/quadtree.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/error.hpp>
#include <quadtile/image.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include "reference/budget.hpp"
#include "support/errors.hpp"
#include "support/maps.hpp"
#include "values/texel_codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace quadtile {
namespace {

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

// Catches texels that are read all the same.
TEST(Map, WhatTheReferenceCannotReadIsRefused) {
    const MapView none{nullptr, {2, 2, 2}};
    const std::pair<std::function<void()>, const char*> rows[] = {
        {[&] { (void)reference::decode(none); }, "null pointer"},
        {[&] { (void)reference::decode_texels(none); }, "null pointer"},
        {[&] { (void)reference::build_pyramid(none, 1); }, "null pointer"},
        {[&] { (void)reference::downsample(none, {.format = TexelFormat::r32_float}); },
         "null pointer"},
        {[&] { (void)Threshold::memory(1.0F, 1.0F, none); }, "null pointer"},
        {[] { (void)reference::build_pyramid(view_of(std::vector<float>(8), 2, 2, 2), 2); },
         "there is no layer 2"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, test::is_refused(text));
    }
}

// Exhaustive: the middle between each two halves goes to the even one, and the floats beside it to
// the nearer one. Kernels and twins share this code, so that comparing them shows nothing.
TEST(Map, FloatsRoundToTheNearestHalf) {
    std::vector<std::uint16_t> halves(0x7c01);  // from 0 to infinity, which comes behind 65504
    std::iota(halves.begin(), halves.end(), 0);
    std::vector<float> floats =
        reference::decode({halves.data(), {0x7c01, 1, 1, TexelFormat::r16_float}});
    floats.back() = 65536.0F;
    const auto rounded = [](float value) {
        return std::bit_cast<float>(round_to_half(std::bit_cast<std::uint32_t>(value)));
    };
    for (std::uint32_t i = 0; i + 1 < floats.size(); ++i) {
        const float above = i + 2 == floats.size() ? INFINITY : floats[i + 1];
        const float middle = 0.5F * (floats[i] + floats[i + 1]);
        ASSERT_EQ(rounded(floats[i]), floats[i]);
        ASSERT_EQ(rounded(std::nextafter(middle, 0.0F)), floats[i]);
        ASSERT_EQ(rounded(std::nextafter(middle, INFINITY)), above);
        ASSERT_EQ(rounded(middle), i % 2 == 0 ? floats[i] : above) << middle;
        ASSERT_EQ(rounded(-middle), i % 2 == 0 ? -floats[i] : -above);
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

// ---- The sRGB tables of the kernels: finding a code by a start and one comparison

std::uint32_t start_of(std::uint32_t cell) {
    return detail::srgb_tables().starts[cell / 4] >> (8 * (cell % 4)) & 0xffU;
}

// Encodes as kernels do; see downsample_items.glsl.
std::uint32_t code_by_tables(float linear) {
    const float value = std::clamp(linear, std::bit_cast<float>(SRGB_DARKEST),
                                   std::bit_cast<float>(SRGB_BRIGHTEST));
    const std::uint32_t code = start_of(srgb_cell(std::bit_cast<std::uint32_t>(value)));
    return code + (value >= detail::srgb_tables().border[code] ? 1U : 0U);
}

std::uint32_t code_by_search(float linear) {
    const auto& border = detail::srgb_tables().border;
    return static_cast<std::uint32_t>(std::upper_bound(border, std::end(border) - 1, linear) -
                                      border);
}

// A cell with two borders would give the wrong code beside one of them.
TEST(SrgbTables, FindTheCodeOfAllLight) {
    for (const float outside : {-1.0F, 0.0F, 1.0e-20F, 1.0F, 1.5F, 1.0e20F}) {
        EXPECT_EQ(code_by_tables(outside), code_by_search(outside)) << outside;
    }
    for (std::uint32_t bits = 0x38000000U; bits < 0x3f800010U; bits += 97) {
        const auto linear = std::bit_cast<float>(bits);
        ASSERT_EQ(code_by_tables(linear), code_by_search(linear)) << linear;
    }
    for (std::uint32_t code = 0; code < 255; ++code) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(detail::srgb_tables().border[code]);
        for (std::uint32_t near = bits - 2; near <= bits + 2; ++near) {
            const auto linear = std::bit_cast<float>(near);
            EXPECT_EQ(code_by_tables(linear), code_by_search(linear)) << linear;
        }
    }
}

// ---- Tiles

Tile tile_at(std::uint32_t level, std::uint32_t x, std::uint32_t y, std::uint32_t layer = 0) {
    return {tile_position(x, y), tile_node(level, 0, layer), 1.0F, 2.0F};
}

// Catches layers that do not lie together, and columns before rows.
TEST(Tiles, CanonicalOrderIsByLayerThenByMortonCodeOfTheFirstTexel) {
    TileList list;
    list.shape = {3, 2, 4};
    const std::vector<Tile> expected{tile_at(1, 0, 0), tile_at(0, 2, 0), tile_at(0, 2, 1),
                                     tile_at(2, 0, 0, 1), tile_at(2, 0, 0, 3)};
    list.tiles = expected;
    std::ranges::shuffle(list.tiles, std::mt19937(1));
    sort_canonical(list.tiles);
    EXPECT_EQ(list.tiles, expected);
    std::vector<Tile> tiles{tile_at(1, 0, 1), tile_at(0, 3, 0), tile_at(0, 2, 1), tile_at(1, 0, 0)};
    sort_canonical(tiles);
    EXPECT_EQ(tiles, (std::vector<Tile>{tile_at(1, 0, 0), tile_at(0, 3, 0), tile_at(0, 2, 1),
                                        tile_at(1, 0, 1)}));
    EXPECT_THAT(list.tiles_per_level(), testing::ElementsAre(2U, 1U, 2U));
}

// ---- Thresholds

using test::is_refused;

constexpr float SMALLEST = std::numeric_limits<float>::min();  // that is not denormal
constexpr float DENORMAL = std::numeric_limits<float>::denorm_min();
constexpr float LARGEST = std::numeric_limits<float>::max();

// Each kind's levels. Denormals and -0 count as 0, also after scaling, which is of the levels and
// not of what they are made from, and rounds each time.
TEST(Threshold, LevelsAreThoseOfTheirKind) {
    const float above_one = std::nextafter(1.0F, 2.0F);
    const float factor = 1.0F + 1.0F / 64.0F;
    const float once = above_one * factor;
    using T = Threshold;
    const std::pair<Threshold, std::vector<float>> rows[] = {
        {T::constant(2.5F), {2.5F, 2.5F, 2.5F}},
        {T::constant(INFINITY), {INFINITY}},
        {T::max_resolution(256.0F), {256.0F, 128.0F, 64.0F, 32.0F}},
        {T::per_level({1.0F, 5.0F, 3.0F}), {1.0F, 5.0F, 3.0F}},
        {T::constant(DENORMAL), {0.0F, 0.0F}},
        {T::per_level({SMALLEST, SMALLEST / 2}), {SMALLEST, 0.0F}},
        {T::max_resolution(2 * SMALLEST), {2 * SMALLEST, SMALLEST, 0.0F}},
        {T::constant(3.0F).scaled(1.5F), {4.5F, 4.5F}},
        {T::constant(INFINITY).scaled(2.0F), {INFINITY}},
        {T::max_resolution(LARGEST).scaled(2.0F), {INFINITY, LARGEST, LARGEST / 2}},
        {T::max_resolution(SMALLEST).scaled(2.0F), {2 * SMALLEST, 0.0F}},
        {T::constant(above_one).scaled(factor).scaled(factor), {once * factor}},
    };
    for (const auto& [threshold, levels] : rows) {
        EXPECT_EQ(threshold.levels(static_cast<std::uint32_t>(levels.size()) - 1), levels);
    }
    EXPECT_FALSE(std::signbit(T::constant(-0.0F).levels(0).front()));
}

TEST(Threshold, WhatCannotWorkIsRefused) {
    using T = Threshold;
    const std::pair<std::function<void()>, const char*> rows[] = {
        {[] {
             (void)T::per_level({1.0F, 2.0F}).levels(4);
         },
         "2 level thresholds"},
        {[] { (void)T::constant(std::nanf("")); }, "NaN"},
        {[] { (void)T::constant(-1.0F); }, "negative"},
        {[] { (void)T::max_resolution(-0.5F); }, "negative"},
        {[] {
             (void)T::per_level({1.0F, -2.0F});
         },
         "level 1 is -2"},
        {[] {
             T::per_level({2.0F, 1.0F, 1.5F}).check_monotone(2);
         },
         "level 2 has 1.5"},
        {[] {
             T::per_level({1.0F, 1.0F}).check_fits({5, 4, 2});
         },
         "2 level thresholds"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, is_refused(text));
    }
    EXPECT_NO_THROW(T::per_level({2.0F, 2.0F, 1.0F}).check_monotone(2));
    EXPECT_NO_THROW((void)T::constant(1.0F).scaled(0x1.fcp31F));
    for (const float factor :
         {0.0F, -0.0F, -1.0F, 0.984375F, 1.0078125F, std::nextafter(2.0F, 3.0F), 0x1p32F, INFINITY,
          -INFINITY, std::nanf("")}) {
        EXPECT_THROW((void)T::constant(1.0F).scaled(factor), Error) << factor;
    }
}

// ---- By node -----------------------------------------------------------------------------------

const std::vector<MapShape>& odd_shapes() {
    static const std::vector<MapShape> shapes{{1, 1},  {2, 1},   {1, 13},      {3, 3},   {5, 4, 2},
                                              {16, 8}, {33, 65}, {100, 37, 3}, {127, 1}, {1, 1, 5}};
    return shapes;
}

struct NodePlace {
    std::uint32_t level;
    std::uint32_t x;
    std::uint32_t y;
    std::uint32_t layer;
};

std::vector<NodePlace> nodes_of(const MapShape& shape) {
    std::vector<NodePlace> nodes;
    test::for_each_node(shape, [&](auto... place) { nodes.push_back({place...}); });
    return nodes;
}

float at(const ResolvedThreshold& thresholds, const NodePlace& node) {
    return thresholds.at(node.level, node.x, node.y, node.layer);
}

float& at(NodeThresholds& thresholds, const NodePlace& node) {
    return thresholds.at(node.level, node.x, node.y, node.layer);
}

std::string text_of(const NodePlace& node) {
    return "(level " + std::to_string(node.level) + ", x " + std::to_string(node.x) + ", y " +
           std::to_string(node.y) + ", layer " + std::to_string(node.layer) + ")";
}

TEST(NodeThresholds, EveryNodeHasAPlaceOfItsOwn) {
    for (const MapShape& shape : odd_shapes()) {
        NodeThresholds thresholds(shape.width, shape.height, shape.layers);
        EXPECT_EQ(thresholds.top(), top_level(shape.width, shape.height));
        float number = 0.0F;
        for (const NodePlace& node : nodes_of(shape)) {
            EXPECT_EQ(at(thresholds, node), 0.0F);
            at(thresholds, node) = ++number;
        }
        const ResolvedThreshold resolved = Threshold::map(thresholds).resolve(shape);
        const std::vector<float> contents =
            threshold_map_contents(Threshold::map(thresholds), shape);
        EXPECT_EQ(contents.size() * sizeof(float), threshold_map_size_bytes(shape));
        number = 0.0F;
        for (const NodePlace& node : nodes_of(shape)) {
            EXPECT_EQ(at(resolved, node), ++number);
            EXPECT_EQ(contents[threshold_map_index(shape.width, shape.height, shape.layers,
                                                   node.level, node.x, node.y, node.layer)],
                      number);
        }
    }
}

TEST(NodeThresholds, EveryParentAndChildMustBeMonotone) {
    for (const MapShape& shape : {MapShape{5, 4, 2}, MapShape{3, 3}, MapShape{1, 9}}) {
        const std::uint32_t top = top_level(shape.width, shape.height);
        NodeThresholds ones(shape.width, shape.height, shape.layers);
        for (const NodePlace& node : nodes_of(shape)) {
            at(ones, node) = 1.0F;
        }
        EXPECT_NO_THROW(Threshold::map(ones).check_monotone(top));
        EXPECT_TRUE(Threshold::map(ones).is_monotone(top));
        for (const NodePlace& node : nodes_of(shape)) {
            NodeThresholds thresholds = ones;
            at(thresholds, node) = std::nextafter(1.0F, 0.0F);
            const auto check = [&] { Threshold::map(thresholds).check_monotone(top); };
            EXPECT_EQ(Threshold::map(thresholds).is_monotone(top), node.level == top);
            if (node.level == top) {
                EXPECT_NO_THROW(check());
            } else {
                EXPECT_THAT(
                    check, is_refused("fused", "budgets",
                                      text_of({node.level + 1, node.x / 2, node.y / 2, node.layer}),
                                      "child at (" + std::to_string(node.x) + ", " +
                                          std::to_string(node.y) + ")"));
            }
        }
    }
}

TEST(NodeThresholds, WhatCannotWorkIsRefused) {
    const MapShape shape{5, 4, 2};
    const Threshold of_shape = Threshold::map(NodeThresholds(5, 4, 2));
    const Threshold bound = Threshold::bound_map();
    const std::pair<std::function<void()>, const char*> rows[] = {
        {[] { NodeThresholds(0, 1); }, "is empty"},
        {[] { NodeThresholds(1, 1, 0); }, "is empty"},
        {[] { NodeThresholds(MAX_MAP_EXTENT + 1, 1); }, "65536 texels on a side"},
        {[&] {
             of_shape.check_fits({6, 4, 2});
         },
         "5 x 4 texels with 2 layers"},
        {[&] {
             (void)of_shape.resolve({5, 3, 2});
         },
         "5 x 4 texels with 2 layers"},
        {[&] {
             of_shape.check_fits({5, 4, 1});
         },
         "5 x 4 texels with 2 layers"},
        {[&] { of_shape.check_monotone(4); }, ""},
        {[&] { (void)of_shape.levels(3); }, ""},
        {[&] { (void)bound.resolve(shape); }, "bound_map"},
        {[&] { bound.check_monotone(3); }, "bound_map"},
        {[&] { (void)bound.scaled(1.0F); }, "bound_map"},
        {[&] { (void)threshold_map_contents(bound, shape); }, "bound_map"},
        {[&] { (void)bound.levels(3); }, ""},
        {[&] { (void)Threshold::bound_monotone_map().resolve(shape); }, "bound_m"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, is_refused(text)) << text;
    }
    EXPECT_NO_THROW(of_shape.check_fits({5, 4, 2, TexelFormat::r8_unorm}));
    EXPECT_NO_THROW(bound.check_fits(shape));
    EXPECT_TRUE(of_shape.is_by_node() && bound.is_by_node() && !bound.is_monotone(3));
    EXPECT_TRUE(Threshold::bound_monotone_map().is_monotone(3));
    EXPECT_FALSE(Threshold::constant(1.0F).is_by_node());
    for (const NodePlace& node : nodes_of(shape)) {
        for (const float bad : {std::nanf(""), -1.0F, -INFINITY}) {
            NodeThresholds thresholds(shape.width, shape.height, shape.layers);
            at(thresholds, node) = bad;
            EXPECT_THAT([&] { (void)Threshold::map(thresholds); },
                        is_refused(text_of(node), std::isnan(bad) ? "is NaN" : "is -"));
        }
    }
}

// ---- By memory ---------------------------------------------------------------------------------

// The definition, with the whole square of a node.
float expected_by_memory(float max_resolution, float nodes, const std::vector<float>& fragments,
                         const MapShape& shape, const NodePlace& node) {
    const TexelRect rect =
        texels_of({tile_position(node.x, node.y), tile_node(node.level, 0, 0), 0.0F, 0.0F},
                  shape.width, shape.height);
    double sum = 0.0;
    for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
        for (std::uint32_t x = rect.left; x < rect.right; ++x) {
            sum += fragments[(std::size_t{node.layer} * shape.height + y) * shape.width + x];
        }
    }
    const double side = std::ldexp(1.0, static_cast<int>(node.level));
    const double mean = sum / (side * side);
    const double resolution =
        mean > 0.0 ? std::min<double>(max_resolution, std::sqrt(nodes / mean)) : max_resolution;
    const auto threshold = static_cast<float>(resolution / side);
    return threshold < std::numeric_limits<float>::min() ? 0.0F : threshold;
}

TEST(MemoryThreshold, IsItsDefinition) {
    for (const MapShape& shape : odd_shapes()) {
        std::vector<float> fragments = test::random_fragments(shape);
        for (float& count : fragments) {
            count *= 65537.0F;  // 32-bit floats would lose digits of their sums
        }
        for (const float max_resolution : {0.0F, 3.0F, 100.0F, INFINITY}) {
            for (const float nodes : {0.0F, 1.0F, 77.0F, 1e9F, INFINITY}) {
                const ResolvedThreshold thresholds =
                    Threshold::memory(max_resolution, nodes, {fragments.data(), shape})
                        .resolve(shape);
                for (const NodePlace& node : nodes_of(shape)) {
                    ASSERT_EQ(at(thresholds, node),
                              expected_by_memory(max_resolution, nodes, fragments, shape, node))
                        << text_of(node) << ", " << max_resolution << ", " << nodes;
                }
            }
        }
    }
}

TEST(MemoryThreshold, BadArgumentsAreNamed) {
    constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();
    const std::tuple<float, float, float, MapShape, const char*> rows[] = {
        {-1.0F, 1.0F, 0.0F, {4, 3, 2}, "largest resolution"},
        {NOT_A_NUMBER, 1.0F, 0.0F, {4, 3, 2}, "largest resolution"},
        {1.0F, -1.0F, 0.0F, {4, 3, 2}, "number of nodes"},
        {1.0F, NOT_A_NUMBER, 0.0F, {4, 3, 2}, "number of nodes"},
        {1.0F, 1.0F, NOT_A_NUMBER, {4, 3, 2}, "texel (x 3, y 2, layer 1)"},
        {1.0F, 1.0F, -1.0F, {4, 3, 2}, "texel (x 3, y 2, layer 1)"},
        {1.0F, 1.0F, INFINITY, {4, 3, 2}, "texel (x 3, y 2, layer 1)"},
        {1.0F, 1.0F, 0.0F, {0, 3}, "is empty"},
        {1.0F, 1.0F, 0.0F, {2, 3, 1, TexelFormat::rg32_float}, "one channel"}};
    for (const auto& [max_resolution, nodes, count, shape, text] : rows) {
        std::vector<float> fragments = test::random_fragments({4, 3, 2});
        fragments.back() = count;
        // Clang 14 captures no structured bindings.
        const auto make = [&, least = max_resolution, most = nodes, size = shape] {
            (void)Threshold::memory(least, most, {fragments.data(), size});
        };
        EXPECT_THAT(make, is_refused(text));
    }
}

// ---- Budgets -----------------------------------------------------------------------------------

// The bins of budget.h against all factors one by one. Random cases (test/random) look for the
// smallest factor, and for the least budget.

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

// A float that can be a threshold: of any magnitude, or at the edge of what they may be.
float random_threshold(std::mt19937& random) {
    constexpr float EDGES[] = {0.0F, DENORMAL, SMALLEST, 1.0F, 0x1p96F, LARGEST, INFINITY};
    const auto word = static_cast<std::uint32_t>(random());
    return word % 4 == 0 ? EDGES[word / 4 % 7] : std::bit_cast<float>(word % (BITS_INFINITY + 1));
}

// Importances at the borders of factors, where rounding may add one, and far from them.
TEST(Budget, ScaledThresholdsAndBinsAreThoseOfTheDefinition) {
    EXPECT_EQ(budget_factor(BUDGET_FACTORS - 1), 0x1.fcp31F);
    std::mt19937 random(3);
    int rounded_down = 0;
    for (int n = 0; n < 5000; ++n) {
        const float threshold = random_threshold(random);
        const std::uint32_t i = static_cast<std::uint32_t>(random()) % BUDGET_FACTORS;
        const float v = expected_scaled(threshold, i);
        ASSERT_EQ(scaled_threshold(threshold, i), v) << threshold << " times factor " << i;
        for (const float importance : {std::nextafter(v, 0.0F), v, std::nextafter(v, INFINITY),
                                       random_threshold(random), std::nanf(""), -1.0F}) {
            const float key = settled(importance);
            ASSERT_EQ(budget_bin(key, threshold), expected_bin(key, threshold))
                << importance << " over " << threshold;
        }
        rounded_down += double{v} < double{threshold} * double{budget_factor(i)} ? 1 : 0;
    }
    EXPECT_GT(rounded_down, 500);
}

}  // namespace
}  // namespace quadtile
