// Kinds of reductions.

#pragma once

#include <quadtile/image.hpp>

namespace quadtile::detail {

[[nodiscard]] inline bool is_extreme(Reduction reduction) {
    return reduction == Reduction::max || reduction == Reduction::min ||
           reduction == Reduction::min_max;
}

[[nodiscard]] inline bool is_sum(Reduction reduction) {  // means included
    return reduction == Reduction::mean || reduction == Reduction::sum;
}

}  // namespace quadtile::detail
