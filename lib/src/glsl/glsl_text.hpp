// GLSL texts as a preprocessor sees them: lines without comments, and tokens.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::detail {

// A line with its continuations by backslashes or comments.
struct LogicalLine {
    std::size_t number = 1;  // number of its first line with more than blanks and comments
    std::string text;        // a blank replaces each comment
};

[[nodiscard]] std::vector<LogicalLine> logical_lines(std::string_view text);

// Splits a line into identifiers, numbers, "##" and single characters.
[[nodiscard]] std::vector<std::string_view> tokens_of(std::string_view line);

}  // namespace quadtile::detail
