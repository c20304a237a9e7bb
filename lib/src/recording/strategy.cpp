#include <quadtile/tile_list.h>
#include <quadtile/device.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <algorithm>

namespace quadtile {

namespace {

// Measured on an H200 (bench/RESULTS.md): two dispatches, the second of four levels, are as fast as
// any at 1024 x 1024 and 4096 x 4096; six and six take ten times as long if few nodes are split.
std::uint32_t best_subtree_levels(std::uint32_t top) {
    constexpr std::uint32_t LEVELS_OF_ONE_DISPATCH = 6;
    constexpr std::uint32_t LEVELS_OF_THE_LAST = 4;
    if (top <= LEVELS_OF_ONE_DISPATCH) {
        return std::max(top, 1U);
    }
    const std::uint32_t above = top - LEVELS_OF_THE_LAST;
    const std::uint32_t dispatches = (above + MAX_SUBTREE_LEVELS - 1) / MAX_SUBTREE_LEVELS;
    return (above + dispatches - 1) / dispatches;
}

}  // namespace

StrategyChoice choose_strategy(const DeviceInfo& device, const MapShape& shape,
                               const Threshold& threshold, std::optional<std::uint64_t> max_tiles,
                               Balance balance) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    const std::uint32_t subtree_levels = best_subtree_levels(top);
    if (max_tiles) {
        threshold.check_monotone(top);
        return {Strategy::fused, subtree_levels, "only fused keeps a budget on the GPU"};
    }
    threshold.check_fits(shape);
    if (balance != Balance::none) {
        threshold.check_monotone(top);
        return {Strategy::fused, subtree_levels, "only fused balances lists on the GPU"};
    }
    if (device.type == "CPU") {
        return {Strategy::subtree, 1, "a CPU driver: level by level does the least work"};
    }
    if (!threshold.is_monotone(top)) {
        return {Strategy::subtree, subtree_levels,
                "the threshold grows from a node to its parent somewhere, which fused cannot do"};
    }
    return {Strategy::fused, subtree_levels,
            "a GPU, and a threshold that does not grow from a node to its parent"};
}

}  // namespace quadtile
