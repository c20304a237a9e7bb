// Importance as colour, and a picture of an importance map with the outlines of its tiles.

#pragma once

#include "picture.hpp"

#include <quadtile/image.hpp>
#include <quadtile/tiles.hpp>

#include <vector>

namespace quadtile::app {

// Positive importance from dark violet over red and orange to pale yellow (the colour map
// "inferno"), on a logarithmic scale between two percentiles of the map. What has no place on that
// scale has a colour of its own: 0 black, negative values grey-blue, +inf white, NaN green.
class ColourScale {
 public:
    explicit ColourScale(const std::vector<float>& importance);

    [[nodiscard]] Rgb colour(float importance) const noexcept;

    static constexpr Rgb zero{0, 0, 0};
    static constexpr Rgb negative{74, 88, 120};
    static constexpr Rgb infinite{255, 255, 255};
    static constexpr Rgb nan{0, 220, 70};

 private:
    float log_low_ = 0.0F;    // logarithm of the importance that gets the first colour
    float log_range_ = 1.0F;  // up to the one that gets the last
};

// Draws a map of one layer in the colours of ColourScale, and each tile's border one pixel wide
// between the texels. Small maps are enlarged by a whole number so that the longer side has at
// least 1024 pixels; maps above 4096 texels are reduced by a whole number, each pixel the maximum
// of its texels (NaN above all). Borders of tiles of a few pixels are drawn fainter: they would
// hide the map.
[[nodiscard]] Picture draw_tiles(const MapView& map, const std::vector<Tile>& tiles);

}  // namespace quadtile::app
