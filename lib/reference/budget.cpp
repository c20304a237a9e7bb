// Budgets of tiles: the factor that scales the thresholds.

#include "budget.hpp"

#include "values/layers_and_budgets.hpp"

#include <algorithm>

namespace quadtile::reference {

namespace {

// Returns the children inside the map of a node at `i`, along one axis.
std::uint32_t children_along(std::uint32_t extent_below, std::uint32_t i) {
    return std::min(extent_below - 2 * i, 2U);
}

}  // namespace

void BudgetHistogram::add_layer(const Pyramid& pyramid) {
    const std::uint32_t layer = layers_++;
    for (std::uint32_t level = 1; level < pyramid.levels.size(); ++level) {
        const Level& nodes = pyramid.levels[level];
        const Level& below = pyramid.levels[level - 1];
        for (std::uint32_t y = 0; y < nodes.height; ++y) {
            for (std::uint32_t x = 0; x < nodes.width; ++x) {
                const std::uint32_t children =
                    children_along(below.width, x) * children_along(below.height, y);
                bins_[budget_bin(nodes.at(x, y), thresholds_.at(level, x, y, layer))] +=
                    children - 1;
            }
        }
    }
}

std::uint32_t BudgetHistogram::smallest_factor(std::uint64_t max_tiles) const {
    // Factor i splits the nodes of all bins above i.
    std::uint64_t tiles = layers_ + bins_[BUDGET_FACTORS];
    if (tiles > max_tiles) {
        detail::refuse_budget(max_tiles, tiles);
    }
    std::uint32_t factor = BUDGET_FACTORS - 1;
    while (factor > 0 && tiles + bins_[factor] <= max_tiles) {
        tiles += bins_[factor];
        --factor;
    }
    return factor;
}

}  // namespace quadtile::reference
