// The definition of the tile list: the recursion of the course note's algorithm 1.

#include "balance.hpp"
#include "budget.hpp"
#include "values/layers_and_budgets.hpp"

#include <utility>

namespace quadtile::reference {

namespace {

class Recursion {
 public:
    Recursion(const Pyramid& pyramid, const ResolvedThreshold& thresholds, std::uint32_t layer,
              std::vector<Tile>& tiles)
        : pyramid_(pyramid), thresholds_(thresholds), layer_(layer), tiles_(tiles) {}

    // Visits children in Morton order, which gives the canonical order.
    void subdivide(std::uint32_t level, std::uint32_t x, std::uint32_t y) {
        const Level& nodes = pyramid_.levels[level];
        if (x >= nodes.width || y >= nodes.height) {
            return;  // outside the map
        }
        const float importance = nodes.at(x, y);
        const float threshold = thresholds_.at(level, x, y, layer_);
        if (importance < threshold) {
            add_tile(level, x, y, 0, importance, threshold);
        } else if (level == 0) {
            add_tile(level, x, y, TILE_CLAMPED, importance, threshold);
        } else {
            subdivide(level - 1, 2 * x, 2 * y);
            subdivide(level - 1, 2 * x + 1, 2 * y);
            subdivide(level - 1, 2 * x, 2 * y + 1);
            subdivide(level - 1, 2 * x + 1, 2 * y + 1);
        }
    }

 private:
    void add_tile(std::uint32_t level, std::uint32_t x, std::uint32_t y, std::uint32_t flags,
                  float importance, float threshold) {
        tiles_.push_back(
            {tile_position(x, y), tile_node(level, flags, layer_), importance, threshold});
    }

    const Pyramid& pyramid_;
    const ResolvedThreshold& thresholds_;
    std::uint32_t layer_;
    std::vector<Tile>& tiles_;
};

// Returns the factor on the thresholds that leaves at most `max_tiles`.
float factor_for_budget(const MapView& map, const Threshold& threshold, std::uint64_t max_tiles) {
    BudgetHistogram histogram(threshold.resolve(map.shape));
    threshold.check_monotone(top_level(map.shape.width, map.shape.height));
    for (std::uint32_t layer = 0; layer < map.shape.layers; ++layer) {
        histogram.add_layer(build_pyramid(map, layer));
    }
    return budget_factor(histogram.smallest_factor(max_tiles));
}

}  // namespace

TileList subdivide(const MapView& map, const Threshold& threshold,
                   const SubdivideOptions& options) {
    check_shape(map.shape);
    detail::check_balance(options);
    const std::uint32_t top = top_level(map.shape.width, map.shape.height);
    TileList list;
    list.shape = map.shape;
    list.order = Order::canonical;
    list.balance = options.balance;
    list.report.strategy = Strategy::reference;
    Threshold kept = threshold;
    if (options.max_tiles) {
        list.threshold_factor = factor_for_budget(map, threshold, *options.max_tiles);
        kept = threshold.scaled(list.threshold_factor);
    }
    const ResolvedThreshold thresholds = kept.resolve(map.shape);
    if (options.balance != Balance::none) {
        threshold.check_monotone(top);
    }
    for (std::uint32_t layer = 0; layer < map.shape.layers; ++layer) {
        const Pyramid pyramid = build_pyramid(map, layer);
        list.nan_texels += pyramid.nan_texels;
        if (options.balance == Balance::none) {
            Recursion(pyramid, thresholds, layer, list.tiles).subdivide(top, 0, 0);
        } else {
            add_balanced_tiles(pyramid, thresholds, layer, options.balance, list.tiles);
        }
    }
    return list;
}

TileList subdivide(const MapView& map, std::span<const Threshold> layer_thresholds,
                   const SubdivideOptions& options) {
    return subdivide(map, detail::by_node(map.shape, layer_thresholds), options);
}

}  // namespace quadtile::reference
