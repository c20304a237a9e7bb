// A picture of an importance map with the outlines of its tiles.

#pragma once

#include "picture.hpp"

#include <quadtile/image.hpp>
#include <quadtile/tiles.hpp>

#include <vector>

namespace quadtile::app {

// Draws a map of one layer in the colours of ColourScale, and each tile's border one pixel wide
// between the texels. Small maps are enlarged by a whole number so that the longer side has at
// least 1024 pixels; maps above 4096 texels are reduced by a whole number, each pixel the maximum
// of its texels (NaN above all). Borders of tiles of a few pixels are drawn fainter: they would
// hide the map.
[[nodiscard]] Picture draw_tiles(const MapView& map, const std::vector<Tile>& tiles);

}  // namespace quadtile::app
