// Texts of messages.

#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace quadtile::detail {

// Returns the shortest text of this float, "0.5" in every locale, or "NaN".
inline std::string text_of(float value) {
    if (std::isnan(value)) {
        return "NaN";
    }
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

// Returns the text with U+FFFD for each part that is not UTF-8. Texts from compilers and drivers
// come through here, because the callers of the library read UTF-8.
[[nodiscard]] std::string valid_utf8(const std::string& bytes);

// Returns "1 layer" or "5 layers".
inline std::string counted(std::uint64_t count, const char* thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Returns "640 x 480".
inline std::string size_of(std::uint32_t width, std::uint32_t height) {
    return std::to_string(width) + " x " + std::to_string(height);
}

// Returns "640 x 480 texels with 2 layers".
inline std::string size_of(std::uint32_t width, std::uint32_t height, std::uint32_t layers) {
    return size_of(width, height) + " texels with " + counted(layers, "layer");
}

}  // namespace quadtile::detail
