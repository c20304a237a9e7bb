#include "glsl/glsl_text.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <utility>

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

using Token = std::string_view;
using Tokens = std::vector<Token>;

struct BeyondLimits {};

// Expands macros as compilers do (ISO C, 6.10.3), and counts tokens.
class Expansion {
 public:
    explicit Expansion(const TextLimits& limits) : limits_(limits) {}

    // Defines a macro. `line` is the text after "#define".
    void define(std::string_view line) {
        const Tokens tokens = tokens_of(line);
        if (tokens.empty()) {
            return;
        }
        Macro& macro = macros_[std::string(tokens[0])];
        std::size_t next = 1;
        Tokens parameters;
        // "NAME(x)" has the parameter x; "NAME (x)", with a blank, has the body "(x)".
        if (line.substr(line.find(tokens[0]) + tokens[0].size()).starts_with('(')) {
            macro.is_function = true;
            for (++next; next < tokens.size() && tokens[next] != ")"; ++next) {
                if (tokens[next] != ",") {
                    parameters.push_back(tokens[next]);
                }
            }
            ++next;
        }
        for (; next < tokens.size(); ++next) {
            const auto found = std::ranges::find(parameters, tokens[next]);
            macro.body.push_back(
                {keep(tokens[next]), found - parameters.begin(), found != parameters.end()});
        }
    }

    // Returns the place in a text at which it exceeds the limits.
    std::optional<std::size_t> place_beyond(const Tokens& text) {
        std::vector<Source> sources{{text, nullptr}};
        std::size_t made = 0;
        try {
            expand(sources, [&](Token) {
                if (++made > limits_.tokens) {
                    throw BeyondLimits();
                }
            });
        } catch (const BeyondLimits&) {  // `text` is the last remaining source
            return sources.empty() ? text.size() - 1 : sources.front().next - 1;
        }
        return std::nullopt;
    }

 private:
    struct Part {
        Token token;
        std::ptrdiff_t parameter;
        bool is_parameter;
    };
    struct Macro {
        bool is_function = false;
        std::vector<Part> body;  // of all definitions of the name
        bool is_open = false;    // whether it is being expanded, and so is not expanded again
    };
    // Remaining tokens, and the macro that they come from.
    struct Source {
        Tokens tokens;
        Macro* macro;
        std::size_t next = 0;
    };

    Token keep(Token token) { return texts_.emplace_back(token); }

    void step() {
        if (++steps_ > limits_.steps) {
            throw BeyondLimits();
        }
    }

    // Takes the next token of all sources; empty at the end.
    Token take(std::vector<Source>& sources) {
        step();
        while (!sources.empty() && sources.back().next == sources.back().tokens.size()) {
            if (sources.back().macro != nullptr) {
                sources.back().macro->is_open = false;
            }
            sources.pop_back();
        }
        return sources.empty() ? Token() : sources.back().tokens[sources.back().next++];
    }

    // Takes the arguments of a call, after its "(".
    std::vector<Tokens> take_arguments(std::vector<Source>& sources) {
        std::vector<Tokens> arguments(1);
        std::size_t depth = 1;
        for (Token token = take(sources); !token.empty(); token = take(sources)) {
            depth += token == "(" ? 1 : 0;
            depth -= token == ")" ? 1 : 0;
            if (depth == 0) {
                break;
            }
            if (depth == 1 && token == ",") {
                arguments.emplace_back();
            } else {
                arguments.back().push_back(token);
            }
        }
        return arguments;
    }

    // Returns the body with the arguments inserted.
    Tokens substituted(const Macro& macro, const std::vector<Tokens>& arguments) {
        std::vector<Tokens> expanded(arguments.size());
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            std::vector<Source> sources{{arguments[i], nullptr}};
            expand(sources, [&](Token token) { expanded[i].push_back(token); });
        }
        Tokens result;
        bool pastes = false;
        const auto append = [&](Token token) {
            step();
            if (pastes && !result.empty()) {
                result.back() = keep(std::string(result.back()) + std::string(token));
            } else {
                result.push_back(token);
            }
            pastes = false;
        };
        for (const auto& [token, parameter, is_parameter] : macro.body) {
            if (token == "##") {
                pastes = true;
            } else if (!is_parameter) {
                append(token);
            } else if (static_cast<std::size_t>(parameter) < arguments.size()) {
                std::ranges::for_each(expanded[static_cast<std::size_t>(parameter)], append);
            }
        }
        return result;
    }

    template <typename Emit>
    void expand(std::vector<Source>& sources, const Emit& emit) {
        for (Token token = take(sources); !token.empty(); token = take(sources)) {
            const auto found = macros_.find(token);
            if (found == macros_.end() || found->second.is_open) {
                emit(token);
                continue;
            }
            Macro& macro = found->second;
            std::vector<Tokens> arguments;
            if (macro.is_function) {
                const Token next = take(sources);
                if (next != "(") {
                    emit(token);
                    if (!next.empty()) {
                        sources.push_back({{next}, nullptr});
                    }
                    continue;
                }
                arguments = take_arguments(sources);
            }
            Tokens body = substituted(macro, arguments);
            macro.is_open = true;
            sources.push_back({std::move(body), &macro});
        }
    }

    TextLimits limits_;
    std::map<std::string, Macro, std::less<>> macros_;
    std::deque<std::string> texts_;  // texts of tokens that outlive their line
    std::size_t steps_ = 0;
};

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
    Tokens tokens;
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

std::optional<std::size_t> line_beyond(const std::vector<LogicalLine>& lines,
                                       const TextLimits& limits) {
    Expansion expansion(limits);
    Tokens text;
    std::vector<std::size_t> numbers;  // line of each token
    for (const LogicalLine& line : lines) {
        Tokens tokens = tokens_of(line.text);
        if (!tokens.empty() && tokens[0] == "#") {
            if (tokens.size() > 2 && tokens[1] == "define") {
                const std::size_t place = line.text.find("define") + std::string("define").size();
                expansion.define(std::string_view(line.text).substr(place));
            }
            if (tokens.size() < 2 || (tokens[1] != "if" && tokens[1] != "elif")) {
                continue;
            }
            tokens.erase(tokens.begin(), tokens.begin() + 2);
        }
        text.insert(text.end(), tokens.begin(), tokens.end());
        numbers.resize(text.size(), line.number);
    }
    const std::optional<std::size_t> place = expansion.place_beyond(text);
    return place ? std::optional(numbers[*place]) : std::nullopt;
}

}  // namespace quadtile::detail
