#include <quadtile/tiles.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

namespace quadtile {
namespace {

Tile tile_at(std::uint32_t level, std::uint32_t x, std::uint32_t y, std::uint32_t layer = 0) {
    return {tile_position(x, y), tile_node(level, 0, layer), 1.0F, 2.0F};
}

TEST(Tiles, RectanglesAreCutAtTheMapsEdge) {
    EXPECT_EQ(texels_of(tile_at(2, 1, 0), 7, 3), (TexelRect{4, 0, 7, 3}));
    EXPECT_EQ(texels_of(tile_at(0, 6, 2), 7, 3), (TexelRect{6, 2, 7, 3}));
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
