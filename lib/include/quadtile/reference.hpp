// The subdivision on the host: plain, sequential, and the measure for every kernel.
//
// Needs no Vulkan loader and no device. Thread-safe: no state is kept between calls.

#pragma once

#include <quadtile/map.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::reference {

// One level of one layer: its nodes row by row from the top.
struct Level {
    std::uint32_t width;
    std::uint32_t height;
    std::vector<float> importance;

    [[nodiscard]] float at(std::uint32_t x, std::uint32_t y) const {
        return importance[static_cast<std::size_t>(y) * width + x];
    }
};

// The maximum quadtree of one layer, level 0 (the map, NaN as +inf, -0 and denormals as 0) to the
// root.
struct Pyramid {
    std::vector<Level> levels;
    std::uint64_t nan_texels = 0;
};

// The texels as floats: what a shader reads from an image of the map's format.
[[nodiscard]] std::vector<float> decode(const MapView& map);

// Builds the maximum quadtree of one layer. Throws Error(invalid_argument) for a bad shape or
// layer.
[[nodiscard]] Pyramid build_pyramid(const MapView& map, std::uint32_t layer = 0);

// The tiles of all layers, in canonical order.
//
// Starts at the root; a node whose importance is below the threshold of its level is a tile,
// otherwise its children take its place; a texel is a tile in any case, flagged clamped where it is
// not below (Tokuyoshi's course note, algorithm 1, with the clamped texels that it drops).
// Throws Error(invalid_argument) for a bad shape or a threshold that does not fit it.
[[nodiscard]] TileList subdivide(const MapView& map, const Threshold& threshold);

}  // namespace quadtile::reference
