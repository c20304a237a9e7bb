/// \file
/// An importance map in host memory: an image of one channel.

#pragma once

#include <quadtile/export.h>
#include <quadtile/limits.h>
#include <quadtile/quadtree.h>
#include <quadtile/image.hpp>

#include <cstdint>
#include <vector>

namespace quadtile {

/// The size and format of a map; its format has one channel.
using MapShape = ImageShape;
/// A map in host memory, of the caller's.
using MapView = ImageView;

/// TOP = ceil(log2(max(width, height))), the level of the root. 0 for a 1 x 1 map.
[[nodiscard]] QUADTILE_API std::uint32_t top_level(std::uint32_t width,
                                                   std::uint32_t height) noexcept;

/// A view of `width` x `height` floats (`texels.size()` must be their number).
/// Throws Error(invalid_argument) when it is not.
[[nodiscard]] QUADTILE_API MapView view_of(const std::vector<float>& texels, std::uint32_t width,
                                           std::uint32_t height, std::uint32_t layers = 1);

/// Throws Error(invalid_argument) where check_image does (tile counts have 32 bits), or where the
/// format has more than one channel.
QUADTILE_API void check_shape(const MapShape& shape);

}  // namespace quadtile
