// Thresholds of layers and budgets of tiles, as reference::subdivide needs them and the library,
// too.
//
// No public header, but libquadtile needs what is marked QUADTILE_API of libquadtile_reference.

#pragma once

#include <quadtile/budget.h>
#include <quadtile/export.h>
#include <quadtile/reference.hpp>

#include <span>
#include <utility>
#include <vector>

namespace quadtile::reference {

// What thresholds of layers come to, each on its layer as on a map of one layer.
// Throws Error(invalid_argument), which names the layer, where one does not fit; and where there
// are more or fewer than layers.
[[nodiscard]] QUADTILE_API std::vector<ResolvedThreshold> resolve_layers(
    const MapShape& shape, std::span<const Threshold> layer_thresholds);

// The same as one threshold by node. Throws Error as resolve_layers does.
[[nodiscard]] QUADTILE_API Threshold by_node(const MapShape& shape,
                                             std::span<const Threshold> layer_thresholds);

// Throws Error(invalid_argument): even the largest factor leaves more than `max_tiles`.
[[noreturn]] QUADTILE_API void refuse_budget(std::uint64_t max_tiles, std::uint64_t least_tiles);

// How many tiles each factor of a budget leaves: a histogram of the bins of budget.h. A split node
// is replaced by its children inside the map, so each bin holds the sum of their numbers less one.
// Thresholds must be monotone: then a node that is split under a factor has ancestors that are,
// too.
class BudgetHistogram {
 public:
    explicit BudgetHistogram(ResolvedThreshold thresholds) : thresholds_(std::move(thresholds)) {}

    // The next layer, from 0 on.
    void add_layer(const Pyramid& pyramid);

    // Bins 0 to BUDGET_FACTORS.
    [[nodiscard]] const std::vector<std::uint64_t>& bins() const { return bins_; }
    // The index of the smallest factor that leaves at most `max_tiles`.
    // Throws Error(invalid_argument), which says how many the largest leaves, where there is none.
    [[nodiscard]] std::uint32_t smallest_factor(std::uint64_t max_tiles) const;

 private:
    ResolvedThreshold thresholds_;
    std::uint32_t layers_ = 0;
    std::vector<std::uint64_t> bins_ = std::vector<std::uint64_t>(BUDGET_FACTORS + 1);
};

}  // namespace quadtile::reference
