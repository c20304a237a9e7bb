#include "draw_tiles.hpp"

#include <quadtile/reference.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadtile::app::test {
namespace {

constexpr float BEYOND_ALL = std::numeric_limits<float>::infinity();

TEST(ColourScale, BrightensWithImportance) {
    std::vector<float> importance;
    for (int i = 0; i <= 100; ++i) {
        importance.push_back(std::exp2(static_cast<float>(i) / 10.0F));
    }
    const ColourScale scale(importance);
    int brightness = -1;
    for (std::size_t i = 5; i < 95; i += 5) {
        const Rgb colour = scale.colour(importance[i]);
        const int brighter = 2 * colour[0] + 5 * colour[1] + colour[2];
        EXPECT_GT(brighter, brightness);
        brightness = brighter;
    }
    EXPECT_EQ(scale.colour(1e-30F), scale.colour(importance.front()));
    EXPECT_EQ(scale.colour(1e30F), scale.colour(importance.back()));
}

TEST(ColourScale, OutliersDoNotCompressTheScale) {
    std::vector<float> importance(10000, 1.0F);
    for (std::size_t i = 0; i < 5000; ++i) {
        importance[i] = 16.0F;
    }
    const Rgb low = ColourScale(importance).colour(1.0F);
    importance[0] = 1e30F;
    importance[1] = 1e-30F;
    EXPECT_EQ(ColourScale(importance).colour(1.0F), low);
}

TEST(ColourScale, WhatIsNotOnTheScaleHasItsOwnColour) {
    for (const std::vector<float>& importance :
         {std::vector<float>{1.0F, 2.0F, 300.0F}, std::vector<float>{5.0F}, std::vector<float>{}}) {
        const ColourScale scale(importance);
        std::vector<Rgb> colours{scale.colour(0.0F), scale.colour(-1.0F), scale.colour(BEYOND_ALL),
                                 scale.colour(std::nanf("")), scale.colour(1.0F)};
        EXPECT_EQ(scale.colour(-BEYOND_ALL), colours[1]);
        EXPECT_EQ(scale.colour(-0.0F), colours[0]);
        std::ranges::sort(colours);
        EXPECT_TRUE(std::ranges::adjacent_find(colours) == colours.end());
    }
}

// Every shape can be drawn, by tiles of every size; the sanitizers watch the bounds.
TEST(DrawTiles, SizeFollowsFromTheMap) {
    using Extent = std::pair<std::uint32_t, std::uint32_t>;
    for (const auto& [size, expected] : {std::pair(Extent(1, 1), Extent(1024, 1024)),
                                         {Extent(5, 3), Extent(1025, 615)},
                                         {Extent(1, 600), Extent(2, 1200)},
                                         {Extent(1024, 1023), Extent(1024, 1023)},
                                         {Extent(4096, 2), Extent(4096, 2)},
                                         {Extent(4097, 3), Extent(2049, 2)},
                                         {Extent(1, 65536), Extent(1, 4096)}}) {
        const std::vector<float> texels(std::size_t{size.first} * size.second, 1.0F);
        const MapView map = view_of(texels, size.first, size.second);
        for (const float threshold : {0.5F, 2.0F}) {  // texels; one tile
            const TileList list = reference::subdivide(map, Threshold::constant(threshold));
            const Picture picture = draw_tiles(map, list.tiles);
            EXPECT_EQ(Extent(picture.width, picture.height), expected);
            EXPECT_EQ(picture.pixels.size(), std::size_t{picture.width} * picture.height);
        }
    }
}

TEST(DrawTiles, OutlinesLieBetweenTexels) {
    std::vector<float> texels(16, 1.0F);
    texels[0] = 8.0F;  // splits the upper left quarter
    const MapView map = view_of(texels, 4, 4);
    const TileList list = reference::subdivide(map, Threshold::constant(4.0F));
    ASSERT_EQ(list.tiles.size(), 7U);
    const Picture picture = draw_tiles(map, list.tiles);
    ASSERT_EQ(picture.width, 1024U);
    const auto at = [&](std::uint32_t x, std::uint32_t y) {
        return picture.pixels[std::size_t{y} * picture.width + x];
    };
    const Rgb inside = at(700, 700);
    EXPECT_EQ(at(768, 700), inside) << "no outline inside of a tile";
    EXPECT_NE(at(512, 700), inside);
    EXPECT_EQ(at(511, 700), inside) << "outlines are one pixel wide";
    EXPECT_EQ(at(513, 700), inside);
    EXPECT_NE(at(400, 256), at(400, 300));
    EXPECT_NE(at(0, 700), inside);
    EXPECT_NE(at(1023, 700), inside);
    EXPECT_NE(at(700, 1023), inside);
    EXPECT_NE(at(128, 128), inside) << "the important texel is drawn in another colour";
}

TEST(DrawTiles, ReducedMapsShowTheMaximum) {
    std::vector<float> texels(std::size_t{8192} * 2, 1.0F);
    texels[1001] = BEYOND_ALL;
    texels[8192 + 3001] = std::nanf("");
    texels[3000] = BEYOND_ALL;
    const Picture picture = draw_tiles(view_of(texels, 8192, 2), {});
    ASSERT_EQ(picture.width, 4096U);
    // The border is drawn over the only row; the colours under it still differ.
    EXPECT_NE(picture.pixels[500], picture.pixels[501]);
    EXPECT_NE(picture.pixels[1500], picture.pixels[500]);
    EXPECT_NE(picture.pixels[1500], picture.pixels[501]);
}

}  // namespace
}  // namespace quadtile::app::test
