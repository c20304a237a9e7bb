// Which tiles of two lists differ.

#pragma once

#include "settings.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace quadtile::viewer {

// A list that is kept while others are shown.
struct KeptList {
    std::string name;                 // of its map
    std::size_t file = 0;             // the map's place among the files that are open
    std::filesystem::path path;       // of that file
    SubdivisionSettings settings;     // that the list was made with
    MapShape shape{};                 // of the map
    std::vector<std::uint64_t> keys;  // of its tiles, in order
};

// In the order of their keys: tiles are equal if they cover the same texels.
[[nodiscard]] std::vector<std::uint64_t> sorted_keys(std::span<const Tile> tiles);

struct ListDifference {
    std::uint64_t in_both = 0;
    std::uint64_t only_kept = 0;
    std::uint64_t only_shown = 0;
    // A bit for each shown tile, by its place in the list, the lowest of a word first: whether the
    // kept list does not have it.
    std::vector<std::uint32_t> marks;
};
[[nodiscard]] ListDifference compare(std::span<const std::uint64_t> kept,
                                     std::span<const Tile> shown);

}  // namespace quadtile::viewer
