// Importance as colour, and pictures of importance maps with the outlines of their tiles.

#pragma once

#include "picture.hpp"

#include <quadtile/image.hpp>
#include <quadtile/tiles.hpp>

#include <vector>

namespace quadtile::app {

// Colours of importance. Positive values go from dark violet over red and orange to pale yellow
// (the colour map "inferno"), on a logarithmic scale between two percentiles of the map. Other
// values have colours of their own: 0 black, negative grey-blue, +inf white, NaN green.
class ColourScale {
 public:
    explicit ColourScale(const std::vector<float>& importance);

    [[nodiscard]] Rgb colour(float importance) const noexcept;

    static constexpr Rgb zero{0, 0, 0};
    static constexpr Rgb negative{74, 88, 120};
    static constexpr Rgb infinite{255, 255, 255};
    static constexpr Rgb nan{0, 220, 70};

 private:
    float log_low_ = 0.0F;    // logarithm of the importance with the first colour
    float log_range_ = 1.0F;  // from there to the last colour
};

// Draws a map of one layer in the colours of ColourScale, with each tile's border one pixel wide
// between the texels. Small maps are enlarged by a whole number so that the longer side has at
// least 1024 pixels. Maps above 4096 texels are reduced by a whole number, each pixel the maximum
// of its texels (NaN above all). Borders of tiles of a few pixels are drawn fainter, because they
// would hide the map.
[[nodiscard]] Picture draw_tiles(const MapView& map, const std::vector<Tile>& tiles);

}  // namespace quadtile::app
