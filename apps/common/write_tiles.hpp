// A tile list as JSON, CSV or binary; docs/formats.md describes them.

#pragma once

#include "arguments.hpp"

#include <quadtile/tiles.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

namespace quadtile::app {

constexpr std::array<Named<Balance>, 3> BALANCES{
    {{"none", Balance::none}, {"edges", Balance::edges}, {"corners", Balance::corners}}};

enum class TileFormat { json, csv, binary };

// Receives the bytes of a file, piece by piece.
using ByteSink = std::function<void(std::string_view)>;

// Importance and threshold have the fewest digits that give the same float again when read.
void write_tiles(const TileList& list, TileFormat format, const ByteSink& sink);

// What a binary tile list begins with; `tiles` records of type Tile follow. Little-endian.
struct BinaryTilesHeader {
    char magic[4];          // "QTIL"
    std::uint32_t version;  // 1
    std::uint32_t width;
    std::uint32_t height;
    std::uint32_t layers;
    std::uint32_t levels;
    std::uint64_t tiles;
    std::uint64_t nan_texels;
};
static_assert(sizeof(BinaryTilesHeader) == 40 && sizeof(Tile) == 16);

}  // namespace quadtile::app
