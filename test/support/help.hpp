// Checks of each program's help.

#pragma once

#include <gmock/gmock.h>

#include <sstream>
#include <string>

namespace quadtile::test {

// Catches help of more than two screens, lines that terminals break, and sentences that describe a
// default instead of "default: X".
inline void expect_readable_help(const std::string& help, std::size_t most_lines) {
    std::istringstream stream(help);
    std::size_t lines = 0;
    for (std::string line; std::getline(stream, line); ++lines) {
        EXPECT_LE(line.size(), 100U) << line;
    }
    EXPECT_LE(lines, most_lines);
    EXPECT_THAT(help, ::testing::Not(::testing::HasSubstr("without it")));
    EXPECT_THAT(help, ::testing::Not(::testing::HasSubstr("\n\n\n")));
    EXPECT_THAT(help, ::testing::HasSubstr("\nExit status: "));
}

}  // namespace quadtile::test
