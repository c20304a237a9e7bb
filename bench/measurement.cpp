#include "measurement.hpp"

#include <quadtile/quadtree.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

namespace quadtile::bench {

namespace {

// Executions before the measured ones.
// Runs what is timed until caches are full and clocks are high. An H200 falls to a fifth of its
// clock while the host checks a result, and takes up to a second of work to come back.
void warm_up(test::Gpu& gpu, const Measurement& measurement) {
    using Clock = std::chrono::steady_clock;
    using namespace std::chrono_literals;
    // Back to back in submissions of some 20 ms: the clocks stay low while the GPU waits for the
    // next submission more than it works.
    const double once_ns = gpu.time_ns(measurement.record, 1).front();
    const auto repeats = static_cast<std::uint32_t>(std::clamp(2e7 / once_ns, 1.0, 1000.0));
    static Clock::time_point last_work;
    const Clock::time_point start = Clock::now();
    const Clock::duration least = start - last_work > 200ms ? 1500ms : 200ms;
    do {
        (void)gpu.time_ns(measurement.record, 1, repeats);
        last_work = Clock::now();
    } while (last_work - start < least);
}

std::string text_of(const MapShape& shape) {
    std::string text = std::to_string(shape.width) + "x" + std::to_string(shape.height);
    if (shape.layers > 1) {
        text.append("x").append(std::to_string(shape.layers));
    }
    return text;
}

// `expected` is in canonical order.
void compare_tiles(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace, Order order,
                   const std::vector<Tile>& expected) {
    std::vector<Tile> tiles = workspace.read_tiles(gpu);
    if (order == Order::any) {
        sort_canonical(tiles);
    }
    if (tiles != expected) {
        throw WrongResult("the tiles differ from the reference's");
    }
}

bool more_than_the_device_holds(const Error& error) {
    return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::out_of_memory;
}

}  // namespace

Scene::Scene(test::Gpu& gpu, const Pyramid& pyramid, Map map)
    : map_(std::move(map)), pyramid_(gpu, pyramid, map_.view()) {}

std::uint64_t Scene::expected_tile_count() {
    if (!expected_tile_count_) {
        expected_tile_count_ = count_tiles(map_);
        if (*expected_tile_count_ <= LONGEST_COMPARED_LIST) {
            expected_tiles_ = reference::subdivide(map_.view(), map_.threshold).tiles;
        }
    }
    return *expected_tile_count_;
}

void Scene::check_pyramid(test::Gpu& gpu) const {
    const reference::Pyramid expected = reference::build_pyramid(map_.view());
    const auto actual_bits = gpu.read<std::uint32_t>(
        pyramid_.levels, 0, pyramid_.levels.size_bytes() / sizeof(std::uint32_t));
    for (std::uint32_t level = 1; level < expected.levels.size(); ++level) {
        const reference::Level& nodes = expected.levels[level];
        for (std::uint32_t y = 0; y < nodes.height; ++y) {
            for (std::uint32_t x = 0; x < nodes.width; ++x) {
                const std::uint32_t index =
                    pyramid_index(map_.shape.width, map_.shape.height, level, x, y, 0);
                if (actual_bits[index] != std::bit_cast<std::uint32_t>(nodes.at(x, y))) {
                    throw WrongResult("wrong pyramid at level " + std::to_string(level) + ", x " +
                                      std::to_string(x) + ", y " + std::to_string(y));
                }
            }
        }
    }
}

void Scene::check_tiles(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace, Order order) {
    const TileListHeader header = workspace.read_header(gpu);
    if (header.required != expected_tile_count() || header.written != header.required) {
        throw WrongResult("wrong number of tiles: " + std::to_string(header.required) +
                          " required, " + std::to_string(header.written) + " written, " +
                          std::to_string(expected_tile_count()) + " expected");
    }
    if (expected_tile_count() <= LONGEST_COMPARED_LIST) {
        compare_tiles(gpu, workspace, order, expected_tiles_);
    }
}

void Scene::check_budget(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace,
                         std::uint64_t max_tiles) {
    const TileListHeader header = workspace.read_header(gpu);
    if (header.required > max_tiles || header.flags != 0) {
        throw WrongResult(std::to_string(header.required) + " tiles where " +
                          std::to_string(max_tiles) + " are allowed");
    }
    if (expected_tile_count() <= LONGEST_COMPARED_LIST) {
        compare_tiles(
            gpu, workspace, Order::any,
            reference::subdivide(map_.view(), map_.threshold, {.max_tiles = max_tiles}).tiles);
    }
}

Session::Session(const Device& device, std::uint32_t samples)
    : gpu_(device), pyramid_(device), samples_(samples) {}

Scene& Session::scene(const MapSource& source) {
    const std::string name = source.name + "/" + text_of(source.shape);
    if (!scene_ || scene_name_ != name) {
        drop_scene();  // room for the next one
        scene_ = std::make_unique<Scene>(gpu_, pyramid_, source.load());
        scene_name_ = name;
    }
    return *scene_;
}

void Session::drop_scene() {
    scene_.reset();
    scene_name_.clear();
}

void Session::add(const std::string& subject, const MapSource& source,
                  std::function<Measurement(Scene&)> prepare) {
    const std::string name = subject + "/" + source.name + "/" + text_of(source.shape);
    add_benchmark(name,
                  [this, source, prepare = std::move(prepare)] { return prepare(scene(source)); });
}

void Session::add(const std::string& name, std::function<Measurement()> prepare) {
    add_benchmark(name, [this, prepare = std::move(prepare)] {
        drop_scene();
        return prepare();
    });
}

void Session::add_benchmark(const std::string& name, std::function<Measurement()> prepare) {
    register_benchmark(name, [this, prepare = std::move(prepare)](benchmark::State& state) {
        const Measurement measurement = prepare();
        warm_up(gpu_, measurement);
        std::vector<double> samples_ns;
        for (auto _ : state) {
            samples_ns = gpu_.time_ns(measurement.record, samples_);
            state.SetIterationTime(test::median(samples_ns) * 1e-9);
        }
        state.counters["min_us"] = *std::ranges::min_element(samples_ns) * 1e-3;
        state.counters["max_us"] = *std::ranges::max_element(samples_ns) * 1e-3;
        for (const auto& [counter, value] : measurement.counters) {
            state.counters[counter] = value;
        }
    });
}

void Session::add_own(const std::string& name, std::function<void(benchmark::State&)> measure) {
    register_benchmark(name, [this, measure = std::move(measure)](benchmark::State& state) {
        drop_scene();
        measure(state);
    });
}

void Session::register_benchmark(const std::string& name,
                                 std::function<void(benchmark::State&)> measure) {
    const auto guarded = [this, measure = std::move(measure)](benchmark::State& state) {
        try {
            measure(state);
        } catch (const Error& error) {
            failed_ = failed_ || !more_than_the_device_holds(error);
            state.SkipWithError(error.what());
        } catch (const std::exception& error) {
            failed_ = true;
            state.SkipWithError(error.what());
        }
    };
    benchmark::RegisterBenchmark(name.c_str(), guarded)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(1);
}

}  // namespace quadtile::bench
