// Thresholds of layers and budgets of tiles, for reference::subdivide and the library.
//
// Not a public header, but libquadtile uses the functions of libquadtile_reference that are marked
// QUADTILE_API.

#pragma once

#include <quadtile/budget.h>
#include <quadtile/export.h>
#include <quadtile/reference.hpp>

#include <span>
#include <utility>
#include <vector>

namespace quadtile::reference {

// Returns the values of a threshold per layer, each on its layer as on a map of one layer. Throws
// Error(invalid_argument), which names the layer, if one does not fit, and if the numbers of
// thresholds and layers differ.
[[nodiscard]] QUADTILE_API std::vector<ResolvedThreshold> resolve_layers(
    const MapShape& shape, std::span<const Threshold> layer_thresholds);

// Combines such thresholds into one by node. Throws Error as resolve_layers does.
[[nodiscard]] QUADTILE_API Threshold by_node(const MapShape& shape,
                                             std::span<const Threshold> layer_thresholds);

// Throws Error(invalid_argument): even the largest factor leaves more than `max_tiles`.
[[noreturn]] QUADTILE_API void refuse_budget(std::uint64_t max_tiles, std::uint64_t least_tiles);

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
