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

// A map of a batch and its threshold, which applies to each layer as to a map of one layer (so it
// is by level, or by node of one layer).
struct BatchedMap {
    MapView map;
    const Threshold* threshold;
};

// Uploads, subdivides, reads back; keeps pipelines and buffers between calls. One thread at a time.
class TileEngine {
 public:
    // All memory is counted by `account`; null: no limit.
    TileEngine(const Device& device, const TilerOptions& options,
               std::shared_ptr<MemoryAccount> account = nullptr);

    // Does the work of Tiler::subdivide.
    [[nodiscard]] TileList subdivide(const MapView& map, const Threshold& threshold,
                                     const SubdivideOptions& options);
    [[nodiscard]] TileList subdivide(const MapView& map,
                                     std::span<const Threshold> layer_thresholds,
                                     const SubdivideOptions& options);
    // Subdivides maps of one width, height and format in one run of `fused`. Returns a list for
    // each, in canonical order. Thresholds must be by level and monotone.
    [[nodiscard]] std::vector<TileList> subdivide(std::span<const BatchedMap> batch,
                                                  Balance balance);

    // Frees all memory except that of pipelines.
    void forget_resources();

    // Returns whether a run has exceeded the timeout, and whether it still executes; then this
    // object must not be destroyed.
    [[nodiscard]] bool is_hung() const noexcept { return commands_.is_hung(); }
    [[nodiscard]] bool is_at_work() const noexcept { return commands_.is_at_work(); }

 private:
    // Layers of one or more maps, one behind the other.
    struct Source {
        MapShape shape;
        std::vector<const std::byte*> layers;
    };

    // Options of one run.
    struct Request {
        const Threshold* threshold;           // of all layers; null: each layer has its own
        std::vector<float> layer_thresholds;  // words of Subdivider::layer_thresholds
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

    [[nodiscard]] static Source source_of(std::span<const BatchedMap> batch);
    [[nodiscard]] static Source source_of(const MapView& map);

    [[nodiscard]] const Subdivider* find_subdivider(const SubdividerOptions& options) const;
    const Subdivider& make_subdivider(const SubdividerOptions& options);
    // Prepares a strategy. Returns whether it had to be compiled.
    [[nodiscard]] bool prepare_strategy(const SubdividerOptions& options);
    void prepare_map(const MapShape& shape);
    void prepare_buffer(Buffer& buffer, const std::string& name, std::uint64_t size_bytes);
    void prepare_list(std::uint64_t capacity);
    void bind(const Needs& needs);
    [[nodiscard]] bool has_pyramid() const { return subdivider_->strategy() != Strategy::fused; }
    void upload_node_thresholds(const Threshold& threshold);
    [[nodiscard]] TileList start_result(const MapShape& shape,
                                        const SubdivideOptions& options) const;
    // Results of a run in the tile list's buffer; the first of them are also in the staging.
    struct Run {
        std::uint64_t tiles;
        std::vector<std::uint32_t> nan_texels;  // of each layer
    };
    // Runs, and fills in all of the result except the tiles.
    [[nodiscard]] Run run(const Source& source, const Request& request, TileList& result);
    [[nodiscard]] bool sorts_on_host(const Request& request) const;
    // Reads the tiles of a run into its result.
    void read_result(const Run& run, const Request& request, TileList& result);
    // Returns the first tiles of a run, at most readback_.tiles: they are in the staging.
    [[nodiscard]] std::span<const Tile> staged_tiles(std::uint64_t count) const;
    void record_run(vk::CommandBuffer buffer, const Request& request);
    void record_readback(vk::CommandBuffer buffer);
    void finish_run(TileList& result);
    [[nodiscard]] TileListHeader read_header() const;
    void read_tiles(std::uint64_t count, std::vector<Tile>& tiles);

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
