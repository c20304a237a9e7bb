// Tile lists as JSON, CSV or binary files; docs/formats.md describes them.

#pragma once

#include "arguments.hpp"

#include <quadtile/tiles.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

namespace quadtile::app {

constexpr std::array<Named<Order>, 2> ORDERS{
    {{"any", Order::any}, {"canonical", Order::canonical}}};
constexpr std::array<Named<Balance>, 3> BALANCES{
    {{"none", Balance::none}, {"edges", Balance::edges}, {"corners", Balance::corners}}};

enum class TileFormat { json, csv, binary };

// Receives the bytes of a file, piece by piece.
using ByteSink = std::function<void(std::string_view)>;

// Writes a list. Importance and threshold have the fewest digits that read back as the same float.
void write_tiles(const TileList& list, TileFormat format, const ByteSink& sink);

// Header of a binary tile list; `tiles` records of type Tile follow. Little-endian.
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
