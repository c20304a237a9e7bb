#include "cascades.hpp"

#include <cmath>

namespace quadtile::shadow {

Splits practical_splits(double nearest, double farthest, double lambda) {
    Splits splits{};
    for (std::uint32_t i = 0; i <= CASCADES; ++i) {
        const double part = static_cast<double>(i) / CASCADES;
        splits[i] = lambda * nearest * std::pow(farthest / nearest, part) +
                    (1.0 - lambda) * (nearest + (farthest - nearest) * part);
    }
    return splits;
}

}  // namespace quadtile::shadow
