// Images and importance maps as files that keep their values.

#pragma once

#include <quadtile/image.hpp>

#include <string>

namespace quadtile::app {

// Whether a format's channels are codes of 8 or 16 bits, not floats.
[[nodiscard]] bool has_codes(TexelFormat format) noexcept;

// ".png" for formats of 8 and 16 bit codes, ".exr" for floats.
[[nodiscard]] const char* file_ending(TexelFormat format) noexcept;

// The bytes of the file of an image with one layer. Every texel is kept to the bit.
//
// PNG: grey, or colour with alpha. OpenEXR: half or float channels as in the format; Y, or R and G,
// or R, G, B and A. Throws std::runtime_error, std::bad_alloc.
[[nodiscard]] std::string encode_image(const ImageView& image);

// The bytes of a PFM file (grey, little-endian) with a map of one layer.
[[nodiscard]] std::string encode_pfm(const MapView& map);

// The bytes of an OpenEXR file with a map of one layer as the channel Y, 32-bit floats.
// Throws std::runtime_error.
[[nodiscard]] std::string encode_exr(const MapView& map);

}  // namespace quadtile::app
