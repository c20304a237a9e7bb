#include "layers_and_budgets.hpp"

#include "refuse.hpp"

#include <utility>

namespace quadtile::detail {

void check_balance(const SubdivideOptions& options) {
    if (options.balance != Balance::none && options.max_tiles) {
        refuse("max_tiles is ", *options.max_tiles,
               ", but a balanced list cannot have a budget, because the number of its "
               "tiles is no sum over nodes; leave max_tiles out and scale the threshold "
               "(Threshold::scaled), or leave the balance out");
    }
}

void refuse_budget(std::uint64_t max_tiles, std::uint64_t least_tiles) {
    refuse("max_tiles is ", max_tiles, ", but this map has at least ", least_tiles,
           " tiles for all scales of the threshold (one per layer, and more where "
           "importance is infinite, NaN or 2^32 times the threshold); allow ",
           least_tiles, " or more, or raise the threshold");
}

std::vector<ResolvedThreshold> resolve_layers(const MapShape& shape,
                                              std::span<const Threshold> layer_thresholds) {
    check_shape(shape);
    if (layer_thresholds.size() != shape.layers) {
        refuse("the layers of the map (", shape.layers, ") and their thresholds (",
               layer_thresholds.size(), ") differ in number; give one threshold per layer");
    }
    std::vector<ResolvedThreshold> resolved;
    for (const Threshold& threshold : layer_thresholds) {
        try {
            resolved.push_back(threshold.resolve({shape.width, shape.height}));
        } catch (const Error& error) {
            throw Error(error.code(), "the threshold of layer " + std::to_string(resolved.size()) +
                                          " does not fit: " + error.what());
        }
    }
    return resolved;
}

Threshold by_node(const MapShape& shape, std::span<const Threshold> layer_thresholds) {
    const std::vector<ResolvedThreshold> thresholds = resolve_layers(shape, layer_thresholds);
    NodeThresholds nodes(shape.width, shape.height, shape.layers);
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        for (std::uint32_t level = 0; level <= nodes.top(); ++level) {
            for (std::uint32_t y = 0; y < level_extent(shape.height, level); ++y) {
                for (std::uint32_t x = 0; x < level_extent(shape.width, level); ++x) {
                    nodes.at(level, x, y, layer) = thresholds[layer].at(level, x, y, 0);
                }
            }
        }
    }
    return Threshold::map(std::move(nodes));
}

}  // namespace quadtile::detail
