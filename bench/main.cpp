// quadtile_bench: GPU times of each stage and of the downsampler on one device. Each result is
// checked against the reference first.
//
//     quadtile_bench [--sizes=1024,2048,...] [--layers=256] [--samples=30] [--devices=4]
//     [Google Benchmark's options]
//
// SIZES are extents of squares; if they are given, all variants of the downsampler run on each.
// LAYERS: also runs so many maps of 1024 x 1024 in one batch. DEVICES: also runs a service of one,
// two, ... devices. --benchmark_filter=^downsampler/ runs the downsampler only,
// --benchmark_filter=-^downsampler/ the rest. QUADTILE_DEVICE chooses the device, QUADTILE_DATA the
// folder with the real maps.

#include "measurement.hpp"
#include "support/maps.hpp"

#include <benchmark/benchmark.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace quadtile;

struct Options {
    std::optional<std::vector<std::uint32_t>> sizes;
    std::uint32_t layers = 0;  // of a batch; 0: no batches
    std::uint32_t samples = 30;
    std::uint32_t devices = 0;  // most devices of a service; 0: none
};

// Extents of the synthetic maps. Default of --sizes.
const std::vector<std::uint32_t> MAP_EXTENTS = {1024, 2048, 4096, 8192, 16384};

// Returns the requested sizes. The defaults take a GPU less than three minutes.
bench::DownsamplerSizes downsampler_sizes(const Options& options, const DeviceInfo& device) {
    if (options.sizes) {
        return {*options.sizes, *options.sizes};
    }
    bench::DownsamplerSizes sizes = {{}, {1024, 4096}};
    for (std::uint32_t extent = 256; extent <= device.max_map_extent && extent < MAX_MAP_EXTENT;
         extent *= 2) {
        sizes.extents.push_back(extent);
    }
    return sizes;
}

std::uint32_t positive_number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0) {
        throw Error(ErrorCode::invalid_argument,
                    "\"" + std::string(text) + "\" is no positive number");
    }
    return value;
}

std::vector<std::uint32_t> numbers(std::string_view text) {
    std::vector<std::uint32_t> values;
    while (true) {
        const std::size_t comma = text.find(',');
        values.push_back(positive_number(text.substr(0, comma)));
        if (comma == std::string_view::npos) {
            return values;
        }
        text.remove_prefix(comma + 1);
    }
}

// Removes our options from the arguments that Google Benchmark has left.
Options take_options(int& argc, char** argv) {
    constexpr std::string_view SIZES = "--sizes=";
    constexpr std::string_view LAYERS = "--layers=";
    constexpr std::string_view SAMPLES = "--samples=";
    constexpr std::string_view DEVICES = "--devices=";
    Options options;
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument.starts_with(SIZES)) {
            options.sizes = numbers(argument.substr(SIZES.size()));
        } else if (argument.starts_with(LAYERS)) {
            options.layers = positive_number(argument.substr(LAYERS.size()));
        } else if (argument.starts_with(SAMPLES)) {
            options.samples = positive_number(argument.substr(SAMPLES.size()));
        } else if (argument.starts_with(DEVICES)) {
            options.devices = positive_number(argument.substr(DEVICES.size()));
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    return options;
}

void describe(const DeviceInfo& device, const Options& options) {
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
    benchmark::AddCustomContext("samples", std::to_string(options.samples));
}

int run(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const Options options = take_options(argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    const Device device = Device::create();
    describe(device.info(), options);
    bench::Session session(device, options.samples);

    std::vector<bench::MapSource> sources;
    for (const std::uint32_t size : options.sizes.value_or(MAP_EXTENTS)) {
        std::ranges::move(bench::synthetic_maps(size), std::back_inserter(sources));
    }
    std::vector<bench::MapSource> real = bench::real_maps();
    if (real.empty()) {
        std::fputs("quadtile_bench: no real maps: QUADTILE_DATA names no folder with them\n",
                   stderr);
    }
    benchmark::AddCustomContext("real_maps", std::to_string(real.size()));
    std::ranges::move(real, std::back_inserter(sources));

    if (options.layers > 0) {
        std::ranges::move(bench::batches(options.layers), std::back_inserter(sources));
    }
    for (const bench::MapSource& source : sources) {
        bench::add_roofs(session, source);
        bench::add_stages(session, source);
    }
    bench::add_service(session, options.devices);
    bench::add_first_use(session);
    bench::add_downsampler(session, downsampler_sizes(options, device.info()));
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
