// Importance as colour: logarithmic, perceptually uniform, robust against outliers.

#pragma once

#include "picture.hpp"

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

}  // namespace quadtile::app
