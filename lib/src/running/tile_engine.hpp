// From maps in host memory to their tiles in host memory: what Tiler and Service share.

#pragma once

#include <quadtile/pyramid.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiler.hpp>

#include "device/submission.hpp"

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace quadtile::detail {

// A map of a batch and its threshold, which applies to each of its layers as to a map of one layer
// (so it is by level, or by node of one layer).
struct BatchedMap {
    MapView map;
    BufferRange buffer;  // where the texels are, if not in host memory
    const Threshold* threshold;
};

// Keeps pipelines and buffers between calls. One thread at a time.
class TileEngine {
 public:
    // All memory is taken from `account`; null for no limit.
    TileEngine(const Device& device, const TilerOptions& options,
               std::shared_ptr<MemoryAccount> account = nullptr);

    // As Tiler::subdivide.
    [[nodiscard]] TileList subdivide(const MapView& map, const Threshold& threshold,
                                     const SubdivideOptions& options);
    [[nodiscard]] TileList subdivide(const MapView& map,
                                     std::span<const Threshold> layer_thresholds,
                                     const SubdivideOptions& options);
    // The same for a map that is on the device already (SubdivisionRequest::image).
    [[nodiscard]] TileList subdivide(const MapImage& image, const MapShape& shape,
                                     const Threshold& threshold, const SubdivideOptions& options);

    // The same for a map in a buffer of the device (SubdivisionRequest::buffer).
    [[nodiscard]] TileList subdivide(const BufferRange& buffer, const MapShape& shape,
                                     const Threshold& threshold, const SubdivideOptions& options);

    // Maps of one width, height and format, all in host memory or all in buffers, in one run of
    // `fused`; a list for each, in canonical order. Their thresholds are by level and monotone.
    [[nodiscard]] std::vector<TileList> subdivide(std::span<const BatchedMap> batch,
                                                  Balance balance);

    // Gives back all memory but that of pipelines.
    void forget_resources();

    // Whether a run has not come back in time, and whether it has not even now: then this must not
    // be destroyed.
    [[nodiscard]] bool is_hung() const noexcept { return commands_.is_hung(); }
    [[nodiscard]] bool is_at_work() const noexcept { return commands_.is_at_work(); }

 private:
    // The layers of one or more maps, one behind the other, in host memory or in buffers; or an
    // image.
    struct Source {
        MapShape shape;
        std::vector<const std::byte*> layers;
        std::vector<BufferRange> buffers = {};
        std::optional<MapImage> image = std::nullopt;
    };

    // What one run is asked for.
    struct Request {
        const Threshold* threshold;           // of all layers; null where each has its own
        std::vector<float> layer_thresholds;  // their words (Subdivider::layer_thresholds)
        SubdivideOptions options;
    };

    // What the pyramid of a map needs; Strategy::fused has none.
    struct PyramidResources {
        Buffer levels;
        Buffer state;
        std::optional<Pyramid::Binding> binding;  // once there is an image
    };

    // What maps of one width, height and format need.
    struct MapResources {
        MapShape room;  // as many layers as fit
        MapShape used;  // those that the list is bound for, as the image is
        MapImage bound;
        Image map;  // empty until texels come from the host
        std::optional<PyramidResources> pyramid;
        Buffer scratch;
        bool scratch_is_zero;
        Buffer node_thresholds;   // empty until a threshold is by node
        Buffer layer_thresholds;  // empty until layers have thresholds of their own
        Buffer balance;           // empty until a list is to be balanced
    };

    // A list that tiles are written to. The binding refers to the map's resources too.
    struct ListResources {
        std::uint64_t capacity;
        Buffer buffer;
        Subdivider::Binding binding;
    };

    struct KnownSubdivider {
        SubdividerOptions options;
        Subdivider subdivider;
    };

    [[nodiscard]] static Source source_of(std::span<const BatchedMap> batch);
    [[nodiscard]] static Source source_of(const MapView& map);

    [[nodiscard]] const Subdivider* find_subdivider(const SubdividerOptions& options) const;
    const Subdivider& make_subdivider(const SubdividerOptions& options);
    // Whether it had to be compiled.
    [[nodiscard]] bool prepare_strategy(const SubdividerOptions& options);
    void prepare_staging(Buffer& staging, const char* name, std::uint64_t size_bytes);
    void prepare_map(const Source& source);
    void prepare_resources(const MapShape& shape);
    // One of the map's that the list is bound with.
    void prepare_buffer(Buffer& buffer, const char* name, std::uint64_t size_bytes);
    void prepare_list(std::uint64_t capacity);
    [[nodiscard]] Subdivider::Binding bind_list(const Buffer& buffer, std::uint64_t capacity) const;
    void record_copy(vk::CommandBuffer buffer, const Source& source);
    void upload_node_thresholds(const Threshold& threshold);
    [[nodiscard]] TileList start_result(const MapShape& shape,
                                        const SubdivideOptions& options) const;
    [[nodiscard]] TileList subdivide(const Source& source, const Threshold& threshold,
                                     const SubdivideOptions& options);
    // What a run leaves in the tile list's buffer, the first of it in the staging, too.
    struct Run {
        std::uint64_t tiles;
        std::vector<std::uint32_t> nan_texels;  // of each layer
    };
    // Fills in all of the result but the tiles.
    [[nodiscard]] Run run(const Source& source, const Request& request, TileList& result);
    [[nodiscard]] bool sorts_on_host(const Request& request) const;
    // Reads the tiles of a run into its result.
    void read_result(const Run& run, const Request& request, TileList& result);
    // The first tiles of a run, expected_tiles_ at most: they are in the staging.
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
    std::list<KnownSubdivider> subdividers_;  // those that were needed so far
    const Subdivider* subdivider_ = nullptr;  // the one that the resources are for
    std::optional<Pyramid> pyramid_;          // fused needs none
    Commands commands_;
    Timestamps timestamps_;
    Buffer upload_staging_;
    Buffer readback_staging_;
    std::optional<MapResources> map_;
    std::optional<ListResources> list_;
    std::uint64_t expected_tiles_ = 0;  // that a run brings back at once: the last run's, and more
    bool clean_ = true;  // the last run went through; else the counters may not be back at zero
};

using TileEnginePointer = std::unique_ptr<TileEngine, DestroyUnlessAtWork>;

}  // namespace quadtile::detail
