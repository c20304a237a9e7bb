#include "colour_maps.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace quadtile::viewer {
namespace {

using app::Rgb;

// Catches tables of another map or in another order, and wrong or missing digits, which make a step
// that no map has.
TEST(ColourMaps, BeginPassTheMiddleAndEndAsPublished) {
    struct Expected {
        ColourMap map;
        Rgb first;
        Rgb middle;
        Rgb last;
    };
    for (const Expected& expected :
         {Expected{ColourMap::inferno, {0, 0, 4}, {188, 55, 84}, {252, 255, 164}},
          {ColourMap::viridis, {68, 1, 84}, {33, 145, 140}, {253, 231, 37}},
          {ColourMap::magma, {0, 0, 4}, {183, 55, 121}, {252, 253, 191}},
          {ColourMap::plasma, {13, 8, 135}, {204, 71, 120}, {240, 249, 33}},
          {ColourMap::cividis, {0, 34, 78}, {125, 124, 120}, {254, 232, 56}},
          {ColourMap::turbo, {48, 18, 59}, {164, 252, 60}, {122, 4, 3}},
          {ColourMap::grey, {0, 0, 0}, {128, 128, 128}, {255, 255, 255}}}) {
        const ColourTable table = colour_table(expected.map);
        EXPECT_EQ(table.front(), expected.first);
        EXPECT_EQ(table[128], expected.middle);
        EXPECT_EQ(table.back(), expected.last);
        for (std::size_t i = 1; i < table.size(); ++i) {
            for (std::size_t c = 0; c < 3; ++c) {
                EXPECT_LE(std::abs(table[i][c] - table[i - 1][c]), 8) << "at " << i;
            }
        }
    }
}

}  // namespace
}  // namespace quadtile::viewer
