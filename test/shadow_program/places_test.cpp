// Tiles by place, their ages, and places with errors.

#include "mask_comparison.hpp"
#include "shaders/marks.h"
#include "tile_ages.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace quadtile::shadow {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ShadowTile tile_of(std::uint32_t x, std::uint32_t y, std::uint32_t level, std::uint32_t light,
                   std::uint32_t flags) {
    return {.position = x | y << 16U, .node = level | light << 16U, .state = flags << 8U};
}

// Catches levels that are not heeded, columns for rows, and lights that are mixed up.
TEST(TileAt, IsTheTileThatHoldsThePlace) {
    const std::vector<ShadowTile> tiles{tile_of(0, 0, 3, 0, 0), tile_of(1, 0, 3, 0, 0),
                                        tile_of(0, 2, 2, 0, 0), tile_of(1, 2, 2, 0, 0),
                                        tile_of(0, 0, 4, 1, 0)};
    EXPECT_EQ(tile_at(tiles, 0, {0.1F, 0.2F}, 16), &tiles[0]);
    EXPECT_EQ(tile_at(tiles, 0, {0.9F, 0.2F}, 16), &tiles[1]);
    EXPECT_EQ(tile_at(tiles, 0, {0.1F, 0.6F}, 16), &tiles[2]);
    EXPECT_EQ(tile_at(tiles, 0, {0.3F, 0.7F}, 16), &tiles[3]);
    EXPECT_EQ(tile_at(tiles, 1, {0.9F, 0.9F}, 16), &tiles[4]);
    EXPECT_EQ(tile_at(tiles, 0, {0.9F, 0.9F}, 16), nullptr);  // no tile of this list
    EXPECT_EQ(tile_at(tiles, 1, {1.0F, 0.5F}, 16), nullptr);
    EXPECT_EQ(tile_at(tiles, 1, {-0.01F, 0.5F}, 16), nullptr);
}

// Catches ages that go on for a tile that has left the list meanwhile, or was drawn again, and
// those that end if the map steps.
TEST(TileAges, CountFrames) {
    TileAges ages;
    const ShadowParameters parameters = shadow_parameters({.map_extent = 64});
    ShadowFrame shadow_frame{};
    shadow_frame.lights[1].clip_from_world[15] = 1.0F;
    const TileName name = name_of(tile_of(3, 4, 2, 1, 0));
    const auto frame = [&](std::uint32_t flags) {
        ages.add_frame(parameters, shadow_frame, std::vector{tile_of(3, 4, 2, 1, flags)});
        return *ages.age_of(name);
    };
    EXPECT_FALSE(ages.age_of(name));
    EXPECT_EQ(frame(SHADOW_RENDER).in_list, 0U);
    EXPECT_EQ(frame(SHADOW_KEPT).in_list, 1U);
    EXPECT_EQ(frame(SHADOW_KEPT).drawn, 2U);
    const TileAge again = frame(SHADOW_KEPT | SHADOW_RENDER);
    EXPECT_EQ(again.in_list, 3U);
    EXPECT_EQ(again.drawn, 0U);
    shadow_frame.lights[1].clip_from_world[12] = -0.25F;  // tiles move by 8 texels to the left
    ages.add_frame(parameters, shadow_frame, std::vector{tile_of(1, 4, 2, 1, SHADOW_KEPT)});
    EXPECT_EQ(ages.age_of(name_of(tile_of(1, 4, 2, 1, 0)))->in_list, 4U);
    ages.add_frame(parameters, shadow_frame, {});
    EXPECT_FALSE(ages.age_of(name));
    EXPECT_EQ(frame(SHADOW_RENDER).in_list, 0U);
}

// Catches places that fall apart or grow together, and the order of another measure than pixels.
TEST(ErrorPlaces, AreGroupsOfWrongPixels) {
    constexpr std::uint32_t WIDTH = 200;
    std::vector<std::uint32_t> marks(std::size_t{WIDTH} * 100, MARK_SURFACE);
    EXPECT_THAT(error_places(marks, WIDTH), IsEmpty());
    const auto set = [&](std::uint32_t x, std::uint32_t y, std::uint32_t word) {
        marks[std::size_t{y} * WIDTH + x] |= word;
    };
    set(199, 99, MARK_LIT | MARK_EXACT);
    for (std::uint32_t x = 10; x < 41; ++x) {  // over three blocks, in a row
        set(x, 15, MARK_SHADOWED | MARK_EXACT);
    }
    set(100, 50, MARK_LIT | MARK_EXACT);
    set(102, 50, MARK_LIT | MARK_EXACT);
    set(101, 50, MARK_LIT);  // beside wrong ones
    EXPECT_THAT(
        error_places(marks, WIDTH),
        ElementsAre(ErrorPlace{25, 15, 31}, ErrorPlace{100, 50, 2}, ErrorPlace{199, 99, 1}));
}

}  // namespace
}  // namespace quadtile::shadow
