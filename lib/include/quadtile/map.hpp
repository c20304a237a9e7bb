// An importance map in host memory.

#pragma once

#include <quadtile/limits.h>
#include <quadtile/quadtree.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadtile {

// Formats of an importance map, in host memory and as a Vulkan image.
enum class TexelFormat {
    r32_float,  // VK_FORMAT_R32_SFLOAT
    r16_float,  // VK_FORMAT_R16_SFLOAT
    d32_float,  // VK_FORMAT_D32_SFLOAT; values in [0, 1]
    r16_unorm,  // VK_FORMAT_R16_UNORM: value / 65535
    r8_unorm,   // VK_FORMAT_R8_UNORM: value / 255
};

// Bytes of one texel: 4, 2 or 1.
[[nodiscard]] std::size_t texel_size_bytes(TexelFormat format) noexcept;

// Size of a map: texels, at least 1 x 1, and layers of that size, at least 1.
struct MapShape {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t layers = 1;
    TexelFormat format = TexelFormat::r32_float;

    friend bool operator==(const MapShape&, const MapShape&) = default;
};

// TOP = ceil(log2(max(width, height))), the level of the root. 0 for a 1 x 1 map.
[[nodiscard]] std::uint32_t top_level(std::uint32_t width, std::uint32_t height) noexcept;

// A map that the caller owns and keeps alive during the call it is given to: `layers` images one
// after the other, rows from the top, no padding.
struct MapView {
    const void* texels = nullptr;
    MapShape shape;
};

// A view of `width` x `height` floats (`texels.size()` must be their number).
// Throws Error(invalid_argument) when it is not.
[[nodiscard]] MapView view_of(const std::vector<float>& texels, std::uint32_t width,
                              std::uint32_t height, std::uint32_t layers = 1);

// Throws Error(invalid_argument) where a map has no texels, an extent of 0 or above 65536, more
// than 65536 layers, or 2^32 texels or more in all (tile counts have 32 bits).
void check_shape(const MapShape& shape);

}  // namespace quadtile
