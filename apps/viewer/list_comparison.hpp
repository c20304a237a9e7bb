// Comparison of two lists: which of their tiles differ.

#pragma once

#include "settings.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace quadtile::viewer {

// A list that is kept for comparison while others are shown.
struct KeptList {
    std::string name;                 // name of its map
    std::size_t file = 0;             // index of its map among the open files
    std::filesystem::path path;       // path of that file
    SubdivisionSettings settings;     // settings that the list was made with
    MapShape shape{};                 // shape of the map
    std::vector<std::uint64_t> keys;  // keys of its tiles, in ascending order
};

// Returns the tiles' keys in ascending order. Tiles with equal keys cover the same texels.
[[nodiscard]] std::vector<std::uint64_t> sorted_keys(std::span<const Tile> tiles);

struct ListDifference {
    std::uint64_t in_both = 0;
    std::uint64_t only_kept = 0;
    std::uint64_t only_shown = 0;
    // A bit per shown tile, set if the kept list lacks the tile. The index is the tile's in the
    // list; the lowest bit of a word comes first.
    std::vector<std::uint32_t> marks;
};
[[nodiscard]] ListDifference compare(std::span<const std::uint64_t> kept,
                                     std::span<const Tile> shown);

}  // namespace quadtile::viewer
