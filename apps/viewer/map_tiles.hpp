// A map on the device, its pyramid and its tiles, made by quadtile's recording layer.

#pragma once

#include "gpu.hpp"
#include "settings.hpp"

#include <quadtile/quadtile.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::viewer {

// Facts of a list that the panel shows.
struct TilesSummary {
    std::string problem;  // why there is no list; empty: there is one
    TileListHeader header{};
    std::array<std::uint32_t, MAX_LEVELS> tiles_of_level{};
    std::uint32_t clamped = 0;
    Strategy strategy = Strategy::automatic;  // the one that ran
    std::string strategy_reason;              // why it has been chosen
    std::optional<double> milliseconds;       // on the GPU; none without timestamps

    [[nodiscard]] const char* strategy_name() const {
        return strategy == Strategy::fused ? "fused" : "subtree";
    }
};

// A map and its tiles. All calls wait for the GPU, so values on the host belong to what is drawn.
// Vulkan's errors come as vk::SystemError or quadtile::Error. After an error other than a loss of
// the device, another call may succeed.
class MapTiles {
 public:
    explicit MapTiles(app::Gpu& gpu);
    ~MapTiles();
    MapTiles(const MapTiles&) = delete;
    MapTiles& operator=(const MapTiles&) = delete;

    [[nodiscard]] const quadtile::Device& device() const { return device_; }

    // Replaces the map and builds its pyramid. There are no tiles until subdivide().
    void set_map(const MapView& map);
    [[nodiscard]] bool has_map() const { return shape_.width > 0; }
    [[nodiscard]] const MapShape& shape() const { return shape_; }
    [[nodiscard]] std::optional<double> pyramid_milliseconds() const {
        return pyramid_milliseconds_;
    }

    // Makes the list. If the buffer is too small, enlarges it and makes the list again. If the
    // library refuses the settings, its message becomes the summary's problem.
    void subdivide(const SubdivisionSettings& settings, const Threshold& threshold);
    [[nodiscard]] const TilesSummary& summary() const { return summary_; }
    [[nodiscard]] bool has_tiles() const { return has_map() && summary_.problem.empty(); }

    // Returns the number of tiles, even if the list has no room for them. There is no list until
    // the next subdivide(). Throws Error if the library refuses the settings.
    [[nodiscard]] std::uint64_t count(const SubdivisionSettings& settings,
                                      const Threshold& threshold);

    // Drops the list and gives the reason.
    void discard(std::string problem) { summary_ = {.problem = std::move(problem)}; }

    // Returns the tiles of the list, if it has no problem, in the order of the device.
    [[nodiscard]] const std::vector<Tile>& tiles() const { return tiles_; }
    [[nodiscard]] TileList list() const;
    // Returns the importance of the nodes that contain a texel, from level 1 on.
    [[nodiscard]] std::vector<float> importance_above(std::uint32_t x, std::uint32_t y);

    // Resources that the viewer's shaders read (resources.glsl). They are visible to all stages.
    [[nodiscard]] vk::ImageView map_view() const { return *map_.view; }
    [[nodiscard]] vk::Buffer pyramid() const { return *pyramid_.handle; }
    [[nodiscard]] vk::Buffer tile_list() const { return *tile_list_.handle; }
    // Changes when one of these resources is replaced.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
    // Resources of one strategy.
    struct Run {
        Subdivider subdivider;
        app::Buffer scratch;
    };

    void make_list(std::uint64_t capacity);
    void fill_node_thresholds(const Threshold& threshold);
    [[nodiscard]] const Run& run_of(Strategy strategy, std::uint32_t subtree_levels);
    [[nodiscard]] Subdivider::Binding bind(const Run& run, bool by_node) const;
    // Runs the strategy once, with the list's present capacity, and reads the header back.
    void record_and_wait(const Run& run, const SubdivisionSettings& settings,
                         const Threshold& threshold);
    // Chooses the strategy and makes the resources that it needs.
    [[nodiscard]] const Run& prepare(const SubdivisionSettings& settings,
                                     const Threshold& threshold);
    // Runs the strategy until the list has room for all tiles.
    void run_until_it_fits(const Run& run, const SubdivisionSettings& settings,
                           const Threshold& threshold);
    // Copies the tiles to the host, and counts them.
    void read_tiles();

    app::Gpu& gpu_;
    quadtile::Device device_;
    Pyramid pyramid_builder_;
    std::map<std::pair<Strategy, std::uint32_t>, Run> runs_;
    std::string function_;  // the one that runs_ were made with

    MapShape shape_{};
    app::Image map_;
    app::Buffer pyramid_;
    app::Buffer pyramid_state_;
    std::optional<Pyramid::Binding> pyramid_binding_;
    app::Buffer tile_list_;
    std::uint64_t tile_capacity_ = 0;
    app::Buffer node_thresholds_;
    app::Buffer balance_buffer_;  // exists from the first balanced list of a shape on
    std::uint64_t generation_ = 0;

    app::Buffer readback_;  // a header, or nodes of the pyramid
    app::GpuTimer timer_;

    TilesSummary summary_;
    std::vector<Tile> tiles_;
    Order order_ = Order::any;  // of the list
    Balance balance_ = Balance::none;
    std::optional<double> pyramid_milliseconds_;
};

}  // namespace quadtile::viewer
