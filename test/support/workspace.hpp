// Resources that callers of the recording layer must provide, made on a Gpu.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/image.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::test {

// A map on the GPU, and buffers for its pyramid.
struct PyramidWorkspace {
    PyramidWorkspace(Gpu& gpu, const Pyramid& pyramid, const MapView& map);

    MapShape shape;
    Image map;
    Pyramid::Requirements needed;
    Buffer levels;  // levels 1 to TOP (quadtree.h)
    Buffer state;   // zero at first
    Pyramid::Binding binding;
};

// An image on the GPU and its mip levels: in the same image if possible, or in another one if
// formats or sizes differ or the source is copied. A view without texels leaves the image
// undefined.
struct MipWorkspace {
    MipWorkspace(Gpu& gpu, const Downsampler& downsampler, const ImageView& view,
                 std::uint32_t levels);

    // Reads the levels of the last run; also the destination's level 0 if the source is copied.
    [[nodiscard]] MipChain read(Gpu& gpu) const;

    ImageView view;
    DownsamplerOptions options;
    Downsampler::Shape shape;
    Image source;
    std::optional<Image> destination;
    Buffer state;  // zero at first
    Downsampler::Binding binding;
};

// Returns random texels: any codes of 8 or 16 bits; floats in [low, high); depths from 0 to 1.
// `special`: NaN, infinities and -0 among the floats.
[[nodiscard]] std::vector<std::byte> random_texels(const ImageShape& shape, bool special = false,
                                                   float low = -1.0F, float high = 3.0F);

// Returns the reference's levels of an image. A custom reduction is CUSTOM_REDUCTION_GLSL.
[[nodiscard]] MipChain expected_chain(const DownsamplerOptions& options, const ImageView& image,
                                      std::uint32_t levels);
// Returns one sentence on the first texel that differs, or nothing. Floats match if they are equal,
// both NaN, or both denormal or 0, since devices may flush denormals, or no farther apart than the
// bound; with one, texels of 8 bits count as codes.
[[nodiscard]] std::string difference(const MipChain& actual, const MipChain& expected,
                                     std::size_t first_level = 1, float bound = 0.0F);
[[nodiscard]] std::string text_of(const DownsamplerOptions& options);

// Returns a random rectangle with sides of at most `longest`. `below(end)` draws a number.
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

// Buffers to subdivide a PyramidWorkspace, which must outlive them.
struct SubdivisionWorkspace {
    // `balanced`: also for balanced lists.
    SubdivisionWorkspace(Gpu& gpu, const Subdivider& subdivider, const PyramidWorkspace& pyramid,
                         std::uint64_t tile_capacity, bool balanced = false);

    // Returns the resources to bind, with room for so many tiles.
    [[nodiscard]] Subdivider::Resources resources(const PyramidWorkspace& pyramid,
                                                  std::uint64_t tile_capacity) const;
    // Reads the header of the last run.
    [[nodiscard]] TileListHeader read_header(Gpu& gpu) const;
    // Reads the `written` tiles of the last run, in the list's order.
    [[nodiscard]] std::vector<Tile> read_tiles(Gpu& gpu) const;

    Subdivider::Requirements needed;
    Buffer scratch;  // zero at first
    Buffer tile_list;
    std::optional<Buffer> balance;
    Subdivider::Binding binding;
};

// Returns a sentence on a header that is not that of a list of `required` tiles in a buffer for
// `capacity`, or nothing.
[[nodiscard]] std::string wrong_header(const TileListHeader& header, std::uint64_t required,
                                       std::uint64_t capacity, Balance balance = Balance::none,
                                       std::uint32_t max_workgroup_count = 65535);

}  // namespace quadtile::test
