#include "list_comparison.hpp"

#include <gmock/gmock.h>

namespace quadtile::viewer {
namespace {

using ::testing::ElementsAre;

// Catches tiles that count as equal because a part of their place is, and marks in other bits.
TEST(ListComparison, CountsAndMarksTilesByTheirTexels) {
    const auto tile = [](std::uint32_t level, std::uint32_t x, std::uint32_t y) {
        return Tile{.position = x | y << 16U, .node = level, .importance = 1.0F, .threshold = 2.0F};
    };
    const std::vector<Tile> kept{tile(3, 1, 2), tile(0, 65535, 7), tile(2, 1, 2), tile(16, 0, 0)};
    std::vector<Tile> shown;
    for (std::uint32_t x = 0; x < 33; ++x) {
        shown.push_back(tile(3, x, 2));  // one is in both
    }
    shown.push_back(tile(0, 65535, 7));
    shown[1].importance = 5.0F;
    const ListDifference difference = compare(sorted_keys(kept), shown);
    EXPECT_EQ(difference.in_both, 2U);
    EXPECT_EQ(difference.only_kept, 2U);
    EXPECT_EQ(difference.only_shown, 32U);
    EXPECT_THAT(difference.marks, ElementsAre(0xfffffffdU, 1U));
}

TEST(ListComparison, NothingDiffersFromItself) {
    const std::vector<Tile> tiles{Tile{}};
    const ListDifference difference = compare(sorted_keys(tiles), tiles);
    EXPECT_EQ(difference.only_kept + difference.only_shown, 0U);
    EXPECT_EQ(difference.in_both, 1U);
}

}  // namespace
}  // namespace quadtile::viewer
