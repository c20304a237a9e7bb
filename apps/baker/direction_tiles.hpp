// The tiles of directions, as far as they are known.

#pragma once

#include "directions.hpp"
#include "ranks.hpp"
#include "tracer.hpp"

#include <cstdint>
#include <vector>

namespace quadtile::baker {

// Larger tiles are traced in pieces, so that each is soon done.
constexpr std::uint32_t LARGEST_PIECE = 1024;

struct WindowTiles {
    MapWindow window;
    std::vector<MapTile> tiles;
};

// The whole map's, and those of its texels that have maps of their own. Empty: not requested yet.
using DirectionTiles = std::vector<WindowTiles>;

// A texel of an importance map that asks for so many pixels that it gets a map of its own.
[[nodiscard]] bool needs_window(const MapTile& tile, const TileOptions& options);

[[nodiscard]] std::uint64_t count_pieces(const DirectionTiles& parts);

struct DirectionSet {
    std::vector<BundleDirection> directions;
    std::vector<DirectionTiles> tiles;  // of each of them
};

// Requests what is missing of some directions. Tiles are the same in every pass over the set. With
// `beyond` as many directions as go together are requested, also behind these. Returns false where
// it was stopped.
[[nodiscard]] bool request_missing_tiles(const TracedScene& scene, const TileOptions& options,
                                         Tracer& tracer, const Stop& stop, DirectionSet& set,
                                         const Range& directions, bool beyond);

}  // namespace quadtile::baker
