#include <quadtile/tiles.hpp>

#include <gmock/gmock.h>

namespace quadtile {
namespace {

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

TEST(Tiles, CountsPerLevel) {
    TileList list;
    list.shape = {3, 2};
    list.tiles = {tile_at(1, 0, 0), tile_at(0, 2, 0), tile_at(0, 2, 1)};
    EXPECT_THAT(list.tiles_per_level(), testing::ElementsAre(2U, 1U, 0U));
}

}  // namespace
}  // namespace quadtile
