// A map on the device, its pyramid and its tiles, by quadtile's recording layer.

#pragma once

#include "gpu.hpp"
#include "settings.hpp"

#include "shaders/drawing.h"

#include <quadtile/quadtile.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::viewer {

// What the panel says of a list.
struct TilesSummary {
    std::string problem;  // why there is no list; empty: there is one
    TileListHeader header{};
    Tally tally{};
    std::uint64_t covered_texels = 0;
    Strategy strategy = Strategy::automatic;  // the one that ran
    std::uint32_t subtree_levels = 0;         // for subtree
    std::string strategy_reason;              // why automatic has taken it; else empty
    std::optional<double> milliseconds;       // on the GPU, where it has timestamps
    std::uint32_t repeats = 0;                // because the buffer was too small
    bool is_first_run = false;  // of its pipelines: drivers do some of their work only then
};

// Of one strategy, for comparison.
struct StrategyTime {
    Strategy strategy;
    std::optional<double> milliseconds;
    std::string problem;  // why it did not run
};

// All waits for the GPU: what is known on the host and what is drawn always belong together.
// Vulkan's errors come as vk::SystemError or quadtile::Error; after all but losses of the device
// another call may succeed.
class MapTiles {
 public:
    explicit MapTiles(app::Gpu& gpu, const std::string& cache_directory);
    ~MapTiles();
    MapTiles(const MapTiles&) = delete;
    MapTiles& operator=(const MapTiles&) = delete;

    [[nodiscard]] const quadtile::Device& device() const { return device_; }

    // Replaces the map and builds its pyramid; there are no tiles until subdivide.
    void set_map(const MapView& map);
    [[nodiscard]] bool has_map() const { return shape_.width > 0; }
    [[nodiscard]] const MapShape& shape() const { return shape_; }
    [[nodiscard]] std::optional<double> pyramid_milliseconds() const {
        return pyramid_milliseconds_;
    }

    // Makes the list, again with more room where it was too short. What the library refuses is the
    // summary's problem.
    void subdivide(const SubdivisionSettings& settings, const Threshold& threshold);
    [[nodiscard]] const TilesSummary& summary() const { return summary_; }
    [[nodiscard]] bool has_tiles() const { return has_map() && summary_.problem.empty(); }

    // The number of tiles, whether they find room or not; then there is no list until the next
    // subdivide. Throws Error where the library refuses.
    [[nodiscard]] std::uint64_t count(const SubdivisionSettings& settings,
                                      const Threshold& threshold);

    // There is no list any more, for this reason.
    void discard(std::string problem) { summary_ = {.problem = std::move(problem)}; }

    // Each strategy with those settings, the second time that it runs; then the list is that of
    // `settings` again.
    [[nodiscard]] std::vector<StrategyTime> compare(const SubdivisionSettings& settings,
                                                    const Threshold& threshold);

    // The tile of a texel of the map, and the importance of its nodes.
    [[nodiscard]] ProbeResult probe(std::uint32_t x, std::uint32_t y);

    // The list on the host, as it is on the device.
    [[nodiscard]] TileList read();

    // What shaders of the viewer read: resources.glsl. They were written and may be read by all
    // stages.
    [[nodiscard]] vk::ImageView map_view() const { return *map_.view; }
    [[nodiscard]] vk::Buffer pyramid() const { return *pyramid_.handle; }
    [[nodiscard]] vk::Buffer tile_list() const { return *tile_list_.handle; }
    // Changes whenever one of them is another.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
    // What one strategy needs.
    struct Run {
        explicit Run(Subdivider subdivider_) : subdivider(std::move(subdivider_)) {}
        Subdivider subdivider;
        app::Buffer scratch;
        std::optional<Subdivider::Binding> binding;  // none: resources have changed
        bool binds_node_thresholds = false;
        bool binds_balance = false;
        bool has_run = false;
    };

    void forget_bindings();
    void make_list(std::uint64_t capacity);
    void fill_node_thresholds(const Threshold& threshold);
    [[nodiscard]] Run& run_of(Strategy strategy, std::uint32_t subtree_levels);
    void bind(Run& run, bool by_node);
    // Once, into the list as long as it is; with the tally.
    void record_and_wait(Run& run, const SubdivisionSettings& settings, const Threshold& threshold);
    // Which strategy it is, with all in place that it needs.
    [[nodiscard]] Run& prepare(const SubdivisionSettings& settings, const Threshold& threshold);
    // Until the list has room.
    void run_until_it_fits(Run& run, const SubdivisionSettings& settings,
                           const Threshold& threshold);
    void record_search(vk::CommandBuffer commands, vk::Pipeline pipeline,
                       const ProbeRequest& request) const;

    app::Gpu& gpu_;
    quadtile::Device device_;
    Pyramid pyramid_builder_;
    std::map<std::pair<Strategy, std::uint32_t>, Run> runs_;
    std::optional<ThresholdFunction> function_;  // that runs_ were made with

    MapShape shape_{};
    app::Image map_;
    app::Buffer pyramid_;
    app::Buffer pyramid_state_;
    std::optional<Pyramid::Binding> pyramid_binding_;
    app::Buffer tile_list_;
    std::uint64_t tile_capacity_ = 0;
    app::Buffer node_thresholds_;
    app::Buffer balance_buffer_;  // from the first balanced list of a shape on
    std::uint64_t generation_ = 0;

    // For tally and probe.
    app::Buffer answer_;  // a Tally or a ProbeResult, for the host
    app::Buffer header_;  // of the list, for the host
    app::ProgramInterface interface_;
    vk::UniquePipeline tally_;
    vk::UniquePipeline probe_;
    app::GpuTimer timer_;

    TilesSummary summary_;
    Order order_ = Order::any;  // of the list
    Balance balance_ = Balance::none;
    std::optional<double> pyramid_milliseconds_;
};

}  // namespace quadtile::viewer
