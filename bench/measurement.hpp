// Common parts of all measurements: maps, device, the map in use, checks and times.

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

// A map in host memory, with its threshold.
struct Map {
    std::shared_ptr<const void> texels;
    MapShape shape;
    Threshold threshold;

    [[nodiscard]] MapView view() const noexcept { return {texels.get(), shape}; }
};

// A map that is loaded or made when it is needed, and dropped afterwards.
struct MapSource {
    std::string name;
    MapShape shape;
    std::function<Map()> load;
};

// Returns `extent` x `extent` texels of each synthetic content:
// - smooth: some thousands of tiles at every extent, max_resolution(extent / 128);
// - one_peak: one bright texel, constant(1);
// - peaks: one bright texel per 64 x 64, constant(1), 21 tiles around each peak and more;
// - all_split: each texel a tile; none_split: the whole map one tile.
[[nodiscard]] std::vector<MapSource> synthetic_maps(std::uint32_t extent);

// Returns batches of 1024 x 1024 texels per layer: peaks, and maps that are not split.
[[nodiscard]] std::vector<MapSource> batches(std::uint32_t layers);

// Returns the .exr files in the folder importance of the data directory, by name; empty if there is
// no folder. Threshold: max_resolution of the largest power of two that gives at least 4096 tiles.
// Throws std::runtime_error if a file cannot be read.
[[nodiscard]] std::vector<MapSource> real_maps();

// Returns the middle of the sorted values; for an even number, the mean of the two middle ones.
[[nodiscard]] double median(std::vector<double> values);

// Records and runs the commands `submissions` times. Returns the GPU time of each run in
// nanoseconds, from the end of all earlier work to the end of its own. If `repeats` > 1, each
// submission runs the commands that many times in a row and times each. Throws Error(unsupported)
// if the queue has no timestamps.
[[nodiscard]] std::vector<double> time_ns(test::Gpu& gpu, const test::Recorder& record,
                                          std::uint32_t submissions, std::uint32_t repeats = 1);

// Returns the number of tiles from the host's pyramid, without making the list.
[[nodiscard]] std::uint64_t count_tiles(const Map& map);

// A result that differs from the reference's.
class WrongResult : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// A map on the GPU, and the reference's results for it.
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
    // Compares a tile list with the reference: up to LONGEST_COMPARED_LIST tiles in every bit and
    // in canonical order, longer lists in their number. Throws WrongResult.
    void check_tiles(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace, Order order,
                     Balance balance = Balance::none);
    // Compares a list in any order within a budget. If there are more than LONGEST_COMPARED_LIST
    // tiles without the budget, checks only that it is kept. Throws WrongResult.
    void check_budget(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace,
                      std::uint64_t max_tiles);

    // More tiles than any map of 4096 x 4096 texels has.
    static constexpr std::uint64_t LONGEST_COMPARED_LIST = 4096 * 4096;

 private:
    struct Expected {
        std::uint64_t count;
        std::vector<Tile> tiles;  // empty above LONGEST_COMPARED_LIST tiles
    };
    [[nodiscard]] const Expected& expected(Balance balance);

    Map map_;
    test::PyramidWorkspace pyramid_;
    std::map<Balance, Expected> expected_;
};

// Commands to time, which own their resources.
struct Measurement {
    test::Recorder record;
    std::map<std::string, double> counters;  // reported with the time
};

class Session {
 public:
    // `samples`: number of runs; the result is their median.
    Session(const Device& device, std::uint32_t samples);

    [[nodiscard]] test::Gpu& gpu() noexcept { return gpu_; }
    [[nodiscard]] const Pyramid& pyramid() const noexcept { return pyramid_; }

    // Registers a benchmark "subject/map/WIDTHxHEIGHT". `prepare` checks the results of the
    // commands and returns these. If it throws, the benchmark reports the reason.
    void add(const std::string& subject, const MapSource& source,
             std::function<Measurement(Scene&)> prepare);
    // Registers a benchmark without a map. No map is on the device while it runs.
    void add(const std::string& name, std::function<Measurement()> prepare);

    // Registers a benchmark that measures its own times. No map is on the device while it runs.
    void add_own(const std::string& name, std::function<void(benchmark::State&)> measure);

    // Tells whether a benchmark failed, other than for lack of memory.
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

// ---- Subjects; each function registers its benchmarks for one map
void add_roofs(Session& session, const MapSource& source);
void add_stages(Session& session, const MapSource& source);
// Also measures up to `devices` devices of the session's kind.
void add_service(Session& session, std::uint32_t devices);
void add_first_use(Session& session);

// Extents of the downsampler's images.
struct DownsamplerSizes {
    std::vector<std::uint32_t> extents;  // of squares, in texels
    // Extents of which all formats and variants are measured, not only the main ones.
    std::vector<std::uint32_t> detailed_extents;
};
void add_downsampler(Session& session, const DownsamplerSizes& sizes);

}  // namespace quadtile::bench
