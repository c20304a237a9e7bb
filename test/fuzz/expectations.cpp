#include "expectations.hpp"

#include "process.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace quadtile::app::fuzz {

namespace {

// libFuzzer keeps inputs that set new ones of these. Libraries that are not built for it, as
// OpenEXR, show by their messages alone how far an input came.
__attribute__((section("__libfuzzer_extra_counters"))) std::array<std::uint8_t, 4096> messages;

void count_as_new(std::string_view message) {
    std::string kind(message);  // numbers do not make another one
    std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
    messages.at(std::hash<std::string>{}(kind) % messages.size()) = 1;
}

}  // namespace

void check_message(std::string_view message, std::string_view beginning) {
    if (!message.starts_with(beginning) || message.size() == beginning.size()) {
        throw std::logic_error("an error says '" + std::string(message) + "' instead of '" +
                               std::string(beginning) + "' and more");
    }
    count_as_new(message.substr(beginning.size()));
    for (const char c : message_line("quadtile: error", message)) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte < 0x20U || byte == 0x7fU) {
            throw std::logic_error("an error is printed with the control character " +
                                   std::to_string(byte));
        }
    }
}

void check_texels(const LoadedImage& image) {
    check_image(image.shape);
    if (image.shape.layers != 1) {
        throw std::logic_error("a file has " + std::to_string(image.shape.layers) + " layers");
    }
    // The ends of each row; all of a giant would take long.
    const std::size_t row_bytes = image.shape.width * texel_size_bytes(image.shape.format);
    const std::byte* row = image.texels.get();
    volatile std::byte touched{};
    for (std::uint32_t y = 0; y < image.shape.height; ++y, row += row_bytes) {
        touched = row[0];
        touched = row[row_bytes - 1];
    }
    (void)touched;
}

}  // namespace quadtile::app::fuzz
