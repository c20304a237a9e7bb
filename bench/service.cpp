// Times of the service from submit to future: its cost beside the GPU's time for one request; maps
// per second of eight threads, beside batches of a Tiler; maps per second on several devices.

#include "measurement.hpp"
#include "support/maps.hpp"

#include <benchmark/benchmark.h>

#include <cstring>
#include <thread>

namespace quadtile::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr MapShape SHAPE = {1024, 1024};
constexpr std::uint32_t LAYERS = 64;  // per batch

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

double all_gpu_us(const TileList& list) {
    double sum = 0.0;
    for (const StageTime& stage : list.report.stages) {
        sum += stage.on_gpu ? stage.milliseconds * 1e3 : 0.0;
    }
    return sum;
}

double stage_us(const TileList& list, std::string_view name) {
    double sum = 0.0;
    for (const StageTime& stage : list.report.stages) {
        sum += stage.stage == name ? stage.milliseconds * 1e3 : 0.0;
    }
    return sum;
}

SubdivisionRequest smooth_request() {
    const auto texels = std::make_shared<const std::vector<float>>(test::smooth_map(SHAPE));
    return {.map = {texels->data(), SHAPE},
            .texels_owner = texels,
            .threshold = Threshold::max_resolution(8.0F)};
}

void check(const TileList& list, const SubdivisionRequest& request) {
    if (list.tiles != reference::subdivide(request.map, request.threshold).tiles) {
        throw WrongResult("the tiles differ from the reference's");
    }
}

// Returns the time of a copy of the map in host memory: median of 50.
double memcpy_us(const SubdivisionRequest& request) {
    const auto* const texels = static_cast<const std::byte*>(request.map.texels);
    std::vector<std::byte> copy(std::size_t{SHAPE.width} * SHAPE.height * sizeof(float));
    std::vector<double> times_us;
    for (int i = 0; i < 50; ++i) {
        const Clock::time_point start = Clock::now();
        std::memcpy(copy.data(), texels, copy.size());
        benchmark::ClobberMemory();
        times_us.push_back(microseconds(Clock::now() - start));
    }
    return median(times_us);
}

// Measures one request at a time.
void measure_alone(benchmark::State& state, const Device& device) {
    Service service(device);
    const SubdivisionRequest request = smooth_request();
    check(service.submit(request).result.get(), request);
    std::vector<double> total_us;
    std::vector<double> gpu_us;
    std::vector<double> copy_us;  // the host's copy into staging memory
    std::vector<double> overhead_us;
    std::vector<double> wait_us;  // wait for a lane
    std::vector<double> read_us;
    for (auto _ : state) {
        for (int i = 0; i < 300; ++i) {
            const Clock::time_point start = Clock::now();
            Ticket ticket = service.submit(request);
            const TileList list = ticket.result.get();
            total_us.push_back(microseconds(Clock::now() - start));
            gpu_us.push_back(all_gpu_us(list));
            copy_us.push_back(stage_us(list, "upload"));
            overhead_us.push_back(total_us.back() - gpu_us.back() - copy_us.back());
            wait_us.push_back(stage_us(list, "wait"));
            read_us.push_back(stage_us(list, "read back") + stage_us(list, "allocate"));
        }
        state.SetIterationTime(median(total_us) * 1e-6);
    }
    state.counters["copy_us"] = memcpy_us(request);
    state.counters["gpu_us"] = median(gpu_us);
    state.counters["host_copy_us"] = median(copy_us);
    state.counters["overhead_us"] = median(overhead_us);
    state.counters["wait_us"] = median(wait_us);
    state.counters["read_us"] = median(read_us);
}

// Measures eight threads, each with several requests in flight, beside a Tiler with batches of
// LAYERS maps.
void measure_threads(benchmark::State& state, const Device& device) {
    constexpr std::uint32_t THREADS = 8;
    constexpr std::uint32_t REQUESTS = 128;  // per thread
    const SubdivisionRequest request = smooth_request();
    const auto* const first = static_cast<const float*>(request.map.texels);
    const std::vector<float> one(first, first + std::size_t{SHAPE.width} * SHAPE.height);
    std::vector<float> batch;
    for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
        batch.insert(batch.end(), one.begin(), one.end());
    }
    const std::vector<Threshold> thresholds(LAYERS, request.threshold);
    Tiler tiler(device, {.strategy = Strategy::fused});
    const auto run_tiler = [&] {
        return tiler.subdivide({batch.data(), {SHAPE.width, SHAPE.height, LAYERS}}, thresholds);
    };
    (void)run_tiler();
    constexpr std::uint32_t RUNS = THREADS * REQUESTS / LAYERS;
    const Clock::time_point start = Clock::now();
    for (std::uint32_t i = 0; i < RUNS; ++i) {
        benchmark::DoNotOptimize(run_tiler());
    }
    const double tiler_us = microseconds(Clock::now() - start) / (RUNS * LAYERS);

    Service service(device, {.strategy = Strategy::fused, .max_batch_layers = LAYERS});
    const auto run_threads = [&] {
        std::vector<std::thread> threads;
        for (std::uint32_t i = 0; i < THREADS; ++i) {
            threads.emplace_back([&] {
                std::vector<Ticket> tickets;
                for (std::uint32_t n = 0; n < REQUESTS; ++n) {
                    tickets.push_back(service.submit(request));
                }
                for (Ticket& ticket : tickets) {
                    benchmark::DoNotOptimize(ticket.result.get());
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    };
    check(service.submit(request).result.get(), request);
    run_threads();  // buffers grow to their sizes
    double service_us = 0.0;
    for (auto _ : state) {
        const Clock::time_point service_start = Clock::now();
        run_threads();
        service_us = microseconds(Clock::now() - service_start) / (THREADS * REQUESTS);
        state.SetIterationTime(service_us * 1e-6);
    }
    state.counters["tiler_us"] = tiler_us;
    state.counters["dispatch_us"] = stage_us(run_tiler(), "subdivision") / LAYERS;
    state.counters["largest_batch"] = static_cast<double>(service.statistics().largest_batch);
}

// Measures maps per second on `count` devices of one kind; if there are fewer, takes some twice.
// Each map has its own place in host memory, so that no cache holds them all. `alone`: the result
// of one device, measured first.
void measure_devices(benchmark::State& state, const DeviceInfo& kind, std::size_t count,
                     double& alone) {
    std::vector<Device> devices;
    while (devices.size() < count) {
        for (const DeviceInfo& info : Device::enumerate()) {
            if (info.name == kind.name && devices.size() < count) {
                devices.push_back(Device::create({.select = std::to_string(info.index)}));
            }
        }
    }
    const std::vector<float> texels = test::smooth_map(SHAPE);
    const std::vector<std::vector<float>> maps(128, texels);
    Service service(devices, {.strategy = Strategy::fused,
                              .max_batch_layers = 16,  // as many as fit a staging buffer
                              .queue_capacity = 256 * count});
    SubdivisionRequest request = smooth_request();
    for (std::uint32_t device = 0; device < count; ++device) {
        request.device = device;
        check(service.submit(request).result.get(), request);
    }
    request.device.reset();
    const auto run = [&](std::size_t requests) {
        std::vector<Ticket> tickets;
        for (std::size_t i = 0; i < requests; ++i) {
            request.map.texels = maps[i % maps.size()].data();
            tickets.push_back(service.submit(request));
        }
        for (Ticket& ticket : tickets) {
            benchmark::DoNotOptimize(ticket.result.get());
        }
    };
    const std::size_t requests = (kind.type == "CPU" ? 16 : 1024) * count;
    run(requests);  // buffers grow to their sizes
    const Clock::time_point start = Clock::now();
    for (auto _ : state) {
        run(requests);
        state.SetIterationTime(microseconds(Clock::now() - start) * 1e-6 /
                               static_cast<double>(requests));
    }
    const double maps_per_s =
        static_cast<double>(requests) * 1e6 / microseconds(Clock::now() - start);
    alone = count == 1 ? maps_per_s : alone;
    state.counters["maps_per_s"] = maps_per_s;
    state.counters["speedup"] = maps_per_s / alone;
}

}  // namespace

void add_service(Session& session, std::uint32_t devices) {
    const auto alone = std::make_shared<double>(0.0);
    for (std::uint32_t count = 1; count <= devices; ++count) {
        session.add_own("service/devices_" + std::to_string(count) + "/1024x1024",
                        [&session, count, alone](benchmark::State& state) {
                            measure_devices(state, session.gpu().device().info(), count, *alone);
                        });
    }
    session.add_own("service/alone/1024x1024", [&session](benchmark::State& state) {
        measure_alone(state, session.gpu().device());
    });
    session.add_own("service/8_threads/1024x1024", [&session](benchmark::State& state) {
        measure_threads(state, session.gpu().device());
    });
}

}  // namespace quadtile::bench
