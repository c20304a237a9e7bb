// Difference of mip levels from the CPU reference.

#pragma once

#include <quadtile/image.hpp>

namespace quadtile::app {

// Returns the largest difference between two chains of the same shapes from level 1 on: in codes if
// the format has codes, otherwise in values. Equal infinities and two NaN do not differ; a NaN and
// a number differ by infinity.
[[nodiscard]] double largest_difference(const MipChain& a, const MipChain& b);

}  // namespace quadtile::app
