// What all measurements share: the maps, the device, the map in use, the checks, the timing.

#pragma once

#include "support/gpu.hpp"
#include "support/workspace.hpp"

#include <quadtile/image.hpp>
#include <quadtile/quadtile.hpp>
#include <quadtile/threshold.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadtile::bench {

// A map in host memory with the threshold that it is subdivided by.
struct Map {
    std::shared_ptr<const void> texels;
    MapShape shape;
    Threshold threshold;

    [[nodiscard]] MapView view() const noexcept { return {texels.get(), shape}; }
};

// Where a map comes from: large ones are made when they are needed, and dropped after.
struct MapSource {
    std::string name;
    MapShape shape;
    std::function<Map()> load;
};

// `extent` x `extent` texels of each synthetic content:
// - smooth: some thousands of tiles at every extent, max_resolution(extent / 128);
// - one_peak: one bright texel, constant(1);
// - peaks: one bright texel in 64 x 64, constant(1): 21 tiles around each peak and more;
// - all_split: each texel a tile; none_split: the whole map one tile.
[[nodiscard]] std::vector<MapSource> synthetic_maps(std::uint32_t extent);

// Many maps of 1024 x 1024 texels as layers: peaks, and none split.
[[nodiscard]] std::vector<MapSource> batches(std::uint32_t layers);

// The .exr files in the folder importance of the data directory, by name; empty where there is
// none. Threshold: max_resolution of the largest power of two that gives 4096 tiles or more. Throws
// std::runtime_error for a file that cannot be read.
[[nodiscard]] std::vector<MapSource> real_maps();

// The number of tiles by the host's pyramid, without making the list.
[[nodiscard]] std::uint64_t count_tiles(const Map& map);

// A result that is not what the reference says.
class WrongResult : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// One map on the GPU, and what the reference makes of it.
class Scene {
 public:
    Scene(test::Gpu& gpu, const Pyramid& pyramid, Map map);

    [[nodiscard]] const Map& map() const noexcept { return map_; }
    [[nodiscard]] const test::PyramidWorkspace& pyramid() const noexcept { return pyramid_; }
    [[nodiscard]] std::uint64_t expected_tile_count(Balance balance = Balance::none) {
        return expected(balance).count;
    }

    // Compares the pyramid with the reference, bit for bit. Throws WrongResult.
    void check_pyramid(test::Gpu& gpu) const;
    // Compares a tile list with the reference: up to LONGEST_COMPARED_LIST tiles bit for bit in
    // canonical order, above that their number. Throws WrongResult.
    void check_tiles(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace, Order order,
                     Balance balance = Balance::none);
    // The same for a list in any order within a budget; where there are more than
    // LONGEST_COMPARED_LIST tiles without a budget, that it is kept. Throws WrongResult.
    void check_budget(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace,
                      std::uint64_t max_tiles);

    // Each map of 4096 x 4096 texels stays below it.
    static constexpr std::uint64_t LONGEST_COMPARED_LIST = 4096 * 4096;

 private:
    struct Expected {
        std::uint64_t count;
        std::vector<Tile> tiles;  // LONGEST_COMPARED_LIST at most, else none
    };
    [[nodiscard]] const Expected& expected(Balance balance);

    Map map_;
    test::PyramidWorkspace pyramid_;
    std::map<Balance, Expected> expected_;
};

// Commands to time, which own what they work on.
struct Measurement {
    test::Recorder record;
    std::map<std::string, double> counters;  // reported with the time
};

class Session {
 public:
    // `samples`: executions, whose median is the result.
    Session(const Device& device, std::uint32_t samples);

    [[nodiscard]] test::Gpu& gpu() noexcept { return gpu_; }
    [[nodiscard]] const Pyramid& pyramid() const noexcept { return pyramid_; }

    // Registers a benchmark "subject/map/WIDTHxHEIGHT". `prepare` checks that the commands do what
    // they should, and returns them; what it throws marks the benchmark with the reason.
    void add(const std::string& subject, const MapSource& source,
             std::function<Measurement(Scene&)> prepare);
    // The same for a subject that needs no map; no map is on the device then.
    void add(const std::string& name, std::function<Measurement()> prepare);

    // One that takes its own times (manual time); no map is on the device then.
    void add_own(const std::string& name, std::function<void(benchmark::State&)> measure);

    // Whether any benchmark failed, other than by asking more than the device can hold.
    [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
    [[nodiscard]] Scene& scene(const MapSource& source);
    void drop_scene();
    void add_benchmark(const std::string& name, std::function<Measurement()> prepare);
    void register_benchmark(const std::string& name,
                            std::function<void(benchmark::State&)> measure);

    test::Gpu gpu_;
    Pyramid pyramid_;
    std::uint32_t samples_;
    bool failed_ = false;
    std::string scene_name_;
    std::unique_ptr<Scene> scene_;
};

// The subjects. Each registers its benchmarks for one map.
void add_roofs(Session& session, const MapSource& source);
void add_stages(Session& session, const MapSource& source);
// With so many devices of the session's kind, too, from one on.
void add_service(Session& session, std::uint32_t devices);
void add_first_use(Session& session);

// What is downsampled.
struct DownsamplerSizes {
    std::vector<std::uint32_t> extents;  // of squares, in texels
    // Those on which all formats and variants are measured, and not the main ones only.
    std::vector<std::uint32_t> detailed_extents;
};
void add_downsampler(Session& session, const DownsamplerSizes& sizes);

}  // namespace quadtile::bench
