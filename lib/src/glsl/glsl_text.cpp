#include "glsl/glsl_text.hpp"

#include <cctype>

namespace quadtile::detail {

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// Returns the length of the newline at the front; 0: none. A lone carriage return is one.
std::size_t newline_length(std::string_view text) {
    return text.starts_with("\r\n") ? 2 : text.starts_with('\n') || text.starts_with('\r') ? 1 : 0;
}

bool begins_identifier(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool continues_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::vector<LogicalLine> logical_lines(std::string_view text) {
    std::vector<LogicalLine> lines(1);
    std::size_t number = 1;
    bool has_begun = false;  // whether a character other than blanks and comments has come
    enum class Comment { none, line, block } comment = Comment::none;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        if (rest[0] == '\\' && newline_length(rest.substr(1)) != 0) {
            i += newline_length(rest.substr(1));
            ++number;
        } else if (newline_length(rest) != 0) {
            i += newline_length(rest) - 1;
            ++number;
            if (comment != Comment::block) {
                comment = Comment::none;
                has_begun = false;
                lines.push_back({number, {}});
            }
        } else if (comment == Comment::block) {
            if (rest.starts_with("*/")) {
                comment = Comment::none;
                ++i;
            }
        } else if (comment == Comment::line) {
            continue;
        } else if (rest.starts_with("//") || rest.starts_with("/*")) {
            comment = rest[1] == '/' ? Comment::line : Comment::block;
            lines.back().text += ' ';
            ++i;
        } else {
            if (!has_begun && !is_blank(rest[0])) {
                has_begun = true;
                lines.back().number = number;
            }
            lines.back().text += rest[0];
        }
    }
    return lines;
}

std::vector<std::string_view> tokens_of(std::string_view line) {
    std::vector<std::string_view> tokens;
    while (!line.empty()) {
        std::size_t length = 1;
        const bool is_number = std::isdigit(static_cast<unsigned char>(line[0])) != 0;
        if (begins_identifier(line[0]) || is_number) {
            while (length < line.size() &&
                   (continues_word(line[length]) || (is_number && line[length] == '.'))) {
                ++length;
            }
        } else if (line.starts_with("##")) {
            length = 2;
        }
        if (!is_blank(line[0])) {
            tokens.push_back(line.substr(0, length));
        }
        line.remove_prefix(length);
    }
    return tokens;
}

}  // namespace quadtile::detail
