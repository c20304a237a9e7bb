#include "options.hpp"

#include <charconv>
#include <string_view>
#include <utility>

namespace terrain {

namespace {

template <typename Number>
Number parse_number(const std::string& option, std::string_view text, Number least, Number most) {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || !(number >= least && number <= most)) {
        throw UsageError(option + " takes " + std::to_string(least) + " to " +
                         std::to_string(most) + ", not \"" + std::string(text) + "\"");
    }
    return number;
}

}  // namespace

Options parse(std::span<char* const> arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string option = arguments[i];
        bool is_flag = true;
        if (option == "--no-stitching") {
            options.stitches = false;
        } else if (option == "--show-tiles") {
            options.shows_tiles = true;
        } else if (option == "--count-background") {
            options.counts_background = true;
        } else if (option == "--validate") {
            options.validates = true;
        } else {
            is_flag = false;
        }
        if (is_flag) {
            continue;
        }
        if (++i == arguments.size()) {
            throw UsageError(option + " is unknown, or its value is missing");
        }
        const std::string_view value = arguments[i];
        if (option == "--frames") {
            options.frames = parse_number(option, value, 1U, 1'000'000U);
        } else if (option == "--size") {
            const std::size_t x = value.find('x');
            if (x == std::string_view::npos) {
                throw UsageError("--size takes a width and a height, as in 960x540");
            }
            options.width = parse_number(option, value.substr(0, x), 1U, 4096U);
            options.height = parse_number(option, value.substr(x + 1), 1U, 4096U);
        } else if (option == "--pitch") {
            options.pitch_degrees = parse_number(option, value, 0.0F, 90.0F);
        } else if (option == "--error") {
            options.error_pixels = parse_number(option, value, 0.01F, 1000.0F);
        } else if (option == "--seed") {
            options.seed = parse_number(option, value, 0U, 0xffffffffU);
        } else if (option == "--screenshot") {
            options.screenshot = value;
        } else {
            throw UsageError(option + " is unknown");
        }
    }
    return options;
}

}  // namespace terrain
