#include "message_line.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadtile::app {

namespace {

// The bytes of the character that the text begins with, 0 where it begins with no valid UTF-8.
std::size_t character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    if (byte(0) < 0x80U) {
        return 1;
    }
    struct Form {
        unsigned int mask;  // of the first byte's bits that say the size
        unsigned int first;
        std::uint32_t least;  // smaller characters have a shorter form
    };
    constexpr std::array<Form, 3> FORMS{
        {{0xe0U, 0xc0U, 0x80U}, {0xf0U, 0xe0U, 0x800U}, {0xf8U, 0xf0U, 0x10000U}}};
    for (std::size_t size = 2; size <= 4; ++size) {
        const Form& form = FORMS[size - 2];
        if ((byte(0) & form.mask) != form.first) {
            continue;
        }
        if (text.size() < size) {
            return 0;
        }
        std::uint32_t character = byte(0) & ~form.mask;
        for (std::size_t i = 1; i < size; ++i) {
            if ((byte(i) & 0xc0U) != 0x80U) {
                return 0;
            }
            character = (character << 6U) | (byte(i) & 0x3fU);
        }
        const bool surrogate = character >= 0xd800U && character <= 0xdfffU;
        return character < form.least || character > 0x10ffffU || surrogate ? 0 : size;
    }
    return 0;
}

// A valid character: U+0000 to U+001F and U+007F to U+009F.
bool is_control(std::string_view character) {
    const auto first = static_cast<std::uint8_t>(character[0]);
    return first < 0x20U || first == 0x7fU ||
           (first == 0xc2U && static_cast<std::uint8_t>(character[1]) < 0xa0U);
}

}  // namespace

std::string message_line(std::string_view start, std::string_view message) {
    constexpr std::string_view DIGITS = "0123456789abcdef";
    std::string line = std::string(start) + ": ";
    while (!message.empty()) {
        const std::size_t size = character_size(message);
        const std::string_view character = message.substr(0, size == 0 ? 1 : size);
        message.remove_prefix(character.size());
        if (character == "\n" || character == "\r" || character == "\t") {
            line += ' ';
        } else if (size != 0 && !is_control(character)) {
            line += character;
        } else {
            for (const char c : character) {
                const auto byte = static_cast<std::uint8_t>(c);
                line += {'\\', 'x', DIGITS[byte >> 4U], DIGITS[byte & 0xfU]};
            }
        }
    }
    return line;
}

}  // namespace quadtile::app
