// Twin of the pyramid of kernels/downsample.comp: each node is the maximum of its children
// inside the map.

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include "values/refuse.hpp"

namespace quadtile::reference {

namespace {

// Returns +inf for NaN, 0 for -0 and denormals.
float settle(float importance) {
    if (std::isnan(importance)) {
        return std::numeric_limits<float>::infinity();
    }
    return std::abs(importance) < std::numeric_limits<float>::min() ? 0.0F : importance;
}

Level level_above(const Level& below) {
    Level level{(below.width + 1) / 2, (below.height + 1) / 2, {}};
    for (std::uint32_t y = 0; y < level.height; ++y) {
        for (std::uint32_t x = 0; x < level.width; ++x) {
            float maximum = below.at(2 * x, 2 * y);
            for (std::uint32_t cy = 2 * y; cy < std::min(2 * y + 2, below.height); ++cy) {
                for (std::uint32_t cx = 2 * x; cx < std::min(2 * x + 2, below.width); ++cx) {
                    maximum = std::max(maximum, below.at(cx, cy));
                }
            }
            level.importance.push_back(maximum);
        }
    }
    return level;
}

}  // namespace

Pyramid build_pyramid(const MapView& map, std::uint32_t layer) {
    check_shape(map.shape);
    check_texels(map);
    if (layer >= map.shape.layers) {
        detail::refuse("there is no layer ", layer,
                       ": layers are numbered from 0, and the map has ", map.shape.layers);
    }
    MapShape one_layer = map.shape;
    one_layer.layers = 1;
    const std::size_t layer_bytes =
        std::size_t{map.shape.width} * map.shape.height * texel_size_bytes(map.shape.format);
    Pyramid pyramid;
    Level base{
        map.shape.width, map.shape.height,
        decode({static_cast<const std::byte*>(map.texels) + layer * layer_bytes, one_layer})};
    for (float& importance : base.importance) {
        pyramid.nan_texels += std::isnan(importance) ? 1 : 0;
        importance = settle(importance);
    }
    pyramid.levels.push_back(std::move(base));
    while (pyramid.levels.back().width > 1 || pyramid.levels.back().height > 1) {
        pyramid.levels.push_back(level_above(pyramid.levels.back()));
    }
    return pyramid;
}

}  // namespace quadtile::reference
