// PNG files from samples in memory.

#pragma once

#include <cstdint>
#include <string>

namespace quadtile::app {

struct PngSamples {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t components = 0;   // 1: grey, 3: colour, 4: colour and alpha; interleaved
    std::uint32_t bits = 8;         // 8 or 16 a sample
    const void* samples = nullptr;  // rows from the top; 16 bits: std::uint16_t
};

// The bytes of a PNG file. Throws std::runtime_error, std::bad_alloc.
[[nodiscard]] std::string encode_png(const PngSamples& png);

}  // namespace quadtile::app
