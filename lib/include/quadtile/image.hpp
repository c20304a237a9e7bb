/// \file
/// Images in host memory with their mip levels, and importance maps, which are images of one
/// channel.

#pragma once

#include <quadtile/export.h>
#include <quadtile/limits.h>
#include <quadtile/mip.h>
#include <quadtile/quadtree.h>

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Reduction of the four texels below a texel to one. Minima and maxima are exact. They treat NaN
/// as the extreme in question (+infinity for a maximum, -infinity for a minimum), and -0 and
/// denormals as 0.
enum class Reduction : std::uint32_t {
    max = REDUCE_MAX,  ///< of all covered texels
    min = REDUCE_MIN,  ///< of all covered texels
    /// Mean of all covered texels with equal weights, also at odd edges; sRGB in linear light.
    mean = REDUCE_MEAN,
    sum = REDUCE_SUM,          ///< float formats only
    min_max = REDUCE_MIN_MAX,  ///< two channels: minimum, maximum; one channel serves as both
    custom = REDUCE_CUSTOM,    ///< by the caller's GLSL
};

/// Sizes of levels and treatment of odd edges; quadtile/mip.h has the definitions.
enum class EdgeRule : std::uint32_t {
    /// Sizes are rounded up; texels outside do not exist. The rule of the quadtree.
    round_up = EDGE_ROUND_UP,
    /// Sizes are rounded down, as in Vulkan mip chains; the last texel also covers the remainder.
    /// Extremes stay conservative; sums and means include every texel.
    fold = EDGE_FOLD,
    /// Sizes are rounded down; the remainder is dropped, as in FidelityFX SPD.
    drop = EDGE_DROP,
};

/// Ways to make the levels on the GPU.
enum class MipMethod {
    automatic,  ///< spd; blit if the device can blit the format but not store it
    spd,        ///< one dispatch: the last workgroup to finish in a region makes its higher levels
    subgroup,   ///< a dispatch and a barrier per six levels, reduced within a workgroup
    per_level,  ///< a dispatch and a barrier per level
    /// vkCmdBlitImage per level; means only, with the driver's rounding. Odd sizes are resampled,
    /// neither folded nor dropped.
    blit,
};

/// Returns the number of levels of the full chain, level 0 included, down to 1 x 1.
[[nodiscard]] QUADTILE_API std::uint32_t full_mip_levels(std::uint32_t width, std::uint32_t height,
                                                         EdgeRule edge_rule) noexcept;

/// Checks that a reduction can go from one format to the other. Throws Error(invalid_argument) if
/// it cannot.
QUADTILE_API void check_formats(Reduction reduction, TexelFormat source, TexelFormat target);

/// Levels of one image in host memory.
struct MipChain {
    /// One level.
    struct Level {
        ImageShape shape;               ///< all levels have the same layers
        std::vector<std::byte> texels;  ///< in the layout of ImageView
    };
    std::vector<Level> levels;  ///< level 0 is the source in its own format, or a copy
    /// Microseconds on the GPU from the end of earlier work to the end of the levels; no value
    /// without GPU timestamps.
    std::optional<double> gpu_time_us = std::nullopt;
};

}  // namespace quadtile
