// What the programs write: tile lists, levels of images, pictures. The random cases of programs
// have ordinary values; these have the odd ones.

#include "draw_tiles.hpp"
#include "save_image.hpp"
#include "support/temporary_directory.hpp"
#include "tiles_files.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>

namespace quadtile::app::test {
namespace {

constexpr float INF = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

// Real floats of all magnitudes, all that is special, and all sides of balanced lists.
TileList list_of_odd_values(Balance balance) {
    TileList list;
    list.shape = {65536, 40000, 1, TexelFormat::r32_float};
    list.nan_texels = 12345678901;
    list.balance = balance;
    std::mt19937 engine(7);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    const auto any_float = [&] {
        const auto value = std::bit_cast<float>(random());
        return std::isnan(value) ? INF : value;
    };
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::uint32_t flags = balance == Balance::none ? i % 2 : i % 32;
        list.tiles.push_back({random(), tile_node(random() % 17, flags, random() % 65536),
                              any_float(), std::abs(any_float())});
    }
    list.tiles.push_back({tile_position(1, 2), tile_node(3, 0, 0), -INF, INF});
    list.tiles.push_back({0, tile_node(16, 0, 0), std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::max()});
    list.tiles.push_back({0, 0, 16777217.0F, 0.1F});
    // Its shortest digits, read as a double, give another float.
    list.tiles.push_back({0, 0, -7.038531e-26F, 7.038531e-26F});
    return list;
}

// Catches digits that give another float, sides that are left out or named after another one, and
// fields at another place.
TEST(WriteTiles, GivesTheSameBitsBack) {
    for (const Balance balance : {Balance::none, Balance::edges, Balance::corners}) {
        const TileList list = list_of_odd_values(balance);
        const auto text = [&](TileFormat format) {
            std::string bytes;
            write_tiles(list, format, [&](std::string_view piece) { bytes += piece; });
            return bytes;
        };
        const TileList json = parse_json(text(TileFormat::json));
        const TileList binary = parse_binary(text(TileFormat::binary));
        EXPECT_TRUE(json.tiles == list.tiles);
        EXPECT_TRUE(binary.tiles == list.tiles);
        EXPECT_TRUE(parse_csv(text(TileFormat::csv), balance != Balance::none) == list.tiles);
        EXPECT_EQ(json.balance, balance);
        EXPECT_EQ(json.nan_texels, list.nan_texels);
        EXPECT_EQ(binary.nan_texels, list.nan_texels);
        EXPECT_EQ(binary.shape, list.shape);
        EXPECT_EQ(json.shape, list.shape);
    }
}

// Formats that random cases of programs do not read back by their texels. Catches channels that are
// swapped, cut off or converted.
TEST(SaveImage, KeepsEveryTexel) {
    const quadtile::test::TemporaryDirectory directory;
    std::mt19937 engine(1);
    std::vector<std::uint16_t> words(37 * 19 * 2);
    std::ranges::generate(words, [&] { return static_cast<std::uint16_t>(engine()); });
    const auto save = [&](TexelFormat format) {
        return directory.add("image", encode_image({words.data(), {37, 19, 1, format}}));
    };
    const LoadedImage srgb = load_image(save(TexelFormat::rgba8_srgb));
    EXPECT_EQ(srgb.shape, (ImageShape{37, 19, 1, TexelFormat::rgba8_srgb}));
    EXPECT_EQ(std::memcmp(srgb.texels.get(), words.data(), 37 * 19 * 4), 0);
    for (const auto& [channel, offset] : {std::pair("R", 0U), {"G", 1U}}) {
        const LoadedMap loaded = load_map(save(TexelFormat::rg16_float), channel);
        for (std::size_t i = 0; i < 37 * 19; ++i) {
            EXPECT_EQ(std::memcmp(&loaded.texels[2 * i], &words[2 * i + offset], 2), 0);
        }
    }
}

// Every shape can be drawn; the sanitizers watch the bounds. Catches outlines beside the tiles'
// edges, and bright texels that are lost in reduced maps or look like others.
TEST(DrawTiles, OutlinesLieBetweenTexelsOfTheWholeMap) {
    using Extent = std::pair<std::uint32_t, std::uint32_t>;
    for (const auto& [size, expected] : {std::pair(Extent(1, 1), Extent(1024, 1024)),
                                         {Extent(5, 3), Extent(1025, 615)},
                                         {Extent(1024, 1023), Extent(1024, 1023)},
                                         {Extent(1, 65536), Extent(1, 4096)}}) {
        const std::vector<float> ones(std::size_t{size.first} * size.second, 1.0F);
        const MapView map = view_of(ones, size.first, size.second);
        const Picture picture =
            draw_tiles(map, reference::subdivide(map, Threshold::constant(0.5F)).tiles);
        EXPECT_EQ(Extent(picture.width, picture.height), expected);
    }
    std::vector<float> texels(16, 1.0F);
    texels[0] = 8.0F;  // splits the upper left quarter
    const MapView map = view_of(texels, 4, 4);
    Picture picture = draw_tiles(map, reference::subdivide(map, Threshold::constant(4.0F)).tiles);
    const Rgb inside = picture.at(700, 700);
    for (const auto& [x, y, is_outline] : {std::tuple(768, 700, false),
                                           {512, 700, true},
                                           {511, 700, false},
                                           {513, 700, false},
                                           {400, 256, true},
                                           {400, 300, false},
                                           {0, 700, true},
                                           {700, 1023, true}}) {
        EXPECT_EQ(picture.at(x, y) != inside, is_outline) << x << ", " << y;
    }
    std::vector<float> wide(std::size_t{8192} * 2, 1.0F);
    wide[1001] = wide[3000] = INF;
    wide[8192 + 3001] = NOT_A_NUMBER;
    picture = draw_tiles(view_of(wide, 8192, 2), {});
    const std::set<Rgb> colours{picture.at(500, 0), picture.at(501, 0), picture.at(1500, 0)};
    EXPECT_EQ(colours.size(), 3U);
}

}  // namespace
}  // namespace quadtile::app::test
