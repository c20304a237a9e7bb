// quadtile_bench: GPU times of each stage and of the downsampler on one device. Each result is
// checked against the reference first.
//
//     quadtile_bench [--sizes=1024,2048,...] [--samples=30] [--devices=4]
//     [Google Benchmark's options]
//
// SIZES are extents of squares. DEVICES: also runs a service of one, two, ... devices.
// --benchmark_filter=^downsampler/ runs the downsampler only, --benchmark_filter=-^downsampler/ the
// rest. QUADTILE_DEVICE chooses the device, QUADTILE_DATA the folder with the real maps.

#include "measurement.hpp"
#include "support/maps.hpp"

#include <benchmark/benchmark.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace quadtile;

// Defaults of --sizes, which take a GPU less than three minutes.
const std::vector<std::uint32_t> MAP_EXTENTS = {1024, 2048, 4096, 8192, 16384};
std::vector<std::uint32_t> image_extents(const DeviceInfo& device) {
    std::vector<std::uint32_t> extents;
    for (std::uint32_t extent = 256; extent <= device.max_map_extent && extent < MAX_MAP_EXTENT;
         extent *= 2) {
        extents.push_back(extent);
    }
    return extents;
}

void describe(const DeviceInfo& device, std::uint32_t samples) {
    const auto version = [](std::uint32_t v) {
        return std::to_string(VK_API_VERSION_MAJOR(v)) + "." +
               std::to_string(VK_API_VERSION_MINOR(v)) + "." +
               std::to_string(VK_API_VERSION_PATCH(v));
    };
    benchmark::AddCustomContext("device", device.name);
    benchmark::AddCustomContext("device_type", device.type);
    benchmark::AddCustomContext("driver", device.driver);
    benchmark::AddCustomContext("vulkan", version(device.api_version));
    benchmark::AddCustomContext("subgroup_size", std::to_string(device.subgroup_size));
    benchmark::AddCustomContext("subgroup_operations",
                                device.features.subgroup_operations ? "on" : "off");
    benchmark::AddCustomContext("samples", std::to_string(samples));
}

int run(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<std::uint32_t> sizes;
    std::uint32_t samples = 30;
    std::uint32_t devices = 0;  // most devices of a service; 0: none
    CLI::App app;
    app.add_option("--sizes", sizes)->delimiter(',')->check(CLI::PositiveNumber);
    app.add_option("--samples", samples)->check(CLI::PositiveNumber);
    app.add_option("--devices", devices);
    CLI11_PARSE(app, argc, argv);
    const Device device = Device::create();
    describe(device.info(), samples);
    bench::Session session(device, samples);

    std::vector<bench::MapSource> sources;
    for (const std::uint32_t size : sizes.empty() ? MAP_EXTENTS : sizes) {
        std::ranges::move(bench::synthetic_maps(size), std::back_inserter(sources));
    }
    std::vector<bench::MapSource> real = bench::real_maps();
    if (real.empty()) {
        std::fputs("quadtile_bench: no real maps: QUADTILE_DATA names no folder with them\n",
                   stderr);
    }
    benchmark::AddCustomContext("real_maps", std::to_string(real.size()));
    std::ranges::move(real, std::back_inserter(sources));

    for (const bench::MapSource& source : sources) {
        bench::add_roofs(session, source);
        bench::add_stages(session, source);
    }
    bench::add_service(session, devices);
    bench::add_first_use(session);
    bench::add_downsampler(session, sizes.empty() ? image_extents(device.info()) : sizes);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return session.failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quadtile_bench: error: %s\n", error.what());
        return 1;
    }
}
