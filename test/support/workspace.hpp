// The resources that the recording layer asks its caller for, made on a Gpu.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/image.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::test {

// A map on the GPU and room for its pyramid.
struct PyramidWorkspace {
    PyramidWorkspace(Gpu& gpu, const Pyramid& pyramid, const MapView& map);

    MapShape shape;
    Image map;
    Buffer levels;  // 1 to TOP (quadtree.h)
    Buffer state;   // zeros
    Pyramid::Binding binding;
};

// An image on the GPU and room for its mip levels: in itself where it can hold them, in another
// image where the formats or the sizes differ or the source is copied. A view without texels leaves
// the image undefined.
struct MipWorkspace {
    MipWorkspace(Gpu& gpu, const Downsampler& downsampler, const ImageView& view,
                 std::uint32_t levels, std::uint32_t dirty_rectangle_capacity = 0);

    // What `record` records runs after, and is done before, everything else.
    void run(Gpu& gpu, const Recorder& record) const;
    // The list of rectangles on the GPU.
    void write_rectangles(std::span<const DirtyRectangle> rectangles) const;
    // The levels of the last run; level 0 of the destination where the source is copied.
    [[nodiscard]] MipChain read(Gpu& gpu) const;

    ImageView view;
    DownsamplerOptions options;
    Downsampler::Shape shape;
    Image source;
    std::optional<Image> destination;
    Buffer state;         // zeros
    Buffer dirty_blocks;  // zeros
    Buffer dirty_rectangles;
    Downsampler::Binding binding;
};

// Texels of an image: any codes of 8 or 16 bits; floats from `low` on and below `high`, depths from
// 0 to 1. `special`: NaN, infinities and -0 among the floats.
[[nodiscard]] std::vector<std::byte> random_texels(const ImageShape& shape, bool special = false,
                                                   std::uint32_t seed = 1, float low = -1.0F,
                                                   float high = 3.0F);

// What the reference makes of an image; CUSTOM_REDUCTION_GLSL where the reduction is the caller's.
[[nodiscard]] MipChain expected_chain(const DownsamplerOptions& options, const ImageView& image,
                                      std::uint32_t levels);
// One sentence on the first texel that differs, or empty. Floats are the same where they are equal,
// both NaN, or both denormal or 0: whether denormals are kept is the device's choice.
[[nodiscard]] std::string difference(const MipChain& actual, const MipChain& expected,
                                     std::size_t first_level = 1);
[[nodiscard]] std::string text_of(const DownsamplerOptions& options);

// A rectangle in an image, of up to `longest` texels along a side. `below(end)` draws a number.
template <typename Below>
[[nodiscard]] DirtyRectangle random_rectangle(const ImageShape& shape, std::uint32_t longest,
                                              const Below& below) {
    DirtyRectangle rectangle{};
    rectangle.x = below(shape.width);
    rectangle.y = below(shape.height);
    rectangle.width = 1 + below(std::min(shape.width - rectangle.x, longest));
    rectangle.height = 1 + below(std::min(shape.height - rectangle.y, longest));
    rectangle.layer = below(shape.layers);
    return rectangle;
}

// Room for the subdivision of a PyramidWorkspace, which must outlive it.
struct SubdivisionWorkspace {
    // `balanced`: also for balanced lists.
    SubdivisionWorkspace(Gpu& gpu, const Subdivider& subdivider, const PyramidWorkspace& pyramid,
                         std::uint64_t tile_capacity, bool balanced = false);

    // What is bound, with room for so many tiles.
    [[nodiscard]] Subdivider::Resources resources(const PyramidWorkspace& pyramid,
                                                  std::uint64_t tile_capacity) const;
    // The pyramid, then the tiles.
    void run(Gpu& gpu, const Pyramid& pyramid, const PyramidWorkspace& map,
             const Subdivider& subdivider, const Threshold& threshold,
             const SubdivideOptions& options = {.order = Order::any}) const;

    // Of the last run.
    [[nodiscard]] TileListHeader read_header(Gpu& gpu) const;
    // The `written` tiles of the last run, as they lie.
    [[nodiscard]] std::vector<Tile> read_tiles(Gpu& gpu) const;
    // In canonical order.
    [[nodiscard]] std::vector<Tile> read_sorted(Gpu& gpu) const;

    Buffer scratch;  // zeros
    Buffer tile_list;
    std::optional<Buffer> balance;
    Subdivider::Binding binding;
};

// The word of a map's state that is not back at 0, or empty: of what Pyramid and Strategy::fused
// keep behind their own words (kernel_parameters.h).
[[nodiscard]] std::string counter_not_at_rest(std::span<const std::uint32_t> state,
                                              const MapShape& shape, bool fused = false);

}  // namespace quadtile::test
