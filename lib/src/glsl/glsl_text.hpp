// GLSL texts as a preprocessor sees them: lines without comments, tokens, and how many of them
// macros make.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::detail {

// A line with those that it continues on, by a backslash or a comment.
struct LogicalLine {
    std::size_t number = 1;  // that of its first line with more than blanks and comments
    std::string text;        // a blank instead of each comment
};

[[nodiscard]] std::vector<LogicalLine> logical_lines(std::string_view text);

// Identifiers, numbers, "##" and single characters.
[[nodiscard]] std::vector<std::string_view> tokens_of(std::string_view line);

// The compiler takes a stack frame for each term of an expression, and memory for each token that
// it expands.
struct TextLimits {
    std::size_t tokens = 16'384;  // of the text with its macros expanded
    std::size_t steps = 262'144;  // tokens that are looked at until it is
};

// The line in which a text exceeds the limits. All definitions of a name count, one behind the
// other and wherever they are; so do all branches of conditions, but no included texts.
[[nodiscard]] std::optional<std::size_t> line_beyond(const std::vector<LogicalLine>& lines,
                                                     const TextLimits& limits = {});

}  // namespace quadtile::detail
