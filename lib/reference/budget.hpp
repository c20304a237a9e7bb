// Budgets of tiles, for reference::subdivide.

#pragma once

#include <quadtile/budget.h>
#include <quadtile/reference.hpp>

#include <utility>
#include <vector>

namespace quadtile::reference {

// The number of tiles that each factor of a budget leaves: a histogram of the bins of budget.h. The
// children inside the map replace a split node, so each bin sums their numbers less one. Thresholds
// must be monotone: then all ancestors of a node that is split under a factor are split under it.
class BudgetHistogram {
 public:
    explicit BudgetHistogram(ResolvedThreshold thresholds) : thresholds_(std::move(thresholds)) {}

    // Adds the next layer, from 0 on.
    void add_layer(const Pyramid& pyramid);

    // Returns bins 0 to BUDGET_FACTORS.
    [[nodiscard]] const std::vector<std::uint64_t>& bins() const { return bins_; }
    // Returns the index of the smallest factor that leaves at most `max_tiles`. Throws
    // Error(invalid_argument), with the number that the largest factor leaves, if there is none.
    [[nodiscard]] std::uint32_t smallest_factor(std::uint64_t max_tiles) const;

 private:
    ResolvedThreshold thresholds_;
    std::uint32_t layers_ = 0;
    std::vector<std::uint64_t> bins_ = std::vector<std::uint64_t>(BUDGET_FACTORS + 1);
};

}  // namespace quadtile::reference
