#include "refuse.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quadtile::detail {

namespace {

// Returns the length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7); 0:
// there is none.
std::size_t sequence_length(std::string_view bytes) {
    const auto at = [&](std::size_t i) -> std::uint32_t {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
    };
    const std::uint32_t first = at(0);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xC0U) != 0x80) {
            return 0;
        }
    }
    // No overlong sequences, no surrogates, nothing beyond U+10FFFF.
    const bool is_out_of_range = (first == 0xE0 && at(1) < 0xA0) ||
                                 (first == 0xED && at(1) > 0x9F) ||
                                 (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F);
    return is_out_of_range ? 0 : length;
}

}  // namespace

std::string valid_utf8(const std::string& bytes) {
    std::string text;
    for (std::string_view rest = bytes; !rest.empty();) {
        const std::size_t length = sequence_length(rest);
        text += length > 0 ? rest.substr(0, length) : "\xEF\xBF\xBD";
        rest.remove_prefix(length > 0 ? length : 1);
    }
    return text;
}

}  // namespace quadtile::detail
