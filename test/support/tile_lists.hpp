// Properties and parts of tile lists.

#pragma once

#include <quadtile/tiles.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace quadtile::test {

// Returns whether each texel of each layer lies in exactly one tile, and no tile outside of the
// quadtree.
inline bool is_partition(const std::vector<Tile>& tiles, const MapShape& shape) {
    std::vector<bool> covered(std::size_t{shape.width} * shape.height * shape.layers);
    for (const Tile& tile : tiles) {
        if (tile.layer() >= shape.layers || tile.level() > top_level(shape.width, shape.height)) {
            return false;
        }
        const TexelRect rect = texels_of(tile, shape.width, shape.height);
        if (rect.left >= rect.right || rect.top >= rect.bottom) {
            return false;
        }
        for (std::size_t y = rect.top; y < rect.bottom; ++y) {
            for (std::size_t x = rect.left; x < rect.right; ++x) {
                const std::size_t i = (tile.layer() * shape.height + y) * shape.width + x;
                if (covered[i]) {
                    return false;
                }
                covered[i] = true;
            }
        }
    }
    return std::ranges::all_of(covered, [](bool is_covered) { return is_covered; });
}

inline std::vector<Tile> tiles_of_layer(const TileList& list, std::uint32_t layer) {
    std::vector<Tile> tiles;
    std::ranges::copy_if(list.tiles, std::back_inserter(tiles),
                         [&](const Tile& tile) { return tile.layer() == layer; });
    return tiles;
}

}  // namespace quadtile::test
