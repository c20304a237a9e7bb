/// \file
/// Mip chains: how a level is made from the one below it, and levels in host memory.

#pragma once

#include <quadtile/export.h>
#include <quadtile/mip.h>
#include <quadtile/image.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile {

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
