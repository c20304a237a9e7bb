#include <quadtile/error.hpp>
#include <quadtile/tiles.hpp>

#include "refuse.hpp"

#include <algorithm>

namespace quadtile {

namespace {

// Returns the position in the canonical order: the Morton code of the first texel needs 32 bits.
std::uint64_t canonical_key(const Tile& tile) {
    const std::uint64_t first_texel = std::uint64_t{morton_encode(tile.x(), tile.y())}
                                      << (2 * tile.level());
    return (std::uint64_t{tile.layer()} << 32U) | first_texel;
}

std::string describe(const Tile& tile) {
    return "tile (level " + std::to_string(tile.level()) + ", x " + std::to_string(tile.x()) +
           ", y " + std::to_string(tile.y()) + ", layer " + std::to_string(tile.layer()) + ")";
}

}  // namespace

TexelRect texels_of(const Tile& tile, std::uint32_t map_width, std::uint32_t map_height) noexcept {
    const std::uint32_t level = tile.level();
    return {tile.x() << level, tile.y() << level, std::min((tile.x() + 1) << level, map_width),
            std::min((tile.y() + 1) << level, map_height)};
}

std::vector<std::uint64_t> TileList::tiles_per_level() const {
    std::vector<std::uint64_t> counts(levels(), 0);
    for (const Tile& tile : tiles) {
        ++counts.at(tile.level());
    }
    return counts;
}

std::span<const Tile> TileList::tiles_of_layer(std::uint32_t layer) const {
    if (order != Order::canonical) {
        detail::refuse(
            "only canonical order keeps the tiles of a layer together; subdivide with "
            "Order::canonical");
    }
    if (layer >= shape.layers) {
        detail::refuse("there is no layer ", layer,
                       ": layers are numbered from 0, and the map has ", shape.layers);
    }
    // Without equal_range: Clang 14 cannot compile that of GCC's library.
    return {std::ranges::lower_bound(tiles, layer, {}, &Tile::layer),
            std::ranges::upper_bound(tiles, layer, {}, &Tile::layer)};
}

void sort_canonical(std::vector<Tile>& tiles) {
    std::ranges::sort(tiles, {}, canonical_key);
}

std::string check_partition(const std::vector<Tile>& tiles, const MapShape& shape) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    const std::uint64_t layer_texels = std::uint64_t{shape.width} * shape.height;
    std::vector<bool> covered(layer_texels * shape.layers, false);
    std::uint64_t covered_texels = 0;
    for (const Tile& tile : tiles) {
        if (tile.level() > top || tile.layer() >= shape.layers ||
            tile.x() >= level_extent(shape.width, tile.level()) ||
            tile.y() >= level_extent(shape.height, tile.level())) {
            return describe(tile) + " lies outside the map";
        }
        const TexelRect rect = texels_of(tile, shape.width, shape.height);
        for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
            for (std::uint32_t x = rect.left; x < rect.right; ++x) {
                const std::uint64_t texel =
                    tile.layer() * layer_texels + std::uint64_t{y} * shape.width + x;
                if (covered[texel]) {
                    return describe(tile) + " covers texel (" + std::to_string(x) + ", " +
                           std::to_string(y) + "), which lies in another tile too";
                }
                covered[texel] = true;
                ++covered_texels;
            }
        }
    }
    if (covered_texels != covered.size()) {
        return std::to_string(covered.size() - covered_texels) + " of " +
               std::to_string(covered.size()) + " texels lie in no tile";
    }
    return {};
}

}  // namespace quadtile
