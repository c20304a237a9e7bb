// AMD's compiler without AMD's hardware: every pipeline of the library and the baker, for several
// generations and subgroups of 64 and 32 threads. Prints the registers; spills are failures.

#include "stub_vulkan.hpp"

#include "gpu.hpp"
#include "gpu_probes.hpp"
#include "gpu_tracer.hpp"
#include "quadtile_baker_gpu_shaders.hpp"
#include "traced_scene.hpp"

#include <quadtile/downsampler.hpp>
#include <quadtile/quadtile.hpp>
#include <quadtile/shadow.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

namespace quadtile::test {
namespace {

struct Target {
    const char* family;  // of RADV_FORCE_FAMILY
    std::uint32_t subgroup_size;
};

using Words = std::vector<std::uint32_t>;

const std::map<Words, std::string>& names() {
    static const std::map<Words, std::string> all = [] {
        std::map<Words, std::string> found;
        std::istringstream list(QUADTILE_KERNEL_NAMES);
        for (std::string name; list >> name;) {
            const std::filesystem::path path = QUADTILE_KERNEL_DIR "/" + name + ".spv";
            Words words(std::filesystem::file_size(path) / sizeof(std::uint32_t));
            std::ifstream(path, std::ios::binary)
                .read(reinterpret_cast<char*>(words.data()),
                      static_cast<std::streamsize>(words.size() * sizeof(std::uint32_t)));
            found.emplace(std::move(words), name);
        }
        const auto add = [&](std::span<const std::uint32_t> words, const char* name) {
            found.emplace(Words(words.begin(), words.end()), name);
        };
        add(app::CULL_COMP, "bake cull");
        add(app::RASTERISE_COMP, "bake rasterise");
        add(app::WALK_COMP, "bake walk");
        add(app::DENSITY_COMP, "bake density");
        add(app::FINISH_MAPS_COMP, "bake finish_maps");
        add(app::NODE_THRESHOLDS_COMP, "bake node_thresholds");
        add(app::TILE_FRAGMENTS_COMP, "bake tile_fragments");
        add(app::PROBE_COMP, "bake probe");
        return found;
    }();
    return all;
}

// Nothing runs, so results are zeros, and an Error of those or of options that exclude each other
// comes after the pipelines.
void attempt(const auto& work) {
    try {
        work();
    } catch (const Error&) {
    }
}

void make_lists(const Device& device) {
    const std::vector<float> texels(128 * 128 * 2);
    for (const MapShape& shape : {MapShape{128, 128}, {100, 61}, {128, 128, 2}}) {
        const MapView map{texels.data(), shape};
        const std::vector<float> nodes(128 * 128 * 2);
        for (const Threshold& threshold :
             {Threshold::constant(1.0F),
              Threshold::memory(16.0F, 40.0F, MapView{nodes.data(), shape})}) {
            for (const Strategy strategy : {Strategy::fused, Strategy::subtree}) {
                for (const Order order : {Order::any, Order::canonical}) {
                    Tiler tiler(device, {.strategy = strategy});
                    for (const Balance balance :
                         {Balance::none, Balance::edges, Balance::corners}) {
                        attempt([&] {
                            (void)tiler.subdivide(map, threshold,
                                                  {.order = order, .balance = balance});
                        });
                    }
                    attempt([&] {
                        (void)tiler.subdivide(map, threshold, {.order = order, .max_tiles = 9});
                    });
                    if (shape.layers > 1) {
                        attempt([&] {
                            (void)tiler.subdivide(map,
                                                  std::array{threshold, Threshold::constant(2.0F)},
                                                  {.order = order});
                        });
                    }
                }
            }
        }
    }
}

// Makes mip levels of all formats by all reductions, with random other options.
void make_levels(const Device& device) {
    constexpr TexelFormat FORMATS[] = {
        TexelFormat::r32_float,    TexelFormat::r16_float,   TexelFormat::d32_float,
        TexelFormat::r8_unorm,     TexelFormat::rg32_float,  TexelFormat::rgba32_float,
        TexelFormat::rgba16_float, TexelFormat::rgba8_unorm, TexelFormat::rgba8_srgb};
    constexpr MipMethod METHODS[] = {MipMethod::spd, MipMethod::subgroup, MipMethod::per_level};
    std::mt19937 random(1);
    const auto one_of = [&](const auto& values) { return values[random() % std::size(values)]; };
    const std::vector<std::byte> texels(std::size_t{4096} * 4096 * 4);
    for (std::size_t i = 0; i < 5 * std::size(FORMATS); ++i) {
        DownsamplerOptions options;
        options.reduction = static_cast<Reduction>(i / std::size(FORMATS));
        options.source_format = FORMATS[i % std::size(FORMATS)];
        options.format = options.reduction == Reduction::min_max           ? TexelFormat::rg32_float
                         : options.source_format == TexelFormat::d32_float ? TexelFormat::r32_float
                                                                           : options.source_format;
        options.edge_rule = static_cast<EdgeRule>(random() % 3);
        options.filtered = random() % 2 == 0;
        options.copy_source = random() % 4 == 0;
        options.method = one_of(METHODS);
        const bool large = texel_size_bytes(options.source_format) <= 4 && random() % 8 == 0;
        const std::uint32_t extent = large ? 4096 : 256;
        attempt([&] {
            const ImageShape shape{extent - (random() % 2 == 0 ? 1 : 0), extent, 1,
                                   options.source_format};
            (void)Mipmapper(device, options).make({texels.data(), shape});
        });
    }
}

void make_bakes() {
    app::Instance instance("quadtile_compiler_tests", {}, false);
    app::Gpu gpu(instance, {}, {});
    for (const bool smooth : {false, true}) {
        baker::Scene scene;
        scene.materials.push_back({});
        scene.positions = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
        scene.normals.assign(3, smooth ? glm::vec3(0, 1, 0) : glm::vec3(0));
        scene.light_map_coordinates = {{0, 0}, {1, 0}, {0, 1}};
        scene.triangles.push_back({});
        scene.triangles[0].vertices = {0, 1, 2};
        const baker::TracedScene traced = make_traced_scene(scene, {64, 64}, 1.0F);
        const auto tracer =
            make_gpu_tracer(gpu, traced, baker::suited_tiles({64, 64}, 1.0F, 64U << 20U),
                            {.pool_bytes = 64U << 20U});
        const baker::GpuProbes probes(gpu, traced, {}, 0.1);
    }
}

class Compiler : public testing::TestWithParam<Target> {};

// Catches a kernel that needs more registers than a generation has, and one that no longer compiles
// there.
TEST_P(Compiler, SpillsNoRegisters) {
    const Target& target = GetParam();
    setenv("RADV_FORCE_FAMILY", target.family, 1);
    setenv("RADV_PERFTEST", target.subgroup_size == 32 ? "cswave32" : "", 1);
    stub_vulkan::set_subgroup_size(target.subgroup_size);
    const std::vector<DeviceInfo> devices = Device::enumerate(vkGetInstanceProcAddr);
    if (devices.empty() || devices.front().name.find("RADV") == std::string::npos) {
        GTEST_SKIP() << "there is no radeon_icd (Debian: mesa-vulkan-drivers)";
    }
    for (const bool subgroups : {true, false}) {
        DeviceOptions options{.get_instance_proc_addr = vkGetInstanceProcAddr};
        options.disabled.subgroup_operations = !subgroups;
        const Device device = Device::create(options);
        EXPECT_EQ(device.info().subgroup_size, target.subgroup_size);
        make_lists(device);
        make_levels(device);
        const ShadowFitter shadows(device, ShadowOptions{});
    }
    make_bakes();

    // The most of all pipelines of a kernel.
    std::map<std::string, std::map<std::string, std::uint64_t>> kernels;
    for (const stub_vulkan::Compiled& one : stub_vulkan::take_compiled()) {
        const auto known = names().find(one.spirv);
        auto& most = kernels[known == names().end() ? "unknown" : known->second];
        ++most["pipelines"];
        for (const auto& [name, value] : one.statistics) {
            most[name] = std::max(most[name], value);
        }
    }
    const char* const columns[] = {"pipelines", "VGPRs",     "SGPRs",       "Spilled VGPRs",
                                   "LDS size",  "Code size", "Scratch size"};
    std::printf("%s, subgroups of %u\n%-32s", target.family, target.subgroup_size, "kernel");
    for (const char* const column : columns) {
        std::printf("%15s", column);
    }
    for (auto& [kernel, most] : kernels) {
        std::printf("\n%-32s", kernel.c_str());
        for (const char* const column : columns) {
            std::printf("%15llu", static_cast<unsigned long long>(most[column]));
        }
        EXPECT_TRUE(most.contains("VGPRs")) << "no statistics of " << kernel;
        EXPECT_EQ(most["Spilled VGPRs"] + most["Spilled SGPRs"], 0U)
            << kernel << " spills on " << target.family;
    }
    std::printf("\n");
    EXPECT_FALSE(kernels.contains("unknown"));
    for (const auto& [words, kernel] : names()) {
        EXPECT_TRUE(kernels.contains(kernel)) << kernel << " is in no pipeline";
    }
}

INSTANTIATE_TEST_SUITE_P(Amd, Compiler,
                         testing::Values(Target{"navi21", 64}, Target{"navi21", 32},
                                         Target{"navi10", 64}, Target{"navi10", 32},
                                         Target{"gfx1100", 64}, Target{"gfx1100", 32},
                                         Target{"vega10", 64}, Target{"polaris10", 64}),
                         [](const auto& target) {
                             return target.param.family + std::string("_") +
                                    std::to_string(target.param.subgroup_size);
                         });

}  // namespace
}  // namespace quadtile::test
