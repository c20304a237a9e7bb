/// \file
/// Strategies, options of a subdivision, and tile lists on the host.

#pragma once

#include <quadtile/export.h>
#include <quadtile/tile_list.h>
#include <quadtile/image.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadtile {

struct DeviceInfo;
class Threshold;

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

/// Order of the tiles in a list.
enum class Order {
    any,        ///< as workgroups finish; faster, and differs from run to run
    canonical,  ///< by layer, then along the Z-order curve; always the same
};

/// Largest difference in level between tiles that touch.
enum class Balance {
    none,     ///< unbounded: the ordinary list
    edges,    ///< one level between tiles that share an edge
    corners,  ///< one level between tiles that share an edge or a corner
};

/// Options of a subdivision beside the threshold.
struct SubdivideOptions {
    Order order = Order::canonical;  ///< of the list
    /// Budget of tiles, in all layers together; default: no budget. If there are more tiles, all
    /// thresholds are scaled by the smallest factor (quadtile/budget.h) that leaves `max_tiles` or
    /// fewer. Factors go up in steps of 0.8 to 1.6 percent. Nodes that exceed their thresholds in
    /// the same ratio are split together or not at all, so there may be fewer tiles.
    std::optional<std::uint64_t> max_tiles = std::nullopt;
    /// Balance of the list; default: none. A balanced list is the coarsest refinement of the
    /// ordinary list that satisfies it, and its tiles have the flags TILE_COARSER_*. Each layer is
    /// balanced by itself. A balance needs a monotone threshold, and is refused together with
    /// max_tiles.
    Balance balance = Balance::none;
};

/// Returns the choice of Strategy::automatic.
///
/// - Budget or balance: `fused`.
/// - CPU drivers: `subtree` with one level per dispatch, which does the least work.
/// - Thresholds that are not monotone: `subtree`, with as many levels per dispatch as leave four to
/// the last one, which has a thread for each texel below a split node.
/// - All else: `fused`.
///
/// The first case that applies is taken. Throws Error(invalid_argument) for a threshold that does
/// not fit the shape, or that is not monotone with a budget or a balance. Thread-safe.
[[nodiscard]] QUADTILE_API StrategyChoice choose_strategy(
    const DeviceInfo& device, const MapShape& shape, const Threshold& threshold,
    std::optional<std::uint64_t> max_tiles = std::nullopt, Balance balance = Balance::none);

/// Map texels that a tile covers, cut at the map's edge; right and bottom are exclusive.
struct TexelRect {
    std::uint32_t left;    ///< first column
    std::uint32_t top;     ///< first row
    std::uint32_t right;   ///< column behind the last one
    std::uint32_t bottom;  ///< row below the last one

    /// Returns whether both are the same rectangle.
    friend bool operator==(const TexelRect&, const TexelRect&) = default;
};

/// Returns the texels that a tile covers on a map of this size.
[[nodiscard]] QUADTILE_API TexelRect texels_of(const Tile& tile, std::uint32_t map_width,
                                               std::uint32_t map_height) noexcept;

/// Time of one stage of a run.
struct StageTime {
    std::string stage;    ///< name of the stage
    double milliseconds;  ///< duration
    bool on_gpu;          ///< whether GPU timestamps measured it; else the host's clock did
    /// Start of the stage. For stages on the GPU it is estimated: the last one of a run ends when
    /// the host notices the end of the run.
    std::chrono::steady_clock::time_point start = {};
};

/// Circumstances of the run that made a list.
struct RunReport {
    Strategy strategy = Strategy::automatic;  ///< strategy that ran
    std::string strategy_reason;              ///< why `automatic` chose it; else empty
    std::string device;                       ///< name of the device; empty for the reference
    std::uint32_t buffer_repeats = 0;  ///< repetitions of the run because the tile buffer was full
    std::vector<StageTime> stages;     ///< in the order of execution
};

/// Tiles of a map and the report of their run.
struct QUADTILE_API TileList {
    MapShape shape;                   ///< of the map
    std::vector<Tile> tiles;          ///< of all layers
    Order order = Order::any;         ///< of the tiles
    Balance balance = Balance::none;  ///< if not `none`, the tiles have the flags TILE_COARSER_*

    float threshold_factor = 1.0F;  ///< factor by which a budget scaled the threshold
    std::uint64_t nan_texels = 0;   ///< NaN texels, which counted as +infinity
    RunReport report;               ///< report of the run

    /// Returns the number of levels of the quadtree, level 0 and the root's included.
    [[nodiscard]] std::uint32_t levels() const noexcept {
        return top_level(shape.width, shape.height) + 1;
    }
    /// Returns the number of tiles per level, from 0 to levels() - 1.
    [[nodiscard]] std::vector<std::uint64_t> tiles_per_level() const;
};

/// Sorts tiles into canonical order, in place. The order is total, because no two tiles of a list
/// begin at the same texel.
QUADTILE_API void sort_canonical(std::vector<Tile>& tiles);

}  // namespace quadtile
