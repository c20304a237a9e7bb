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

/// Formats of texels, in host memory and as a Vulkan image; channels in this order, no padding.
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

/// Bytes of one texel.
[[nodiscard]] QUADTILE_API std::size_t texel_size_bytes(TexelFormat format) noexcept;

/// Channels of a texel: 1, 2 or 4.
[[nodiscard]] QUADTILE_API std::uint32_t channel_count(TexelFormat format) noexcept;

/// The enumerator's name, such as "rgba8_srgb".
[[nodiscard]] QUADTILE_API const char* name_of(TexelFormat format) noexcept;

/// Size of an image: texels, at least 1 x 1, and layers of that size, at least 1.
struct ImageShape {
    std::uint32_t width = 0;                      ///< texels
    std::uint32_t height = 0;                     ///< texels
    std::uint32_t layers = 1;                     ///< of that size
    TexelFormat format = TexelFormat::r32_float;  ///< of each texel

    /// Whether all of it is the same.
    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// An image that the caller owns and keeps alive during the call it is given to: `layers` images
/// one after the other, rows from the top, no padding.
struct ImageView {
    const void* texels = nullptr;  ///< the first one; aligned as its channels are
    ImageShape shape;              ///< says how many there are
};

/// Throws Error(invalid_argument) where an image has no texels, an extent of 0 or above 65536, more
/// than 65536 layers, or 2^32 texels or more in all.
QUADTILE_API void check_image(const ImageShape& shape);

/// Throws Error(invalid_argument) where `texels` is null.
QUADTILE_API void check_texels(const ImageView& image);

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
