// Small parts without a device: maps, numbers, tables of sRGB, tiles.

#include <quadtile/quadtree.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/error.hpp>
#include <quadtile/image.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/tiles.hpp>

#include "support/errors.hpp"
#include "values/texel_codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
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

}  // namespace
}  // namespace quadtile
