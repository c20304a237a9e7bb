#include "png_file.hpp"

#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace quadtile::app {

namespace {

struct Free {
    void operator()(unsigned char* bytes) const noexcept { std::free(bytes); }
};

std::string encode_8_bits(const PngSamples& png) {
    std::string bytes;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
    };
    if (stbi_write_png_to_func(append, &bytes, static_cast<int>(png.width),
                               static_cast<int>(png.height), static_cast<int>(png.components),
                               png.samples, static_cast<int>(png.width * png.components)) == 0) {
        throw std::bad_alloc();  // its only failure
    }
    return bytes;
}

void append_big_endian(std::string& bytes, std::uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes += static_cast<char>((word >> shift) & 0xffU);
    }
}

void append_chunk(std::string& png, const std::string& type, const std::string& data) {
    append_big_endian(png, static_cast<std::uint32_t>(data.size()));
    std::string chunk = type + data;
    png += chunk;
    append_big_endian(png, stbiw__crc32(reinterpret_cast<unsigned char*>(chunk.data()),
                                        static_cast<int>(chunk.size())));
}

// stb_image_write has 8 bits only; its compression and checksum serve here too.
std::string encode_16_bits(const PngSamples& png) {
    constexpr unsigned char FILTER_UP = 2;  // differences to the row above
    constexpr int COMPRESSION = 8;
    const auto* const samples = static_cast<const std::uint16_t*>(png.samples);
    const std::size_t row_samples = std::size_t{png.width} * png.components;
    std::vector<unsigned char> above(2 * row_samples);
    std::vector<unsigned char> filtered;
    filtered.reserve((1 + 2 * row_samples) * png.height);
    for (std::uint32_t y = 0; y < png.height; ++y) {
        filtered.push_back(FILTER_UP);
        for (std::size_t i = 0; i < 2 * row_samples; ++i) {
            const unsigned int sample = samples[y * row_samples + i / 2];
            const auto byte = static_cast<unsigned char>(i % 2 == 0 ? sample >> 8U : sample);
            filtered.push_back(static_cast<unsigned char>(byte - above[i]));
            above[i] = byte;
        }
    }
    int size = 0;
    const std::unique_ptr<unsigned char, Free> compressed(
        stbi_zlib_compress(filtered.data(), static_cast<int>(filtered.size()), &size, COMPRESSION));
    if (!compressed) {
        throw std::bad_alloc();  // its only failure
    }

    constexpr char GREY = 0;
    constexpr char COLOUR = 2;
    constexpr char COLOUR_ALPHA = 6;
    const char type = png.components == 1 ? GREY : png.components == 3 ? COLOUR : COLOUR_ALPHA;
    std::string header;
    append_big_endian(header, png.width);
    append_big_endian(header, png.height);
    header += {16, type, 0, 0, 0};
    std::string bytes = "\x89PNG\r\n\x1a\n";
    append_chunk(bytes, "IHDR", header);
    append_chunk(bytes, "IDAT",
                 {reinterpret_cast<const char*>(compressed.get()), static_cast<std::size_t>(size)});
    append_chunk(bytes, "IEND", "");
    return bytes;
}

}  // namespace

std::string encode_png(const PngSamples& png) {
    // stb_image_write counts bytes, one more for each row, in an int.
    const std::uint64_t bytes =
        (1 + std::uint64_t{png.width} * png.components * png.bits / 8) * png.height;
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
        throw std::runtime_error("a PNG image of " + std::to_string(png.width) + " x " +
                                 std::to_string(png.height) +
                                 " texels is too large to be written: 2 GiB is the most");
    }
    return png.bits == 16 ? encode_16_bits(png) : encode_8_bits(png);
}

}  // namespace quadtile::app
