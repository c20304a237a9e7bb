// Times of the first use: making a device, and the first list of a Tiler, which compiles its
// pipelines. Measured without a cache, with an earlier device's pipeline cache, and with the
// pipelines of the same device. Drivers have caches, too; turn them off for true times (NVIDIA:
// __GL_SHADER_DISK_CACHE=0, Mesa: MESA_SHADER_CACHE_DISABLE=true).

#include "measurement.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace quadtile::bench {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Returns the milliseconds from a new Tiler to its first list.
double first_list_ms(const Device& device, Strategy strategy) {
    const std::vector<float> texels(64 * 64, 1.0F);
    const Clock::time_point start = Clock::now();
    Tiler tiler(device, {.strategy = strategy});
    benchmark::DoNotOptimize(
        tiler.subdivide(view_of(texels, 64, 64), Threshold::max_resolution(1.0F)));
    return milliseconds_since(start);
}

enum class Kept { nothing, as_bytes, on_device };

void measure_first_use(benchmark::State& state, const std::string& select, Strategy strategy,
                       Kept kept) {
    std::vector<std::byte> pipelines;
    DeviceOptions options;
    options.select = select;
    if (kept != Kept::nothing) {
        const Device earlier = Device::create(options);
        (void)first_list_ms(earlier, strategy);
        pipelines = earlier.pipeline_cache();
        options.pipeline_cache = pipelines;
    }
    double device_ms = 0.0;
    for (auto _ : state) {
        const Clock::time_point start = Clock::now();
        const Device device = Device::create(options);
        device_ms = milliseconds_since(start);
        if (kept == Kept::on_device) {
            (void)first_list_ms(device, strategy);
        }
        state.SetIterationTime(first_list_ms(device, strategy) * 1e-3);
    }
    state.counters["device_ms"] = device_ms;
}

}  // namespace

void add_first_use(Session& session) {
    for (const auto& [strategy, name] :
         {std::pair(Strategy::fused, "fused"), {Strategy::subtree, "subtree"}}) {
        for (const auto& [kept, kept_name] : {std::pair(Kept::nothing, "nothing_kept"),
                                              {Kept::as_bytes, "pipeline_cache"},
                                              {Kept::on_device, "same_device"}}) {
            session.add_own(std::string("first_use/") + name + "/" + kept_name,
                            [&session, strategy, kept](benchmark::State& state) {
                                measure_first_use(state, session.gpu().device().info().name,
                                                  strategy, kept);
                            });
        }
    }
}

}  // namespace quadtile::bench
