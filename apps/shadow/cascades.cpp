#include "cascades.hpp"

#include <cmath>

namespace quadtile::shadow {

Splits practical_splits(double nearest, double farthest) {
    constexpr double LAMBDA = 0.7;  // 1: logarithmic, 0: even
    Splits splits{};
    for (std::uint32_t i = 0; i <= CASCADES; ++i) {
        const double part = static_cast<double>(i) / CASCADES;
        splits[i] = LAMBDA * nearest * std::pow(farthest / nearest, part) +
                    (1.0 - LAMBDA) * (nearest + (farthest - nearest) * part);
    }
    return splits;
}

}  // namespace quadtile::shadow
