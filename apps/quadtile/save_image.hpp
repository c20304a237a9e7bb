// Images as files that keep their values.

#pragma once

#include <quadtile/image.hpp>

#include <string>

namespace quadtile::app {

// Returns ".png" for formats of 8 and 16 bit codes, ".exr" for floats.
[[nodiscard]] const char* file_ending(TexelFormat format) noexcept;

// Returns the file of an image with one layer. Every texel is kept bit-identical.
//
// PNG: grey, or colour with alpha. OpenEXR: half or float channels as in the format; Y, or R and G,
// or R, G, B and A. Throws std::runtime_error, std::bad_alloc.
[[nodiscard]] std::string encode_image(const ImageView& image);

}  // namespace quadtile::app
