// The pyramid, and the definition of the tile list: the recursion of the course note's algorithm 1,
// with budgets and balanced lists.

#include "budget.hpp"
#include "values/layers_and_budgets.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace quadtile::reference {

// ---- The pyramid, twin of kernels/downsample.comp with PYRAMID: each node is the maximum of its
// children inside the map

namespace {

// Returns +inf for NaN, 0 for -0 and denormals.
float settle(float importance) {
    if (std::isnan(importance)) {
        return std::numeric_limits<float>::infinity();
    }
    return std::abs(importance) < std::numeric_limits<float>::min() ? 0.0F : importance;
}

Level level_above(const Level& below) {
    Level level{(below.width + 1) / 2, (below.height + 1) / 2, {}};
    for (std::uint32_t y = 0; y < level.height; ++y) {
        for (std::uint32_t x = 0; x < level.width; ++x) {
            float maximum = below.at(2 * x, 2 * y);
            for (std::uint32_t cy = 2 * y; cy < std::min(2 * y + 2, below.height); ++cy) {
                for (std::uint32_t cx = 2 * x; cx < std::min(2 * x + 2, below.width); ++cx) {
                    maximum = std::max(maximum, below.at(cx, cy));
                }
            }
            level.importance.push_back(maximum);
        }
    }
    return level;
}

}  // namespace

Pyramid build_pyramid(const MapView& map, std::uint32_t layer) {
    check_shape(map.shape);
    check_texels(map);
    if (layer >= map.shape.layers) {
        detail::refuse("there is no layer ", layer,
                       ": layers are numbered from 0, and the map has ", map.shape.layers);
    }
    MapShape one_layer = map.shape;
    one_layer.layers = 1;
    const std::size_t layer_bytes =
        std::size_t{map.shape.width} * map.shape.height * texel_size_bytes(map.shape.format);
    Pyramid pyramid;
    Level base{
        map.shape.width, map.shape.height,
        decode({static_cast<const std::byte*>(map.texels) + layer * layer_bytes, one_layer})};
    for (float& importance : base.importance) {
        pyramid.nan_texels += std::isnan(importance) ? 1 : 0;
        importance = settle(importance);
    }
    pyramid.levels.push_back(std::move(base));
    while (pyramid.levels.back().width > 1 || pyramid.levels.back().height > 1) {
        pyramid.levels.push_back(level_above(pyramid.levels.back()));
    }
    return pyramid;
}

// ---- Budgets: the factor that scales the thresholds

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

// ---- The list
//
// With S_l the nodes of level l that are split, and S_0 empty, the ordinary list splits the nodes
// O_l: those whose parent is split, or the root, if they reach their threshold. Tiles are the nodes
// that are not split and whose parent is, or the root. A balanced list is the coarsest refinement
// of the ordinary one in which touching tiles differ by at most one level:
//
//     S_l = O_l + the parents of all nodes of level l - 1 that are in S_(l-1) or next to one.
//
// A split node has tiles of level l - 1 or finer on all its sides. So its neighbours must not be
// coarser than level l: they exist at level l, that is, their parents are split. Nothing else
// requires a split, and none of these splits can be left out.

namespace {

// A flag per node of a level, row by row.
struct Nodes {
    std::uint32_t width;
    std::uint32_t height;
    std::vector<bool> is_split;

    [[nodiscard]] bool at(std::uint32_t x, std::uint32_t y) const {
        return is_split[std::size_t{y} * width + x];
    }
    void split(std::uint32_t x, std::uint32_t y) { is_split[std::size_t{y} * width + x] = true; }
};

class LayerList {
 public:
    LayerList(const Pyramid& pyramid, const ResolvedThreshold& thresholds, std::uint32_t layer,
              Balance balance, std::vector<Tile>& tiles)
        : pyramid_(pyramid),
          thresholds_(thresholds),
          layer_(layer),
          balance_(balance),
          tiles_(tiles) {
        for (const Level& level : pyramid.levels) {
            levels_.push_back({level.width, level.height,
                               std::vector<bool>(std::size_t{level.width} * level.height)});
        }
    }

    // Appends the tiles in canonical order.
    void add() {
        const auto top = static_cast<std::uint32_t>(levels_.size()) - 1;
        split_ordinary(top, 0, 0);
        if (balance_ != Balance::none) {
            split_balancing();
        }
        add_tiles(top, 0, 0);
    }

 private:
    // Splits nodes like the ordinary list, from the root down.
    void split_ordinary(std::uint32_t level, std::uint32_t x, std::uint32_t y) {
        if (level == 0 || !is_inside(level, x, y) ||
            pyramid_.levels[level].at(x, y) < thresholds_.at(level, x, y, layer_)) {
            return;
        }
        levels_[level].split(x, y);
        for (std::uint32_t child = 0; child < 4; ++child) {
            split_ordinary(level - 1, 2 * x + child % 2, 2 * y + child / 2);
        }
    }

    // Splits nodes that the balance requires, from the finest level up.
    void split_balancing() {
        for (std::uint32_t level = 2; level < levels_.size(); ++level) {
            const Nodes& below = levels_[level - 1];
            for (std::uint32_t y = 0; y < below.height; ++y) {
                for (std::uint32_t x = 0; x < below.width; ++x) {
                    if (below.at(x, y)) {
                        split_parents_around(level, x, y);
                    }
                }
            }
        }
    }

    // Visits children in Morton order, which gives the canonical order.
    void add_tiles(std::uint32_t level, std::uint32_t x, std::uint32_t y) {
        if (!is_inside(level, x, y)) {
            return;
        }
        if (levels_[level].at(x, y)) {
            for (std::uint32_t child = 0; child < 4; ++child) {
                add_tiles(level - 1, 2 * x + child % 2, 2 * y + child / 2);
            }
            return;
        }
        const float importance = pyramid_.levels[level].at(x, y);
        const float threshold = thresholds_.at(level, x, y, layer_);
        const bool clamped = level == 0 && !(importance < threshold);
        // Left of column 0 the index wraps to a place that is not inside.
        const std::uint32_t flags = (clamped ? TILE_CLAMPED : 0) |
                                    (is_coarser(level, x - 1, y) ? TILE_COARSER_LEFT : 0) |
                                    (is_coarser(level, x + 1, y) ? TILE_COARSER_RIGHT : 0) |
                                    (is_coarser(level, x, y - 1) ? TILE_COARSER_TOP : 0) |
                                    (is_coarser(level, x, y + 1) ? TILE_COARSER_BOTTOM : 0);
        tiles_.push_back(
            {tile_position(x, y), tile_node(level, flags, layer_), importance, threshold});
    }

    [[nodiscard]] bool is_inside(std::uint32_t level, std::uint32_t x, std::uint32_t y) const {
        return x < levels_[level].width && y < levels_[level].height;
    }

    // Returns whether a larger tile of a balanced list covers the place of this node of the map.
    [[nodiscard]] bool is_coarser(std::uint32_t level, std::uint32_t x, std::uint32_t y) const {
        return balance_ != Balance::none && is_inside(level, x, y) &&
               !levels_[level + 1].at(x / 2, y / 2);
    }

    // Splits the parents, of `level`, of a node and its neighbours.
    void split_parents_around(std::uint32_t level, std::uint32_t x, std::uint32_t y) {
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                const std::uint32_t nx = x + static_cast<std::uint32_t>(dx);
                const std::uint32_t ny = y + static_cast<std::uint32_t>(dy);
                const bool at_corner = dx != 0 && dy != 0;
                if ((balance_ == Balance::corners || !at_corner) && is_inside(level - 1, nx, ny)) {
                    levels_[level].split(nx / 2, ny / 2);
                }
            }
        }
    }

    const Pyramid& pyramid_;
    const ResolvedThreshold& thresholds_;
    std::uint32_t layer_;
    Balance balance_;
    std::vector<Tile>& tiles_;
    std::vector<Nodes> levels_;
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
        threshold.check_monotone(top_level(map.shape.width, map.shape.height));
    }
    for (std::uint32_t layer = 0; layer < map.shape.layers; ++layer) {
        const Pyramid pyramid = build_pyramid(map, layer);
        list.nan_texels += pyramid.nan_texels;
        LayerList(pyramid, thresholds, layer, options.balance, list.tiles).add();
    }
    return list;
}

TileList subdivide(const MapView& map, std::span<const Threshold> layer_thresholds,
                   const SubdivideOptions& options) {
    return subdivide(map, detail::by_node(map.shape, layer_thresholds), options);
}

}  // namespace quadtile::reference
