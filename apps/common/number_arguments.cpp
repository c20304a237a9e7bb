#include "number_arguments.hpp"

#include "usage_error.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace quadtile::app {

namespace {

// "a number from 1 to 8"
std::string range_text(float low, float high) {
    if (high < LARGEST_FLOAT) {
        return "a number from " + text_of(low) + " to " + text_of(high);
    }
    return (high == LARGEST_FLOAT ? "a finite number" : "a number") +
           (low == -high ? "" : " of " + text_of(low) + " or more");
}

// What is wrong with the text; empty: nothing.
std::string read_float(std::string_view text, float low, float high, float& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
        return "outside the range of a 32-bit float";
    }
    if (error != std::errc{} || end != text.data() + text.size()) {
        return "not a number";
    }
    return value >= low && value <= high ? "" : "not " + range_text(low, high);
}

std::string read_whole(std::string_view text, std::uint64_t low, std::uint64_t high,
                       std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number && value >= low && value <= high
               ? ""
               : "not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

template <typename Value>
Check check_with(std::string (*read)(std::string_view, Value, Value, Value&), Value low,
                 Value high) {
    return [=](const std::string& text) {
        Value value{};
        const std::string problem = read(text, low, high, value);
        return problem.empty() ? problem : "'" + text + "' is " + problem;
    };
}

}  // namespace

std::string text_of(float value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}

float parse_float(std::string_view option, std::string_view text, float low, float high) {
    float value = 0.0F;
    const std::string problem = read_float(text, low, high, value);
    if (!problem.empty()) {
        throw UsageError(std::string(option) + " '" + std::string(text) + "' is " + problem);
    }
    return value;
}

std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t low,
                          std::uint64_t high) {
    std::uint64_t value = 0;
    const std::string problem = read_whole(text, low, high, value);
    if (!problem.empty()) {
        throw UsageError(std::string(option) + " '" + std::string(text) + "' is " + problem);
    }
    return value;
}

std::vector<float> parse_floats(std::string_view option, std::string_view text, float low,
                                float high) {
    std::vector<float> values;
    while (true) {
        const std::size_t comma = text.find(',');
        values.push_back(parse_float(option, text.substr(0, comma), low, high));
        if (comma == std::string_view::npos) {
            return values;
        }
        text.remove_prefix(comma + 1);
    }
}

std::optional<ParsedSize> parse_size(std::string_view text, std::uint32_t most,
                                     bool takes_one_number) {
    const std::size_t cross = text.find('x');
    if (cross == std::string_view::npos && !takes_one_number) {
        return std::nullopt;
    }
    std::uint64_t width = 0;
    std::uint64_t height = 0;
    if (!read_whole(text.substr(0, cross), 1, most, width).empty()) {
        return std::nullopt;
    }
    if (cross == std::string_view::npos) {
        height = width;
    } else if (!read_whole(text.substr(cross + 1), 1, most, height).empty()) {
        return std::nullopt;
    }
    return ParsedSize{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

Check float_between(float low, float high) {
    return check_with(read_float, low, high);
}

Check whole_between(std::uint64_t low, std::uint64_t high) {
    return check_with(read_whole, low, high);
}

}  // namespace quadtile::app
