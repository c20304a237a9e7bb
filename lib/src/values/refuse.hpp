// Texts of messages, and the errors of the caller and of devices.

#pragma once

#include <quadtile/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
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

// Joins texts and numbers; the same in every locale.
template <typename... Parts>
[[nodiscard]] std::string joined(const Parts&... parts) {
    const auto text = [](const auto& part) {
        using Part = std::remove_cvref_t<decltype(part)>;
        if constexpr (std::same_as<Part, float>) {
            return text_of(part);
        } else if constexpr (std::integral<Part>) {
            return std::to_string(part);
        } else {
            return std::string(part);
        }
    };
    return (std::string() + ... + text(parts));
}

// Throws Error(invalid_argument).
template <typename... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
    throw Error(ErrorCode::invalid_argument, joined(parts...));
}

template <typename... Parts>
void refuse_if(bool is_wrong, const Parts&... parts) {
    if (is_wrong) {
        refuse(parts...);
    }
}

// Throws Error(unsupported).
template <typename... Parts>
[[noreturn]] void cannot(const Parts&... parts) {
    throw Error(ErrorCode::unsupported, joined(parts...));
}

}  // namespace quadtile::detail
