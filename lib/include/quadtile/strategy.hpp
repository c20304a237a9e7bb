/// \file
/// Strategies, and the choice of the fastest one for a map.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace quadtile {

struct DeviceInfo;
class Threshold;

/// Defined in tiles.hpp.
enum class Balance;

/// Ways to find the tiles. All give the same set.
enum class Strategy {
    automatic,  ///< the fastest one for a device, a map and a threshold (choose_strategy)
    reference,  ///< on the host, without Vulkan
    subtree,    ///< one dispatch per 1 to 8 levels (Tokuyoshi's course note, sections 3 and 4)
    fused,  ///< one dispatch from the map to the list, without a pyramid; for monotone thresholds
};

/// A strategy and the reason for its choice.
struct StrategyChoice {
    Strategy strategy;             ///< fused or subtree
    std::uint32_t subtree_levels;  ///< for subtree
    std::string reason;            ///< one clause, without a full stop
};

/// Returns the choice of Strategy::automatic.
///
/// - Budget or balance: `fused`.
/// - CPU drivers: `subtree` with one level per dispatch, which does the least work.
/// - Thresholds that are not monotone, or count as not monotone (bound_map): `subtree`, with as
/// many levels per dispatch as leave four to the last one, which has a thread for each texel below
/// a split node.
/// - All else: `fused`.
///
/// The first case that applies is taken. Throws Error(invalid_argument) for a threshold that does
/// not fit the shape, or that is not monotone with a budget or a balance. Thread-safe.
[[nodiscard]] QUADTILE_API StrategyChoice
choose_strategy(const DeviceInfo& device, const MapShape& shape, const Threshold& threshold,
                std::optional<std::uint64_t> max_tiles = std::nullopt, Balance balance = Balance{});

}  // namespace quadtile
