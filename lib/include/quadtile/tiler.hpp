/// \file
/// From a map in host memory to its tiles in host memory, in one call.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace quadtile {

/// How a Tiler works.
struct TilerOptions {
    /// Not `reference`: that needs no device. `automatic` chooses for each map (choose_strategy).
    Strategy strategy = Strategy::automatic;
    std::uint32_t subtree_levels = 6;  ///< 1 to 8, for `subtree`; `automatic` chooses them, too
    /// Room of the first tile buffer; it grows by itself. 0: a guess from the map.
    std::uint64_t initial_tile_capacity = 0;
    /// Of device memory and of staging memory together, pipelines not counted: rather than take
    /// more, subdivide throws Error(out_of_memory). 0: no limit.
    std::uint64_t memory_limit_bytes = 0;
    /// A run on the device that takes longer counts as hung: Error(device_lost), also from all
    /// later calls. What it works with is never destroyed while it works, the Device neither. More
    /// than 0.
    std::chrono::milliseconds gpu_timeout{60'000};
};

/// Uploads a map, builds its pyramid, subdivides, and reads the tiles back; waits for each.
///
/// Keeps pipelines and buffers between calls: subdividing maps of one shape again allocates
/// nothing. One thread at a time; Tilers of several threads may share a device.
class QUADTILE_API Tiler {
 public:
    /// Compiles the pipelines of options.strategy; with `automatic` they are when maps need them.
    /// Throws Error: invalid_argument for options outside their range and for an adopted device
    /// that was given without a queue, out_of_memory, device_lost.
    explicit Tiler(const Device& device, const TilerOptions& options = {});
    Tiler(Tiler&&) noexcept;             ///< leaves one that can only be destroyed or assigned to
    Tiler& operator=(Tiler&&) noexcept;  ///< leaves one as the constructor does
    ~Tiler();  ///< frees what it keeps, unless a run hangs (TilerOptions::gpu_timeout)

    /// The tiles of all layers. A budget is kept by the strategies automatic and fused. A tile
    /// buffer that is too small is grown and the run repeated. Thresholds by node are uploaded each
    /// time. Throws Error: invalid_argument (shape; threshold, bound_map for one; a budget that
    /// cannot be kept), unsupported (map larger than the device's images, list or thresholds longer
    /// than it can address), out_of_memory, device_lost.
    [[nodiscard]] TileList subdivide(const MapView& map, const Threshold& threshold,
                                     const SubdivideOptions& options = {});

    /// The same with a threshold for each layer: each is subdivided as a map of one layer under its
    /// own. A budget holds for all layers together, by one factor; TileList::tiles_of_layer finds a
    /// layer's tiles.
    /// One run of `fused` where the strategy is automatic or fused and the thresholds are by level
    /// and monotone. Others become one threshold by node: 5.5 bytes a texel in memory and to
    /// upload. Throws Error as the other does, and invalid_argument where there are more or fewer
    /// thresholds than layers.
    [[nodiscard]] TileList subdivide(const MapView& map,
                                     std::span<const Threshold> layer_thresholds,
                                     const SubdivideOptions& options = {});

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
