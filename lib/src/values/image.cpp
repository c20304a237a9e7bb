#include <quadtile/error.hpp>
#include <quadtile/image.hpp>

#include "text.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace quadtile {

std::size_t texel_size_bytes(TexelFormat format) noexcept {
    switch (format) {
        case TexelFormat::r8_unorm:
            return 1;
        case TexelFormat::r16_float:
        case TexelFormat::r16_unorm:
        case TexelFormat::d16_unorm:
            return 2;
        case TexelFormat::r32_float:
        case TexelFormat::d32_float:
        case TexelFormat::rg16_float:
        case TexelFormat::rgba8_unorm:
        case TexelFormat::rgba8_srgb:
            return 4;
        case TexelFormat::rg32_float:
        case TexelFormat::rgba16_float:
            return 8;
        case TexelFormat::rgba32_float:
            break;
    }
    return 16;
}

std::uint32_t channel_count(TexelFormat format) noexcept {
    switch (format) {
        case TexelFormat::r32_float:
        case TexelFormat::r16_float:
        case TexelFormat::d32_float:
        case TexelFormat::r16_unorm:
        case TexelFormat::r8_unorm:
        case TexelFormat::d16_unorm:
            return 1;
        case TexelFormat::rg32_float:
        case TexelFormat::rg16_float:
            return 2;
        case TexelFormat::rgba32_float:
        case TexelFormat::rgba16_float:
        case TexelFormat::rgba8_unorm:
        case TexelFormat::rgba8_srgb:
            break;
    }
    return 4;
}

const char* name_of(TexelFormat format) noexcept {
    switch (format) {
        case TexelFormat::r32_float:
            return "r32_float";
        case TexelFormat::r16_float:
            return "r16_float";
        case TexelFormat::d32_float:
            return "d32_float";
        case TexelFormat::r16_unorm:
            return "r16_unorm";
        case TexelFormat::r8_unorm:
            return "r8_unorm";
        case TexelFormat::d16_unorm:
            return "d16_unorm";
        case TexelFormat::rg32_float:
            return "rg32_float";
        case TexelFormat::rg16_float:
            return "rg16_float";
        case TexelFormat::rgba32_float:
            return "rgba32_float";
        case TexelFormat::rgba16_float:
            return "rgba16_float";
        case TexelFormat::rgba8_unorm:
            return "rgba8_unorm";
        case TexelFormat::rgba8_srgb:
            break;
    }
    return "rgba8_srgb";
}

void check_image(const ImageShape& shape) {
    const std::string size = detail::size_of(shape.width, shape.height, shape.layers);
    if (shape.width == 0 || shape.height == 0 || shape.layers == 0) {
        throw Error(
            ErrorCode::invalid_argument,
            "an image of " + size + " is empty: width, height and layers must be at least 1");
    }
    if (shape.width > MAX_MAP_EXTENT || shape.height > MAX_MAP_EXTENT ||
        shape.layers > MAX_LAYERS) {
        throw Error(ErrorCode::invalid_argument,
                    "an image of " + size + " is too large: the most are " +
                        std::to_string(MAX_MAP_EXTENT) + " texels on a side and " +
                        std::to_string(MAX_LAYERS) + " layers; cut it into several images");
    }
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    if (texels > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorCode::invalid_argument,
                    "an image of " + size + " is too large: it has " + std::to_string(texels) +
                        " texels, but 2^32 - 1 are the most; cut it into several images");
    }
}

void check_texels(const ImageView& image) {
    if (image.texels == nullptr) {
        throw Error(ErrorCode::invalid_argument, "the image has no texels (null pointer)");
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
        throw Error(ErrorCode::invalid_argument,
                    "the map has " + std::to_string(texels.size()) + " texels, but " +
                        std::to_string(width) + " x " + std::to_string(height) + " x " +
                        std::to_string(layers) + " (width x height x layers) were announced");
    }
    return view;
}

void check_shape(const MapShape& shape) {
    check_image(shape);
    if (channel_count(shape.format) != 1) {
        throw Error(ErrorCode::invalid_argument,
                    std::string("a map has one channel, but ") + name_of(shape.format) + " has " +
                        std::to_string(channel_count(shape.format)) +
                        "; give the channel that holds the importance");
    }
}

std::uint32_t full_mip_levels(std::uint32_t width, std::uint32_t height,
                              EdgeRule edge_rule) noexcept {
    const std::uint32_t extent = std::max(width, height);
    const auto floor_levels = static_cast<std::uint32_t>(std::bit_width(extent));
    const bool rounds_up = edge_rule == EdgeRule::round_up && !std::has_single_bit(extent);
    return rounds_up ? floor_levels + 1 : floor_levels;
}

}  // namespace quadtile
