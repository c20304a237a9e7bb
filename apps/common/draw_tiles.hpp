// Importance as colour, and pictures of importance maps with the outlines of their tiles.

#pragma once

#include "colour_maps.hpp"
#include "map_statistics.hpp"
#include "picture.hpp"

#include <quadtile/image.hpp>
#include <quadtile/tiles.hpp>

#include <vector>

namespace quadtile::app {

// Colours of importance. Positive values have those of the colour map "inferno", on a logarithmic
// scale over the map's automatic_range. Others have colours of their own: 0 black, negative
// grey-blue, +inf white, NaN green.
class ColourScale {
 public:
    explicit ColourScale(const MapView& map);

    [[nodiscard]] Rgb colour(float importance) const noexcept;

    static constexpr Rgb zero{0, 0, 0};
    static constexpr Rgb negative{74, 88, 120};
    static constexpr Rgb infinite{255, 255, 255};
    static constexpr Rgb nan{0, 220, 70};

 private:
    Range range_;
    ColourTable table_;
};

// Draws a map of one layer in the colours of ColourScale, with each tile's border one pixel wide
// between the texels. Small maps are enlarged by a whole number so that the longer side has at
// least 1024 pixels. Maps above 4096 texels are reduced by a whole number, each pixel the maximum
// of its texels (NaN above all). Borders of tiles of a few pixels are drawn fainter, because they
// would hide the map.
[[nodiscard]] Picture draw_tiles(const MapView& map, const std::vector<Tile>& tiles);

}  // namespace quadtile::app
