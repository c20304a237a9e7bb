#include <quadtile/error.hpp>
#include <quadtile/image.hpp>

#include "refuse.hpp"
#include "texel_codec.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace quadtile {

namespace {

struct FormatProperties {
    const char* name;
    std::uint32_t encoding;
    std::uint32_t channels;
};

// By TexelFormat.
constexpr FormatProperties FORMATS[] = {
    {"r32_float", ENCODING_FLOAT32, 1},    {"r16_float", ENCODING_FLOAT16, 1},
    {"d32_float", ENCODING_FLOAT32, 1},    {"r16_unorm", ENCODING_UNORM16, 1},
    {"r8_unorm", ENCODING_UNORM8, 1},      {"d16_unorm", ENCODING_UNORM16, 1},
    {"rg32_float", ENCODING_FLOAT32, 2},   {"rg16_float", ENCODING_FLOAT16, 2},
    {"rgba32_float", ENCODING_FLOAT32, 4}, {"rgba16_float", ENCODING_FLOAT16, 4},
    {"rgba8_unorm", ENCODING_UNORM8, 4},   {"rgba8_srgb", ENCODING_SRGB8, 4}};

const FormatProperties& properties_of(TexelFormat format) {
    return FORMATS[static_cast<std::size_t>(format)];
}

}  // namespace

std::uint32_t detail::encoding_of(TexelFormat format) noexcept {
    return properties_of(format).encoding;
}

std::size_t texel_size_bytes(TexelFormat format) noexcept {
    constexpr std::size_t CHANNEL_BYTES[] = {4, 2, 1, 2, 1};  // by encoding
    return CHANNEL_BYTES[detail::encoding_of(format)] * channel_count(format);
}

std::uint32_t channel_count(TexelFormat format) noexcept {
    return properties_of(format).channels;
}

const char* name_of(TexelFormat format) noexcept {
    return properties_of(format).name;
}

void check_image(const ImageShape& shape) {
    const std::string size = detail::size_of(shape.width, shape.height, shape.layers);
    if (shape.width == 0 || shape.height == 0 || shape.layers == 0) {
        detail::refuse("an image of ", size,
                       " is empty: width, height and layers must be at least 1");
    }
    if (shape.width > MAX_MAP_EXTENT || shape.height > MAX_MAP_EXTENT ||
        shape.layers > MAX_LAYERS) {
        detail::refuse("an image of ", size, " is too large: the most are ", MAX_MAP_EXTENT,
                       " texels on a side and ", MAX_LAYERS, " layers; cut it into several images");
    }
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    if (texels > std::numeric_limits<std::uint32_t>::max()) {
        detail::refuse("an image of ", size, " is too large: it has ", texels,
                       " texels, but 2^32 - 1 are the most; cut it into several images");
    }
}

void check_texels(const ImageView& image) {
    if (image.texels == nullptr) {
        detail::refuse("the image has no texels (null pointer)");
    }
}

std::uint32_t top_level(std::uint32_t width, std::uint32_t height) noexcept {
    return static_cast<std::uint32_t>(std::bit_width(std::max(width, height) - 1));
}

MapView view_of(const std::vector<float>& texels, std::uint32_t width, std::uint32_t height,
                std::uint32_t layers) {
    const MapView view{texels.data(), {width, height, layers, TexelFormat::r32_float}};
    check_shape(view.shape);
    if (texels.size() != std::size_t{width} * height * layers) {
        detail::refuse("the map has ", texels.size(), " texels, but ", width, " x ", height, " x ",
                       layers, " (width x height x layers) were announced");
    }
    return view;
}

void check_shape(const MapShape& shape) {
    check_image(shape);
    if (channel_count(shape.format) != 1) {
        detail::refuse("a map has one channel, but ", name_of(shape.format), " has ",
                       channel_count(shape.format), "; give the channel that holds the importance");
    }
}

}  // namespace quadtile
