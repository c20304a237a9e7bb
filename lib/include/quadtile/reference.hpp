/// \file
/// Subdivision and mip levels on the host: plain, sequential, and the measure for every kernel.
///
/// Needs no Vulkan loader and no device. Thread-safe: no state is kept between calls.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>
#include <quadtile/mip_chain.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace quadtile::reference {

/// One level of one layer: its nodes row by row from the top.
struct Level {
    std::uint32_t width;            ///< nodes: level_extent of the map's
    std::uint32_t height;           ///< nodes
    std::vector<float> importance;  ///< width * height: the maximum over each node's texels

    /// That of a node inside the level.
    [[nodiscard]] float at(std::uint32_t x, std::uint32_t y) const {
        return importance[static_cast<std::size_t>(y) * width + x];
    }
};

/// The maximum quadtree of one layer, level 0 (the map, NaN as +inf, -0 and denormals as 0) to the
/// root.
struct Pyramid {
    std::vector<Level> levels;     ///< level l is levels[l]
    std::uint64_t nan_texels = 0;  ///< that counted as +infinity
};

/// The texels as floats: what a shader reads from an image of the map's format.
/// Throws Error(invalid_argument) for a bad shape or null texels.
[[nodiscard]] QUADTILE_API std::vector<float> decode(const MapView& map);

/// Builds the maximum quadtree of one layer. Throws Error(invalid_argument) for a bad shape, null
/// texels or a layer that the map does not have.
[[nodiscard]] QUADTILE_API Pyramid build_pyramid(const MapView& map, std::uint32_t layer = 0);

/// The tiles of all layers, in canonical order whatever the options say.
///
/// Starts at the root; a node whose importance is below its threshold is a tile,
/// otherwise its children take its place; a texel is a tile in any case, flagged clamped where it
/// is not below (Tokuyoshi's course note, algorithm 1, with the clamped texels that it drops).
/// With a balance, nodes next to much smaller tiles are split besides (docs/concepts.md).
/// Throws Error(invalid_argument) for a bad shape, null texels or a threshold that does not fit it
/// (bound_map fits none here); with a budget also for a threshold that is not monotone, and where
/// even the largest factor, just below 2^32, leaves more tiles: there is one for each layer at
/// least, and nodes whose importance is infinite or 2^32 times their threshold (0, for example) are
/// split under every factor. Throws it for a budget together with a balance, too.
[[nodiscard]] QUADTILE_API TileList subdivide(const MapView& map, const Threshold& threshold,
                                              const SubdivideOptions& options = {});

/// The same with a threshold for each layer: each is subdivided as a map of one layer under its
/// own. A budget holds for all layers together, by one factor. Takes 4 bytes of memory a node more.
/// Throws Error(invalid_argument) also where there are more or fewer thresholds than layers.
[[nodiscard]] QUADTILE_API TileList subdivide(const MapView& map,
                                              std::span<const Threshold> layer_thresholds,
                                              const SubdivideOptions& options = {});

/// A texel's channels as floats: unorm in [0, 1], sRGB colours in linear light.
using Texel = std::array<float, 4>;

/// How an image is downsampled; see DownsamplerOptions for what each means and what goes together.
struct Downsampling {
    Reduction reduction = Reduction::mean;         ///< of four texels to one
    TexelFormat format = TexelFormat::rgba8_srgb;  ///< of the levels that are made
    EdgeRule edge_rule = EdgeRule::fold;           ///< sizes, and what odd edges become
    std::uint32_t levels = 0;                      ///< level 0 included; 0: the full chain
    MipMethod method = MipMethod::spd;  ///< after how many levels values are rounded; not `blit`
    bool copy_source = false;           ///< level 0 in `format`, too
    /// For Reduction::custom: of the texels a b above c d.
    std::function<Texel(const Texel& a, const Texel& b, const Texel& c, const Texel& d)> custom;
};

/// The levels of all layers of an image, to the bit as Downsampler makes them when it reads texels
/// one by one. Throws Error(invalid_argument) for a bad shape, null texels
/// or options that contradict each other.
[[nodiscard]] QUADTILE_API MipChain downsample(const ImageView& image, const Downsampling& how);

/// Throws Error(invalid_argument) where a reduction cannot go from one format to the other.
QUADTILE_API void check_formats(Reduction reduction, TexelFormat source, TexelFormat target);

/// The texels of an image as floats, layer after layer, row by row.
/// Throws Error(invalid_argument) for a bad shape or null texels.
[[nodiscard]] QUADTILE_API std::vector<Texel> decode_texels(const ImageView& image);

}  // namespace quadtile::reference
