#include <quadtile/error.hpp>
#include <quadtile/map.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace quadtile {

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
    check_image(shape);
    if (channel_count(shape.format) != 1) {
        throw Error(ErrorCode::invalid_argument,
                    std::string("a map has one channel, ") + name_of(shape.format) + " has " +
                        std::to_string(channel_count(shape.format)) +
                        "; give the channel that holds the importance");
    }
}

}  // namespace quadtile
