// Numbers in arguments: NaN is none of them, and infinity only where a range says so.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app {

constexpr float LARGEST_FLOAT = std::numeric_limits<float>::max();
constexpr float INFINITE_FLOAT = std::numeric_limits<float>::infinity();

// The shortest text of the number.
[[nodiscard]] std::string text_of(float value);

// All of the text, from `low` to `high`. Throw UsageError with the option, the text and the range.
[[nodiscard]] float parse_float(std::string_view option, std::string_view text,
                                float low = -LARGEST_FLOAT, float high = LARGEST_FLOAT);
[[nodiscard]] std::uint64_t parse_whole(std::string_view option, std::string_view text,
                                        std::uint64_t low, std::uint64_t high);

// Numbers with commas between them, at least one.
[[nodiscard]] std::vector<float> parse_floats(std::string_view option, std::string_view text,
                                              float low = -LARGEST_FLOAT,
                                              float high = LARGEST_FLOAT);

// "1280x720", or "1024" where one number stands for both; nothing, if it is no such text or a
// number is 0 or above `most`.
struct ParsedSize {
    std::uint32_t width;
    std::uint32_t height;
};
[[nodiscard]] std::optional<ParsedSize> parse_size(std::string_view text, std::uint32_t most,
                                                   bool takes_one_number);

// The same ranges as checks of options of CLI11, whose own ranges contain NaN, and which takes -1
// for a large number.
using Check = std::function<std::string(const std::string&)>;
[[nodiscard]] Check float_between(float low, float high);
[[nodiscard]] Check whole_between(std::uint64_t low, std::uint64_t high);

}  // namespace quadtile::app
