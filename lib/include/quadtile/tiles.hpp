/// \file
/// The tile list on the host.

#pragma once

#include <quadtile/export.h>
#include <quadtile/tile_list.h>
#include <quadtile/image.hpp>
#include <quadtile/strategy.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile {

/// Order of the tiles in the list.
enum class Order {
    any,        ///< as fast as possible; differs from run to run
    canonical,  ///< by layer, then by the Morton code of the tile's first texel; always the same
};

/// By how much the levels of tiles that touch may differ.
enum class Balance {
    none,     ///< by anything: the ordinary list
    edges,    ///< by one at most, where tiles share an edge
    corners,  ///< by one at most, where tiles share an edge or a corner
};

/// What a subdivision keeps to beside the threshold.
struct SubdivideOptions {
    Order order = Order::canonical;  ///< of the list
    /// A budget of tiles, in all layers together; default: as many as the threshold makes. If
    /// those are more, all thresholds are scaled by the smallest factor of
    /// quadtile/budget.h that leaves `max_tiles` or fewer. Factors go up in steps of 0.8 to 1.6
    /// percent, and nodes that exceed their thresholds in the same ratio are split together or not
    /// at all, so there may be fewer tiles.
    std::optional<std::uint64_t> max_tiles = std::nullopt;
    /// Other than none: the coarsest refinement of the ordinary list that is balanced so. Its tiles
    /// have the flags TILE_COARSER_*. The tiles of each layer are balanced by themselves. Together
    /// with max_tiles it is refused.
    Balance balance = Balance::none;
};

/// The rectangle of map texels that a tile covers, right and bottom exclusive, cut at the map's
/// edge.
struct TexelRect {
    std::uint32_t left;    ///< its first column
    std::uint32_t top;     ///< its first row
    std::uint32_t right;   ///< the column behind its last
    std::uint32_t bottom;  ///< the row below its last

    /// Whether they cover the same texels.
    friend bool operator==(const TexelRect&, const TexelRect&) = default;
};

/// The texels that a tile covers on a map of this size.
[[nodiscard]] QUADTILE_API TexelRect texels_of(const Tile& tile, std::uint32_t map_width,
                                               std::uint32_t map_height) noexcept;

/// One timed stage of a run.
struct StageTime {
    std::string stage;    ///< its name
    double milliseconds;  ///< that it took
    bool on_gpu;          ///< measured by GPU timestamps, else by the host's clock
    /// Of those on the GPU estimated: the last of a run ends as the host sees the run finished.
    std::chrono::steady_clock::time_point start = {};
};

/// How the tiles of a list were found.
struct RunReport {
    Strategy strategy = Strategy::automatic;  ///< the one that ran
    std::string strategy_reason;              ///< why automatic has taken it; else empty
    std::string device;                       ///< its name; empty for the reference
    std::uint32_t buffer_repeats = 0;         ///< runs repeated because the tile buffer was full
    std::vector<StageTime> stages;            ///< in the order of execution
};

/// The tiles of a map and how they came about.
struct QUADTILE_API TileList {
    MapShape shape;                   ///< of the map
    std::vector<Tile> tiles;          ///< of all layers
    Order order = Order::any;         ///< of the tiles
    Balance balance = Balance::none;  ///< other than none: the tiles have the flags TILE_COARSER_*

    float threshold_factor = 1.0F;  ///< by which a budget scaled the threshold
    std::uint64_t nan_texels = 0;   ///< texels that were NaN and counted as +inf
    RunReport report;               ///< of the run that found them

    /// Levels of the quadtree, from 0 to the root's.
    [[nodiscard]] std::uint32_t levels() const noexcept {
        return top_level(shape.width, shape.height) + 1;
    }
    /// Tiles of each level, 0 to levels() - 1.
    [[nodiscard]] std::vector<std::uint64_t> tiles_per_level() const;
    /// The tiles of one layer, which lie together in canonical order; valid as long as `tiles` is.
    /// Any order mixes the layers; there Tile::layer says which one a tile is of.
    /// Throws Error(invalid_argument) for any order and for a layer that the map does not have.
    [[nodiscard]] std::span<const Tile> tiles_of_layer(std::uint32_t layer) const;
};

/// Sorts into the canonical order, in place. The order is total: no two tiles of a list share their
/// first texel.
QUADTILE_API void sort_canonical(std::vector<Tile>& tiles);

/// Checks that the tiles partition the map: every texel of every layer lies in exactly one tile, no
/// tile reaches outside. Returns an empty string, or one sentence that names the first violation.
[[nodiscard]] QUADTILE_API std::string check_partition(const std::vector<Tile>& tiles,
                                                       const MapShape& shape);

}  // namespace quadtile
