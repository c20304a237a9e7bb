// Subdivision from host memory to host memory, for Tiler and Service.

#pragma once

#include <quadtile/subdivider.hpp>
#include <quadtile/tiler.hpp>

#include "device/staging.hpp"
#include "device/submission.hpp"

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::detail {

// Uploads, subdivides, reads back; keeps pipelines and buffers between calls. One thread at a time.
class TileEngine {
 public:
    // All memory is counted by `account`; null: no limit.
    TileEngine(const Device& device, const TilerOptions& options,
               std::shared_ptr<MemoryAccount> account = nullptr);

    // Subdivides maps of one width, height and format in one run, and returns a list for each.
    // There is one threshold for all, or one for each layer of each map, which is subdivided as a
    // map of its own. The lists of several maps are in canonical order.
    [[nodiscard]] std::vector<TileList> subdivide(std::span<const MapView> maps,
                                                  std::span<const Threshold> thresholds,
                                                  const SubdivideOptions& options);

    // Frees all memory except that of pipelines.
    void forget_resources();

    // Returns whether a run has exceeded the timeout, and whether it still executes; then this
    // object must not be destroyed.
    [[nodiscard]] bool is_hung() const noexcept { return commands_.is_hung(); }
    [[nodiscard]] bool is_at_work() const noexcept { return commands_.is_at_work(); }

 private:
    // What one run subdivides.
    struct Request {
        MapShape shape;                        // with the layers of all maps
        std::vector<const std::byte*> layers;  // one behind the other
        const Threshold* threshold;            // of all layers; null: each layer has its own
        std::vector<float> layer_thresholds;   // words of Subdivider::layer_thresholds
        SubdivideOptions options;
    };

    // Buffers that some runs need.
    struct Needs {
        bool node_thresholds;
        bool layer_thresholds;
        bool balance;

        friend bool operator==(const Needs&, const Needs&) = default;
    };

    // Resources of maps of one width, height and format, which all strategies share: each buffer is
    // as long as the largest run so far needed it, and empty before the first.
    struct MapResources {
        // After changes to the strategy, the shape in use or a buffer. Then the scratch has other
        // parts, so counters in it may not be 0.
        void unbind() {
            binding.reset();
            pyramid_binding.reset();
            scratch_is_zero = false;
        }

        MapShape room;  // as many layers as fit
        MapShape used;
        Image map;
        Buffer pyramid;
        Buffer pyramid_state;
        Buffer scratch;
        bool scratch_is_zero = false;
        Buffer node_thresholds;
        Buffer layer_thresholds;
        Buffer balance;
        Buffer list;
        std::uint64_t capacity = 0;  // of the list, in tiles
        std::optional<Pyramid::Binding> pyramid_binding;
        std::optional<Subdivider::Binding> binding;
        Needs bound = {};
    };

    // Places in the staging of what each run reads back: its header, the numbers of NaN texels of
    // the layers, and the first of its tiles.
    struct Readback {
        std::uint32_t layers = 0;
        std::uint64_t tiles = 0;

        static constexpr vk::DeviceSize nan_texels_offset = sizeof(TileListHeader);
        [[nodiscard]] vk::DeviceSize nan_texels_bytes() const {
            return layers * sizeof(std::uint32_t);
        }
        [[nodiscard]] vk::DeviceSize tiles_offset() const {
            const vk::DeviceSize end = nan_texels_offset + nan_texels_bytes();
            return (end + sizeof(Tile) - 1) / sizeof(Tile) * sizeof(Tile);
        }
        [[nodiscard]] vk::DeviceSize size_bytes() const {
            return tiles_offset() + tiles * sizeof(Tile);
        }
    };

    struct KnownSubdivider {
        SubdividerOptions options;
        Subdivider subdivider;
    };

    // Prepares a strategy. Returns whether it had to be compiled.
    [[nodiscard]] bool prepare_strategy(const SubdividerOptions& options);
    void prepare_map(const MapShape& shape);
    void prepare_buffer(Buffer& buffer, const std::string& name, std::uint64_t size_bytes);
    void prepare_list(std::uint64_t capacity);
    void bind(const Needs& needs);
    [[nodiscard]] bool has_pyramid() const { return subdivider_->strategy() != Strategy::fused; }
    void upload_node_thresholds(const Threshold& threshold);
    // Returns the way to subdivide, and fills in the reason of `automatic`.
    [[nodiscard]] SubdividerOptions way_for(const Request& request, bool is_batch,
                                            RunReport& report) const;
    // Fits all resources to a run.
    void prepare(const Request& request, const Needs& needs);
    // Reserves room in the staging for at least so many of the first tiles, if there is room.
    void expect(std::uint64_t tiles);
    // Runs until the list has room. Returns its header; the first tiles are in the staging.
    [[nodiscard]] TileListHeader run(const Request& request, RunReport& report);
    [[nodiscard]] bool sorts_on_host(const Request& request) const;
    // Returns the first tiles of a run, at most readback_.tiles: they are in the staging.
    [[nodiscard]] std::span<const Tile> staged_tiles(std::uint64_t count) const;
    // Returns the numbers of NaN texels of the layers.
    [[nodiscard]] std::vector<std::uint32_t> staged_nan_texels() const;
    // Returns all tiles of a run.
    [[nodiscard]] std::vector<Tile> read_tiles(std::uint64_t count);
    void record_run(vk::CommandBuffer buffer, const Request& request);
    void record_readback(vk::CommandBuffer buffer);
    [[nodiscard]] TileListHeader finish_run(RunReport& report);

    TilerOptions options_;
    Device device_;
    std::shared_ptr<DeviceContext> context_;
    std::shared_ptr<MemoryAccount> account_;
    std::list<KnownSubdivider> subdividers_;  // those used so far
    const Subdivider* subdivider_ = nullptr;  // the one that the bindings are of
    std::optional<Pyramid> pyramid_;          // none for fused
    Commands commands_;
    Timestamps timestamps_;
    Staging upload_staging_;
    Staging readback_staging_;
    std::optional<MapResources> map_;
    std::uint64_t expected_tiles_ = 0;  // of the next run: the last run's and more
    Readback readback_;                 // of the last run
    bool clean_ = true;  // whether the last run succeeded; else counters may not be 0
};

using TileEnginePointer = std::unique_ptr<TileEngine, DestroyUnlessAtWork>;

}  // namespace quadtile::detail
