// How far mip levels are from the CPU reference.

#pragma once

#include <quadtile/mip_chain.hpp>

namespace quadtile::app {

// The largest difference between two chains of the same shapes from level 1 on: in codes where the
// format has codes, else of the values. Equal infinities and two NaN do not differ, a NaN and a
// number by infinity.
[[nodiscard]] double largest_difference(const MipChain& a, const MipChain& b);

}  // namespace quadtile::app
