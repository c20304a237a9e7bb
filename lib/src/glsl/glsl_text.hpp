// GLSL texts as a preprocessor sees them: lines without comments, tokens, and the number of tokens
// after the expansion of macros.

#pragma once

#include <cstddef>
#include <optional>
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

// Limits of a text. The compiler takes a stack frame for each term of an expression, and memory for
// each expanded token.
struct TextLimits {
    std::size_t tokens = 16'384;  // of the text after the expansion of macros
    std::size_t steps = 262'144;  // tokens that are looked at during the expansion
};

// Returns the line in which a text exceeds the limits. All definitions of a name count together,
// wherever they are, and so do all branches of conditions. Included texts do not count.
[[nodiscard]] std::optional<std::size_t> line_beyond(const std::vector<LogicalLine>& lines,
                                                     const TextLimits& limits = {});

}  // namespace quadtile::detail
