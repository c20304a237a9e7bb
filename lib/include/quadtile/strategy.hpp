/// \file
/// The strategies, and which one is the fastest for a map.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace quadtile {

struct DeviceInfo;
class Threshold;

/// See tiles.hpp.
enum class Balance;

/// How the tiles are found. All give the same set.
enum class Strategy {
    automatic,  ///< the fastest for a device, a map and a threshold (choose_strategy)
    reference,  ///< on the host, without Vulkan
    subtree,    ///< one dispatch for one or more levels (Tokuyoshi's course note, sections 3 and 4)
    fused,      ///< one dispatch from the map to the list, no pyramid; for monotone thresholds
};

/// A strategy and why it was chosen.
struct StrategyChoice {
    Strategy strategy;             ///< fused or subtree
    std::uint32_t subtree_levels;  ///< for subtree
    std::string reason;            ///< one clause, without a full stop
};

/// What Strategy::automatic stands for. On GPUs fused; where the threshold is not monotone, or is a
/// bound_map, of which the host cannot know it, subtree with as many levels a dispatch as leave
/// four to the last one, which has a thread for each texel below a split node. On CPU drivers
/// subtree with one level: it does the least work. With a budget always fused; with a balance
/// always where the threshold is monotone. Throws Error(invalid_argument) for a threshold that does
/// not fit the shape, or with a budget is not monotone. Thread-safe.
[[nodiscard]] QUADTILE_API StrategyChoice
choose_strategy(const DeviceInfo& device, const MapShape& shape, const Threshold& threshold,
                std::optional<std::uint64_t> max_tiles = std::nullopt, Balance balance = Balance{});

}  // namespace quadtile
