#include <quadtile/tiles.hpp>

#include <algorithm>

namespace quadtile {

namespace {

// Returns the position in the canonical order: the Morton code of the first texel needs 32 bits.
std::uint64_t canonical_key(const Tile& tile) {
    const std::uint64_t first_texel = std::uint64_t{morton_encode(tile.x(), tile.y())}
                                      << (2 * tile.level());
    return (std::uint64_t{tile.layer()} << 32U) | first_texel;
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

void sort_canonical(std::vector<Tile>& tiles) {
    std::ranges::sort(tiles, {}, canonical_key);
}

}  // namespace quadtile
