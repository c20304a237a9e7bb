#include <quadtile/error.hpp>
#include <quadtile/tiles.hpp>

#include "support/errors.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

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

TEST(Tiles, HolesOverlapsAndTilesOutsideAreFound) {
    EXPECT_THAT(check_partition({tile_at(1, 0, 0)}, {3, 2}), HasSubstr("2 of 6 texels"));
    EXPECT_THAT(check_partition({tile_at(2, 0, 0), tile_at(0, 2, 1)}, {3, 2}),
                HasSubstr("texel (2, 1)"));
    for (const Tile& outside : {tile_at(1, 2, 0), tile_at(3, 0, 0), tile_at(2, 0, 0, 1)}) {
        EXPECT_THAT(check_partition({outside}, {3, 2}), HasSubstr("outside"));
    }
}

// Canonical order is by layer, then by the Morton code of the first texel: the parts of a layer.
TEST(Tiles, LayersLieTogetherInCanonicalOrder) {
    TileList list;
    list.shape = {3, 2, 4};
    list.order = Order::canonical;
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
    const std::size_t counts[] = {3, 1, 0, 1};  // none: of no list but one that is edited
    std::size_t first = 0;
    for (std::uint32_t layer = 0; layer < 4; ++layer) {
        EXPECT_THAT(list.tiles_of_layer(layer),
                    testing::ElementsAreArray(&expected[first], counts[layer]));
        first += counts[layer];
    }
    EXPECT_THAT([&] { (void)list.tiles_of_layer(4); },
                test::is_refused("no layer 4: layers are numbered from 0, and the map has 4"));
    list.order = Order::any;
    EXPECT_THAT([&] { (void)list.tiles_of_layer(0); }, test::is_refused("only canonical order"));
}

}  // namespace
}  // namespace quadtile
