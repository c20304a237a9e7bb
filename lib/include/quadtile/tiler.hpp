/// \file
/// Subdivision of a map in host memory in one call, with the tiles in host memory.

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

/// Options of a Tiler.
struct TilerOptions {
    /// Strategy of each run; not `reference`, which needs no device. `automatic` chooses for each
    /// map (choose_strategy).
    Strategy strategy = Strategy::automatic;
    std::uint32_t subtree_levels = 6;  ///< 1 to 8, for `subtree`; `automatic` chooses its own
    /// Longest run on the device; more than 0. A longer run counts as hung: this call and all later
    /// ones throw Error(device_lost). The objects of the hung run and the Device are then never
    /// destroyed.
    std::chrono::milliseconds gpu_timeout{60'000};
};

/// Uploads a map, builds its pyramid if the strategy needs it, subdivides the map, and reads the
/// tiles back.
///
/// Keeps pipelines and buffers between calls. One thread at a time may use a Tiler; Tilers of
/// several threads may share a device.
class QUADTILE_API Tiler {
 public:
    /// Compiles the pipelines of options.strategy; `automatic` compiles them when maps need them.
    /// Throws Error: invalid_argument for options outside their range and for an adopted device
    /// without a queue, out_of_memory, device_lost.
    explicit Tiler(const Device& device, const TilerOptions& options = {});
    Tiler(Tiler&&) noexcept;             ///< the old object can only be destroyed or assigned to
    Tiler& operator=(Tiler&&) noexcept;  ///< as the constructor
    ~Tiler();  ///< frees all resources, unless a run hangs (TilerOptions::gpu_timeout)

    /// Returns the tiles of all layers. The strategies automatic and fused keep a budget. If the
    /// tile buffer is too small, it grows and the run is repeated. Thresholds per node are uploaded
    /// in each call. Throws Error: invalid_argument (shape; threshold, for example bound_map; a
    /// budget that cannot be kept), unsupported (a map larger than the device's images, a list or
    /// thresholds longer than it can address), out_of_memory, device_lost.
    [[nodiscard]] TileList subdivide(const MapView& map, const Threshold& threshold,
                                     const SubdivideOptions& options = {});

    /// Does the same with a threshold per layer: each layer is subdivided as a map of its own. A
    /// budget holds for all layers together, with one factor.
    ///
    /// It takes one run of `fused` if the strategy is automatic or fused and the thresholds are by
    /// level and monotone. Other thresholds are combined into a threshold per node, which takes 5.5
    /// bytes per texel in memory and to upload. Throws Error as above, and invalid_argument if the
    /// numbers of thresholds and layers differ.
    [[nodiscard]] TileList subdivide(const MapView& map,
                                     std::span<const Threshold> layer_thresholds,
                                     const SubdivideOptions& options = {});

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
