// Errors of the caller and of devices, with messages of texts and numbers.

#pragma once

#include "text.hpp"

#include <quadtile/error.hpp>

#include <concepts>
#include <string>

namespace quadtile::detail {

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
