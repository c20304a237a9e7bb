/// \file
/// Images in host memory, and importance maps, which are images of one channel.

#pragma once

#include <quadtile/export.h>
#include <quadtile/limits.h>
#include <quadtile/quadtree.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadtile {

/// Formats of texels, in host memory and of Vulkan images; channels in this order, no padding.
enum class TexelFormat {
    r32_float,     ///< VK_FORMAT_R32_SFLOAT
    r16_float,     ///< VK_FORMAT_R16_SFLOAT
    d32_float,     ///< VK_FORMAT_D32_SFLOAT; values in [0, 1]
    r16_unorm,     ///< VK_FORMAT_R16_UNORM: value / 65535
    r8_unorm,      ///< VK_FORMAT_R8_UNORM: value / 255
    d16_unorm,     ///< VK_FORMAT_D16_UNORM: value / 65535
    rg32_float,    ///< VK_FORMAT_R32G32_SFLOAT
    rg16_float,    ///< VK_FORMAT_R16G16_SFLOAT
    rgba32_float,  ///< VK_FORMAT_R32G32B32A32_SFLOAT
    rgba16_float,  ///< VK_FORMAT_R16G16B16A16_SFLOAT
    rgba8_unorm,   ///< VK_FORMAT_R8G8B8A8_UNORM
    rgba8_srgb,    ///< VK_FORMAT_R8G8B8A8_SRGB: sRGB colours (IEC 61966-2-1), linear alpha
};

/// Returns the bytes per texel.
[[nodiscard]] QUADTILE_API std::size_t texel_size_bytes(TexelFormat format) noexcept;

/// Returns the channels per texel: 1, 2 or 4.
[[nodiscard]] QUADTILE_API std::uint32_t channel_count(TexelFormat format) noexcept;

/// Returns the enumerator's name, such as "rgba8_srgb".
[[nodiscard]] QUADTILE_API const char* name_of(TexelFormat format) noexcept;

/// Size and format of an image: at least 1 x 1 texels and one layer.
struct ImageShape {
    std::uint32_t width = 0;                      ///< texels
    std::uint32_t height = 0;                     ///< texels
    std::uint32_t layers = 1;                     ///< images of that size
    TexelFormat format = TexelFormat::r32_float;  ///< of each texel

    /// Returns whether size and format are equal.
    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// An image in the caller's memory, which the caller keeps alive during the call that takes it:
/// `layers` images one after the other, each with its rows from the top, without padding.
struct ImageView {
    const void* texels = nullptr;  ///< first texel; aligned as its channels are
    ImageShape shape;              ///< gives the number of texels
};

/// Checks the size of an image. Throws Error(invalid_argument) if it has no texels, an extent of 0
/// or above 65536, more than 65536 layers, or 2^32 texels or more in all.
QUADTILE_API void check_image(const ImageShape& shape);

/// Checks the texels of an image. Throws Error(invalid_argument) if `texels` is null.
QUADTILE_API void check_texels(const ImageView& image);

/// Size and format of a map; the format has one channel.
using MapShape = ImageShape;
/// A map in the caller's memory.
using MapView = ImageView;

/// Returns the level of the root: ceil(log2(max(width, height))), which is 0 for a 1 x 1 map.
[[nodiscard]] QUADTILE_API std::uint32_t top_level(std::uint32_t width,
                                                   std::uint32_t height) noexcept;

/// Returns a view of `layers` x `width` x `height` floats. Throws Error(invalid_argument) if
/// `texels` has another size.
[[nodiscard]] QUADTILE_API MapView view_of(const std::vector<float>& texels, std::uint32_t width,
                                           std::uint32_t height, std::uint32_t layers = 1);

/// Checks the size and the format of a map. Throws Error(invalid_argument) as check_image does
/// (tile counts have 32 bits), and if the format has more than one channel.
QUADTILE_API void check_shape(const MapShape& shape);

}  // namespace quadtile
