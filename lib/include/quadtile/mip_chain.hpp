/// \file
/// Mip chains: what makes a level of the one below it, and levels in host memory.

#pragma once

#include <quadtile/export.h>
#include <quadtile/mip.h>
#include <quadtile/image.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadtile {

/// What becomes of the four texels below a texel. Minima and maxima are exact; NaN counts as the
/// extreme that is asked for (+inf for a maximum, -inf for a minimum), -0 and denormals as 0.
enum class Reduction : std::uint32_t {
    max = REDUCE_MAX,  ///< of all texels covered
    min = REDUCE_MIN,  ///< of all texels covered
    /// Of all texels covered, each with the same weight, also where edges are odd. sRGB colours in
    /// linear light.
    mean = REDUCE_MEAN,
    sum = REDUCE_SUM,          ///< float formats only
    min_max = REDUCE_MIN_MAX,  ///< two channels: minimum, maximum; a source of one channel is both
    custom = REDUCE_CUSTOM,    ///< the caller's own GLSL
};

/// How sizes and odd edges go from level to level; quadtile/mip.h has the definitions.
enum class EdgeRule : std::uint32_t {
    /// Sizes rounded up; nothing exists outside. The quadtree's.
    round_up = EDGE_ROUND_UP,
    /// Sizes rounded down as in Vulkan mip chains; the last texel takes in what is left over.
    /// Extremes stay conservative, sums and means keep every texel.
    fold = EDGE_FOLD,
    /// Sizes rounded down; what is left over is dropped, as FidelityFX SPD does.
    drop = EDGE_DROP,
};

/// How the levels are made on the GPU.
enum class MipMethod {
    automatic,  ///< spd; blits where the device cannot store the format and they can do it
    spd,        ///< one dispatch: the last workgroup of a region goes on with its results
    subgroup,   ///< a dispatch and a barrier for every six levels, reduced within a workgroup
    per_level,  ///< a dispatch and a barrier for every level
    /// vkCmdBlitImage for every level; means only, rounded as the driver likes. Odd sizes are
    /// resampled: neither folded nor dropped.
    blit,
};

/// The full chain's number of levels, level 0 included, down to 1 x 1.
[[nodiscard]] QUADTILE_API std::uint32_t full_mip_levels(std::uint32_t width, std::uint32_t height,
                                                         EdgeRule edge_rule) noexcept;

/// Levels of one image in host memory.
struct MipChain {
    /// One of them.
    struct Level {
        ImageShape shape;               ///< its size; all levels have the same layers
        std::vector<std::byte> texels;  ///< as an ImageView has them
    };
    std::vector<Level> levels;  ///< level 0 is the source in its own format, or a copy
};

}  // namespace quadtile
