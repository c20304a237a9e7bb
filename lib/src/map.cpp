#include <quadtile/error.hpp>
#include <quadtile/map.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace quadtile {

std::size_t texel_size_bytes(TexelFormat format) noexcept {
    switch (format) {
        case TexelFormat::r32_float:
        case TexelFormat::d32_float:
            return 4;
        case TexelFormat::r16_float:
        case TexelFormat::r16_unorm:
            return 2;
        case TexelFormat::r8_unorm:
            break;
    }
    return 1;
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
                    "the map has " + std::to_string(texels.size()) + " texels where " +
                        std::to_string(width) + " x " + std::to_string(height) + " x " +
                        std::to_string(layers) + " layers were announced");
    }
    return view;
}

void check_shape(const MapShape& shape) {
    const std::string size = std::to_string(shape.width) + " x " + std::to_string(shape.height) +
                             " texels with " + std::to_string(shape.layers) + " layers";
    if (shape.width == 0 || shape.height == 0 || shape.layers == 0) {
        throw Error(ErrorCode::invalid_argument,
                    "a map of " + size + " is empty: width, height and layers must be at least 1");
    }
    if (shape.width > MAX_MAP_EXTENT || shape.height > MAX_MAP_EXTENT ||
        shape.layers > MAX_LAYERS) {
        throw Error(ErrorCode::invalid_argument,
                    "a map of " + size + " is too large: tile records have room for " +
                        std::to_string(MAX_MAP_EXTENT) + " texels on a side and " +
                        std::to_string(MAX_LAYERS) + " layers; cut it into several maps");
    }
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    if (texels > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorCode::invalid_argument,
                    "a map of " + size + " is too large: it has " + std::to_string(texels) +
                        " texels, 2^32 - 1 is the most; cut it into several maps");
    }
}

}  // namespace quadtile
