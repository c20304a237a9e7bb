// Thresholds of layers, and options that no list satisfies. libquadtile uses what is marked
// QUADTILE_API.

#pragma once

#include <quadtile/export.h>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::detail {

// Throws Error(invalid_argument) for a budget together with a balance.
QUADTILE_API void check_balance(const SubdivideOptions& options);

// Throws Error(invalid_argument): even the largest factor leaves more than `max_tiles`.
[[noreturn]] QUADTILE_API void refuse_budget(std::uint64_t max_tiles, std::uint64_t least_tiles);

// Returns the values of a threshold per layer, each on its layer as on a map of one layer. Throws
// Error(invalid_argument), which names the layer, if one does not fit, and if the numbers of
// thresholds and layers differ.
[[nodiscard]] QUADTILE_API std::vector<ResolvedThreshold> resolve_layers(
    const MapShape& shape, std::span<const Threshold> layer_thresholds);

// Combines such thresholds into one by node. Throws Error as resolve_layers does.
[[nodiscard]] QUADTILE_API Threshold by_node(const MapShape& shape,
                                             std::span<const Threshold> layer_thresholds);

}  // namespace quadtile::detail
