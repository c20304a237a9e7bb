// RGB pictures in memory, and PNG files.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace quadtile::app {

using Rgb = std::array<std::uint8_t, 3>;

// Returns `a` for weight 0, `b` for weight 1.
[[nodiscard]] Rgb mix(const Rgb& a, const Rgb& b, float weight) noexcept;

struct Picture {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<Rgb> pixels;  // rows from the top

    Picture(std::uint32_t width_, std::uint32_t height_)
        : width(width_), height(height_), pixels(std::size_t{width_} * height_) {}

    [[nodiscard]] Rgb& at(std::uint32_t x, std::uint32_t y) {
        return pixels[std::size_t{y} * width + x];
    }
};

// Returns the bytes of a PNG file. Throws std::bad_alloc.
[[nodiscard]] std::string encode_png(const Picture& picture);

struct PngSamples {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t components = 0;   // 1: grey, 3: colour, 4: colour and alpha; interleaved
    std::uint32_t bits = 8;         // per sample: 8 or 16
    const void* samples = nullptr;  // rows from the top; 16 bits: std::uint16_t
};

// Returns the bytes of a PNG file. Throws std::runtime_error, std::bad_alloc.
[[nodiscard]] std::string encode_png(const PngSamples& png);

}  // namespace quadtile::app
