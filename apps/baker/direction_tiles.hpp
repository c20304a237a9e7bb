// Tiles of directions, as far as they are known.

#pragma once

#include "directions.hpp"
#include "ranks.hpp"
#include "tracer.hpp"

#include <cstdint>
#include <vector>

namespace quadtile::baker {

struct WindowTiles {
    MapWindow window;
    std::vector<MapTile> tiles;
};

// Tiles of the whole map, and of its texels with maps of their own. Empty: not requested yet.
using DirectionTiles = std::vector<WindowTiles>;

// Returns whether a texel of an importance map needs so many pixels that it gets a map of its own.
[[nodiscard]] bool needs_window(const MapTile& tile, const TileOptions& options);

[[nodiscard]] std::uint64_t count_tiles(const DirectionTiles& parts);

struct DirectionSet {
    std::vector<BundleDirection> directions;
    std::vector<DirectionTiles> tiles;  // by direction
};

// Requests the missing tiles of some directions. Tiles are the same in every pass over the set.
// With `beyond`, as many directions as go together are requested, also after these. Returns false
// if stopped.
[[nodiscard]] bool request_missing_tiles(const TracedScene& scene, const TileOptions& options,
                                         Tracer& tracer, const Stop& stop, DirectionSet& set,
                                         const Range& directions, bool beyond);

}  // namespace quadtile::baker
