#include "tracer.hpp"

#include <algorithm>
#include <cmath>

namespace quadtile::baker {

namespace {

// Beyond it a tile's rows would not fit the 16 bits that images have; tiles that need more are
// texels of the importance map, which are as small as tiles get.
constexpr float LARGEST_RESOLUTION = 16384.0F;

}  // namespace

std::uint32_t tile_resolution(std::uint32_t level, float importance) {
    const float pixels = std::ceil(std::ldexp(importance, static_cast<int>(level)));
    return static_cast<std::uint32_t>(std::clamp(pixels, 1.0F, LARGEST_RESOLUTION));
}

std::uint32_t uniform_level(float importance, const TileOptions& options) {
    auto level = static_cast<std::uint32_t>(std::log2(options.map_extent));
    while (level > 0 && std::ldexp(importance, static_cast<int>(level)) > options.max_resolution) {
        --level;
    }
    return level;
}

double predicted_nodes(std::uint32_t level, std::uint32_t resolution, float fragments) {
    return std::ldexp(static_cast<double>(fragments), -2 * static_cast<int>(level)) * resolution *
           resolution;
}

}  // namespace quadtile::baker
