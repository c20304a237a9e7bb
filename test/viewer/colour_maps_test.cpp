#include "colour_maps.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace quadtile::viewer {
namespace {

using app::Rgb;

constexpr ColourMap ALL[] = {ColourMap::inferno, ColourMap::viridis, ColourMap::magma,
                             ColourMap::plasma,  ColourMap::cividis, ColourMap::turbo,
                             ColourMap::grey};

std::string hex(const Rgb& colour) {
    constexpr char DIGITS[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t component : colour) {
        text += DIGITS[component / 16];
        text += DIGITS[component % 16];
    }
    return text;
}

TEST(ColourMaps, BeginPassTheMiddleAndEndAsPublished) {
    struct Expected {
        ColourMap map;
        const char* first;
        const char* middle;
        const char* last;
    };
    for (const Expected& expected : {Expected{ColourMap::inferno, "000004", "bc3754", "fcffa4"},
                                     {ColourMap::viridis, "440154", "21918c", "fde725"},
                                     {ColourMap::magma, "000004", "b73779", "fcfdbf"},
                                     {ColourMap::plasma, "0d0887", "cc4778", "f0f921"},
                                     {ColourMap::cividis, "00224e", "7d7c78", "fee838"},
                                     {ColourMap::turbo, "30123b", "a4fc3c", "7a0403"},
                                     {ColourMap::grey, "000000", "808080", "ffffff"}}) {
        const ColourTable table = colour_table(expected.map);
        EXPECT_EQ(hex(table.front()), expected.first);
        EXPECT_EQ(hex(table[128]), expected.middle);
        EXPECT_EQ(hex(table.back()), expected.last);
    }
}

// A wrong or missing digit anywhere makes a step that no map has.
TEST(ColourMaps, HaveNoSteps) {
    for (const ColourMap map : ALL) {
        const ColourTable table = colour_table(map);
        for (std::size_t i = 1; i < table.size(); ++i) {
            int step = 0;
            for (std::size_t c = 0; c < 3; ++c) {
                step = std::max(step, std::abs(table[i][c] - table[i - 1][c]));
            }
            EXPECT_LE(step, map == ColourMap::turbo ? 8 : 7)
                << static_cast<int>(map) << " at " << i;
        }
    }
}

}  // namespace
}  // namespace quadtile::viewer
