#include <quadtile/error.hpp>
#include <quadtile/tiles.hpp>

#include "support/errors.hpp"

#include <gmock/gmock.h>

namespace quadtile {
namespace {

using testing::HasSubstr;

Tile tile_at(std::uint32_t level, std::uint32_t x, std::uint32_t y, std::uint32_t layer = 0) {
    return {tile_position(x, y), tile_node(level, 0, layer), 1.0F, 2.0F};
}

TEST(Tiles, RectanglesAreCutAtTheMapsEdge) {
    EXPECT_EQ(texels_of(tile_at(2, 1, 0), 7, 3), (TexelRect{4, 0, 7, 3}));
    EXPECT_EQ(texels_of(tile_at(0, 6, 2), 7, 3), (TexelRect{6, 2, 7, 3}));
}

TEST(Tiles, CanonicalOrderIsByLayerThenByMortonCodeOfTheFirstTexel) {
    std::vector<Tile> tiles{tile_at(0, 3, 0), tile_at(1, 0, 0, 1), tile_at(1, 0, 1),
                            tile_at(0, 2, 1), tile_at(1, 0, 0),    tile_at(0, 2, 0)};
    sort_canonical(tiles);
    const std::vector<Tile> expected{tile_at(1, 0, 0), tile_at(0, 2, 0), tile_at(0, 3, 0),
                                     tile_at(0, 2, 1), tile_at(1, 0, 1), tile_at(1, 0, 0, 1)};
    EXPECT_EQ(tiles, expected);
}

TEST(Tiles, HolesOverlapsAndTilesOutsideAreFound) {
    EXPECT_THAT(check_partition({tile_at(1, 0, 0)}, {3, 2}), HasSubstr("2 of 6 texels"));
    EXPECT_THAT(check_partition({tile_at(2, 0, 0), tile_at(0, 2, 1)}, {3, 2}),
                HasSubstr("texel (2, 1)"));
    EXPECT_THAT(check_partition({tile_at(1, 2, 0)}, {3, 2}), HasSubstr("outside"));
    EXPECT_THAT(check_partition({tile_at(3, 0, 0)}, {3, 2}), HasSubstr("outside"));
    EXPECT_THAT(check_partition({tile_at(2, 0, 0, 1)}, {3, 2}), HasSubstr("outside"));
}

TEST(Tiles, CountsPerLevel) {
    TileList list;
    list.shape = {3, 2};
    list.tiles = {tile_at(1, 0, 0), tile_at(0, 2, 0), tile_at(0, 2, 1)};
    EXPECT_THAT(list.tiles_per_level(), testing::ElementsAre(2U, 1U, 0U));
}

TEST(Tiles, LayersLieTogetherInCanonicalOrder) {
    TileList list;
    list.shape = {3, 2, 4};
    list.tiles = {tile_at(1, 0, 0, 0), tile_at(0, 2, 0, 0), tile_at(0, 2, 1, 0),
                  tile_at(2, 0, 0, 1), tile_at(2, 0, 0, 3)};
    list.order = Order::canonical;
    const auto part = [&](std::size_t first, std::size_t count) {
        return testing::ElementsAreArray(
            list.tiles.begin() + static_cast<std::ptrdiff_t>(first),
            list.tiles.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    EXPECT_THAT(list.tiles_of_layer(0), part(0, 3));
    EXPECT_THAT(list.tiles_of_layer(1), part(3, 1));
    EXPECT_THAT(list.tiles_of_layer(2), testing::IsEmpty());  // of no list but one that is edited
    EXPECT_THAT(list.tiles_of_layer(3), part(4, 1));
    EXPECT_EQ(list.tiles_of_layer(0).data(), list.tiles.data());
}

TEST(Tiles, LayersThatDoNotLieTogetherOrDoNotExistAreRefused) {
    const auto asking = [](const TileList& list, std::uint32_t layer) {
        return [&list, layer] { (void)list.tiles_of_layer(layer); };
    };
    TileList list;
    list.shape = {3, 2, 2};
    list.order = Order::any;
    EXPECT_THAT(asking(list, 0), test::is_refused("only canonical order"));
    list.order = Order::canonical;
    EXPECT_NO_THROW(asking(list, 1)());
    EXPECT_THAT(asking(list, 2),
                test::is_refused("no layer 2: layers are numbered from 0, and the map has 2"));
}

}  // namespace
}  // namespace quadtile
