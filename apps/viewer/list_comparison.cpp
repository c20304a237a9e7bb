#include "list_comparison.hpp"

#include <algorithm>
#include <iterator>

namespace quadtile::viewer {

namespace {

std::uint64_t key_of(const Tile& tile) {
    return std::uint64_t{tile.level()} << 32U | tile.position;
}

}  // namespace

std::vector<std::uint64_t> sorted_keys(std::span<const Tile> tiles) {
    std::vector<std::uint64_t> keys;
    std::ranges::transform(tiles, std::back_inserter(keys), key_of);
    std::ranges::sort(keys);
    return keys;
}

ListDifference compare(std::span<const std::uint64_t> kept, std::span<const Tile> shown) {
    ListDifference difference;
    difference.marks.resize((shown.size() + 31) / 32);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (std::ranges::binary_search(kept, key_of(shown[i]))) {
            ++difference.in_both;
        } else {
            ++difference.only_shown;
            difference.marks[i / 32] |= 1U << i % 32;
        }
    }
    difference.only_kept = kept.size() - difference.in_both;
    return difference;
}

}  // namespace quadtile::viewer
