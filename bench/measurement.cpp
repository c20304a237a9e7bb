#include "measurement.hpp"

#include "apps/common/gpu.hpp"
#include "support/maps.hpp"

#include <quadtile/quadtree.h>
#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <utility>

namespace quadtile::bench {

namespace {

Map own(const MapShape& shape, std::vector<float> texels, Threshold threshold) {
    const auto owner = std::make_shared<const std::vector<float>>(std::move(texels));
    return {{owner, owner->data()}, shape, std::move(threshold)};
}

std::uint64_t count_below(const reference::Pyramid& pyramid, const std::vector<float>& thresholds,
                          std::uint32_t level, std::uint32_t x, std::uint32_t y) {
    const reference::Level& nodes = pyramid.levels[level];
    if (x >= nodes.width || y >= nodes.height) {
        return 0;
    }
    if (level == 0 || nodes.at(x, y) < thresholds[level]) {
        return 1;
    }
    std::uint64_t count = 0;
    for (std::uint32_t child = 0; child < 4; ++child) {
        count += count_below(pyramid, thresholds, level - 1, 2 * x + child % 2, 2 * y + child / 2);
    }
    return count;
}

std::uint64_t count_tiles(const reference::Pyramid& pyramid, const Threshold& threshold) {
    const auto top = static_cast<std::uint32_t>(pyramid.levels.size() - 1);
    return count_below(pyramid, threshold.levels(top), top, 0, 0);
}

Threshold threshold_for_real_map(const MapView& map) {
    constexpr std::uint64_t TILES = 4096;
    const reference::Pyramid pyramid = reference::build_pyramid(map);
    float pixels = 0x1p30F;
    while (pixels > 0x1p-30F && count_tiles(pyramid, Threshold::max_resolution(pixels)) < TILES) {
        pixels /= 2;
    }
    return Threshold::max_resolution(pixels);
}

}  // namespace

std::vector<MapSource> synthetic_maps(std::uint32_t extent) {
    const MapShape shape = {extent, extent};
    return {
        {"smooth", shape,
         [shape] {
             return own(shape, test::smooth_map(shape),
                        Threshold::max_resolution(static_cast<float>(shape.width) / 128.0F));
         }},
        {"peaks", shape,
         [shape] { return own(shape, test::peaks_map(shape), Threshold::constant(1.0F)); }},
        {"one_peak", shape,
         [shape] {
             return own(shape, test::peaks_map(shape, shape.width), Threshold::constant(1.0F));
         }},
        {"all_split", shape,
         [shape] {
             return own(shape, test::constant_map(shape, 1.0F), Threshold::constant(0.5F));
         }},
        {"none_split", shape,
         [shape] {
             return own(shape, test::constant_map(shape, 0.5F), Threshold::constant(1.0F));
         }},
    };
}

std::vector<MapSource> real_maps() {
    const auto directory = test::data_directory();
    if (!directory) {
        return {};
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(*directory / "importance")) {
        if (entry.path().extension() == ".exr") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    std::vector<MapSource> sources;
    for (const std::filesystem::path& file : files) {
        const auto loaded = std::make_shared<const LoadedMap>(load_map(file));
        sources.push_back({file.stem().string(), loaded->shape, [loaded] {
                               return Map{{loaded, loaded->texels.get()},
                                          loaded->shape,
                                          threshold_for_real_map(loaded->view())};
                           }});
    }
    return sources;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values.at(middle)
                                  : 0.5 * (values.at(middle - 1) + values.at(middle));
}

std::vector<double> time_ns(test::Gpu& gpu, const test::Recorder& record, std::uint32_t submissions,
                            std::uint32_t repeats) {
    app::GpuTimer timer(app::Gpu(gpu.device()), 2 * repeats);
    std::vector<double> durations_ns;
    for (std::uint32_t submission = 0; submission < submissions; ++submission) {
        gpu.run([&](VkCommandBuffer commands) {
            for (std::uint32_t mark = 0; mark < 2 * repeats; mark += 2) {
                gpu.barrier(commands);
                if (mark == 0) {
                    timer.begin(commands);
                } else {
                    timer.mark(commands, mark);
                }
                record(commands);
                timer.mark(commands, mark + 1);
            }
        });
        const auto marks = timer.marks();
        if (!marks) {
            throw Error(ErrorCode::unsupported, "the device's compute queue has no timestamps");
        }
        for (std::size_t mark = 0; mark < marks->size(); mark += 2) {
            durations_ns.push_back(1e6 * ((*marks)[mark + 1] - (*marks)[mark]));
        }
    }
    return durations_ns;
}

std::uint64_t count_tiles(const Map& map) {
    std::uint64_t tiles = 0;
    for (std::uint32_t layer = 0; layer < map.shape.layers; ++layer) {
        tiles += count_tiles(reference::build_pyramid(map.view(), layer), map.threshold);
    }
    return tiles;
}

namespace {

// Warm-up: runs the commands until caches are full and clocks are high. An H200 falls to a fifth of
// its clock while the host checks a result, and needs up to a second of work to recover.
void warm_up(test::Gpu& gpu, const Measurement& measurement) {
    using Clock = std::chrono::steady_clock;
    using namespace std::chrono_literals;
    // Submits about 20 ms of runs at once: the clocks stay low if the GPU mostly waits for the next
    // submission.
    const double once_ns = time_ns(gpu, measurement.record, 1).front();
    const auto repeats = static_cast<std::uint32_t>(std::clamp(2e7 / once_ns, 1.0, 1000.0));
    static Clock::time_point last_work;
    const Clock::time_point start = Clock::now();
    const Clock::duration least = start - last_work > 200ms ? 1500ms : 200ms;
    do {
        (void)time_ns(gpu, measurement.record, 1, repeats);
        last_work = Clock::now();
    } while (last_work - start < least);
}

std::string text_of(const MapShape& shape) {
    return std::to_string(shape.width) + "x" + std::to_string(shape.height);
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

const Scene::Expected& Scene::expected(Balance balance) {
    const auto known = expected_.find(balance);
    if (known != expected_.end()) {
        return known->second;
    }
    Expected made{count_tiles(map_), {}};
    if (made.count <= LONGEST_COMPARED_LIST) {  // longer ones are of texels, thus balanced
        made.tiles = reference::subdivide(map_.view(), map_.threshold, {.balance = balance}).tiles;
        made.count = made.tiles.size();
    }
    return expected_.emplace(balance, std::move(made)).first->second;
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

void Scene::check_tiles(test::Gpu& gpu, const test::SubdivisionWorkspace& workspace, Order order,
                        Balance balance) {
    const TileListHeader header = workspace.read_header(gpu);
    const auto& [count, tiles] = expected(balance);
    if (header.required != count || header.written != header.required) {
        throw WrongResult("wrong number of tiles: " + std::to_string(header.required) +
                          " required, " + std::to_string(header.written) + " written, " +
                          std::to_string(count) + " expected");
    }
    if (count <= LONGEST_COMPARED_LIST) {
        compare_tiles(gpu, workspace, order, tiles);
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
        drop_scene();  // frees memory for the next one
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
            samples_ns = time_ns(gpu_, measurement.record, samples_);
            state.SetIterationTime(median(samples_ns) * 1e-9);
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
