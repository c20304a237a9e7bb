/// \file
/// Subdivision and mip levels on the host, plain and sequential: the CPU twins of the kernels.
///
/// Needs no Vulkan loader and no device. Thread-safe: no state is kept between calls.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>
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
    std::uint32_t width;            ///< nodes: level_extent of the map's width
    std::uint32_t height;           ///< nodes
    std::vector<float> importance;  ///< width * height maxima over the texels of each node

    /// Returns the importance of a node inside the level.
    [[nodiscard]] float at(std::uint32_t x, std::uint32_t y) const {
        return importance[static_cast<std::size_t>(y) * width + x];
    }
};

/// Maximum pyramid of one layer, from the map (NaN as +infinity, -0 and denormals as 0) to the
/// root.
struct Pyramid {
    std::vector<Level> levels;     ///< level l is levels[l]
    std::uint64_t nan_texels = 0;  ///< texels that counted as +infinity
};

/// Returns the texels as floats, as a shader reads them from an image of the map's format. Throws
/// Error(invalid_argument) for a bad shape or null texels.
[[nodiscard]] QUADTILE_API std::vector<float> decode(const MapView& map);

/// Builds the maximum pyramid of one layer. Throws Error(invalid_argument) for a bad shape, null
/// texels, or a layer that the map does not have.
[[nodiscard]] QUADTILE_API Pyramid build_pyramid(const MapView& map, std::uint32_t layer = 0);

/// Returns the tiles of all layers, in canonical order for all options.
///
/// The method is algorithm 1 of Tokuyoshi's course note, with the clamped texels that it drops: it
/// starts at the root; a node whose importance is below its threshold becomes a tile, otherwise its
/// children take its place. A texel becomes a tile in any case, with the flag clamped if its
/// importance is not below the threshold. A balance also splits nodes next to much smaller tiles
/// (docs/concepts.md).
///
/// Throws Error(invalid_argument) for a bad shape, null texels, and a threshold that does not fit
/// the map (bound_map fits none here); with a budget or a balance for a threshold that is not
/// monotone; with a budget for a balance, and if even the largest factor, just below 2^32, leaves
/// more tiles.
[[nodiscard]] QUADTILE_API TileList subdivide(const MapView& map, const Threshold& threshold,
                                              const SubdivideOptions& options = {});

/// Does the same with a threshold per layer: each layer is subdivided as a map of its own. A budget
/// holds for all layers together, with one factor. It takes 4 bytes of memory more per node. Throws
/// Error(invalid_argument) as above, and if the numbers of thresholds and layers differ.
[[nodiscard]] QUADTILE_API TileList subdivide(const MapView& map,
                                              std::span<const Threshold> layer_thresholds,
                                              const SubdivideOptions& options = {});

/// Channels of a texel as floats: unorm in [0, 1], sRGB colours in linear light.
using Texel = std::array<float, 4>;

/// Options of downsample(), with the meaning and the constraints of DownsamplerOptions.
struct Downsampling {
    Reduction reduction = Reduction::mean;         ///< of four texels to one
    TexelFormat format = TexelFormat::rgba8_srgb;  ///< of the levels that are made
    EdgeRule edge_rule = EdgeRule::fold;  ///< sizes of the levels and treatment of odd edges
    std::uint32_t levels = 0;             ///< level 0 included; 0: the full chain
    MipMethod method = MipMethod::spd;    ///< decides which levels are rounded; not `blit`
    bool copy_source = false;             ///< whether level 0 is made in `format` too
    /// Reduction of the texels a b above c d, for Reduction::custom.
    std::function<Texel(const Texel& a, const Texel& b, const Texel& c, const Texel& d)> custom;
};

/// Returns the levels of all layers of an image, bit-identical to those of a Downsampler that reads
/// texels one by one. Throws Error(invalid_argument) for a bad shape, null texels or options that
/// contradict each other.
[[nodiscard]] QUADTILE_API MipChain downsample(const ImageView& image, const Downsampling& how);

/// Returns the texels of an image as floats, layer after layer, row by row. Throws
/// Error(invalid_argument) for a bad shape or null texels.
[[nodiscard]] QUADTILE_API std::vector<Texel> decode_texels(const ImageView& image);

}  // namespace quadtile::reference
