// An importance map as an image file.

#pragma once

#include <quadtile/image.hpp>

#include <string>

namespace quadtile::app {

// The bytes of a PFM file (grey, little-endian) with a map of one layer.
[[nodiscard]] std::string encode_pfm(const MapView& map);

// The bytes of an OpenEXR file with a map of one layer as the channel Y, 32-bit floats.
// Throws std::runtime_error.
[[nodiscard]] std::string encode_exr(const MapView& map);

}  // namespace quadtile::app
