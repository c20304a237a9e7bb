// AMD's compiler without AMD's hardware: every pipeline of the library and the baker, for several
// generations and subgroups of 64 and 32 threads. Prints the registers; spills are failures.

#include "gpu.hpp"
#include "gpu_probes.hpp"
#include "gpu_tracer.hpp"
#include "quadtile_baker_gpu_shaders.hpp"
#include "traced_scene.hpp"

#include <quadtile/downsampler.hpp>
#include <quadtile/quadtile.hpp>
#include <quadtile/shadow.hpp>

#include <device/kernels.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string_view>

namespace quadtile::test {

// ---- A loader whose devices compile but do not run ---------------------------------------------

// Pipelines and their layouts are the driver's, all else succeeds and does nothing. Mapped memory
// holds zeros at first. With Mesa's RADV_FORCE_FAMILY it shows what AMD's compiler makes of the
// kernels. The executable's own vkGetInstanceProcAddr is this loader. Not thread-safe.
namespace stub {

PFN_vkGetInstanceProcAddr real_entry() {
    static const auto entry = [] {
        void* const loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        return loader == nullptr ? nullptr
                                 : reinterpret_cast<PFN_vkGetInstanceProcAddr>(
                                       dlsym(loader, "vkGetInstanceProcAddr"));
    }();
    if (entry == nullptr) {
        throw std::runtime_error("there is no libvulkan.so.1");
    }
    return entry;
}

// A pipeline and the driver's statistics of it (VK_KHR_pipeline_executable_properties) by name.
struct Compiled {
    std::vector<std::uint32_t> spirv;
    std::map<std::string, std::uint64_t> statistics;
};

VkInstance instance = VK_NULL_HANDLE;  // the last one
std::uint32_t subgroup_size = 0;       // that devices say
std::map<VkShaderModule, std::vector<std::uint32_t>> modules;
std::vector<Compiled> compiled;

template <typename Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(real_entry()(instance, name));
}

// ---- What does nothing

VkResult nothing() {
    return VK_SUCCESS;
}

std::uint64_t handles = 0;

// Of all functions that make one object.
VkResult make(VkDevice /*device*/, const void* /*info*/, const void* /*allocator*/,
              std::uint64_t* handle) {
    *handle = ++handles;
    return VK_SUCCESS;
}

VkResult allocate_commands(VkDevice /*device*/, const VkCommandBufferAllocateInfo* info,
                           std::uint64_t* buffers) {
    std::fill_n(buffers, info->commandBufferCount, ++handles);
    return VK_SUCCESS;
}

VkResult allocate_sets(VkDevice /*device*/, const VkDescriptorSetAllocateInfo* info,
                       std::uint64_t* sets) {
    std::fill_n(sets, info->descriptorSetCount, ++handles);
    return VK_SUCCESS;
}

void requirements(VkDevice /*device*/, std::uint64_t /*object*/, VkMemoryRequirements* needed) {
    *needed = {.size = 1U << 20U, .alignment = 256, .memoryTypeBits = 1};
}

// Each allocation has its own place, so that what is read stays zero.
VkResult map(VkDevice /*device*/, std::uint64_t memory, VkDeviceSize /*offset*/,
             VkDeviceSize /*size*/, VkMemoryMapFlags /*flags*/, void** mapped) {
    constexpr std::size_t PLACES = 32768;
    constexpr std::size_t PLACE_BYTES = std::size_t{1} << 28U;
    static void* const all =  // only what is touched is taken
        mmap(nullptr, PLACES * PLACE_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *mapped = static_cast<std::byte*>(all) + memory % PLACES * PLACE_BYTES;
    return all == MAP_FAILED ? VK_ERROR_MEMORY_MAP_FAILED : VK_SUCCESS;
}

void memory_properties(VkPhysicalDevice /*device*/, VkPhysicalDeviceMemoryProperties* properties) {
    *properties = {};
    properties->memoryTypeCount = 1;
    properties->memoryTypes[0].propertyFlags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    properties->memoryHeapCount = 1;
    properties->memoryHeaps[0] = {.size = VkDeviceSize{64} << 30U,
                                  .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
}

// ---- What the driver does

void properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* all) {
    real<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2")(device, all);
    for (auto* next = static_cast<VkBaseOutStructure*>(all->pNext); next != nullptr;
         next = next->pNext) {
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
            reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(next)->subgroupSize =
                subgroup_size;
        }
    }
}

VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                         VkInstance* made) {
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(real_entry()(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, allocator, made);
    instance = result == VK_SUCCESS ? *made : VK_NULL_HANDLE;
    return result;
}

VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkDevice* device) {
    std::vector<const char*> extensions(
        info->ppEnabledExtensionNames, info->ppEnabledExtensionNames + info->enabledExtensionCount);
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        const_cast<void*>(info->pNext), VK_TRUE};
    VkDeviceCreateInfo with = *info;
    with.pNext = &statistics;
    with.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    with.ppEnabledExtensionNames = extensions.data();
    return real<PFN_vkCreateDevice>("vkCreateDevice")(physical, &with, allocator, device);
}

VkResult create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkShaderModule* module) {
    const VkResult result =
        real<PFN_vkCreateShaderModule>("vkCreateShaderModule")(device, info, allocator, module);
    if (result == VK_SUCCESS) {
        modules[*module].assign(info->pCode, info->pCode + info->codeSize / sizeof(std::uint32_t));
    }
    return result;
}

std::map<std::string, std::uint64_t> statistics_of(VkDevice device, VkPipeline pipeline) {
    const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr,
                                           pipeline, 0};
    const auto get =
        real<PFN_vkGetPipelineExecutableStatisticsKHR>("vkGetPipelineExecutableStatisticsKHR");
    std::uint32_t count = 0;
    get(device, &info, &count, nullptr);
    std::vector<VkPipelineExecutableStatisticKHR> all(
        count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR, nullptr, {}, {}, {}, {}});
    get(device, &info, &count, all.data());
    std::map<std::string, std::uint64_t> numbers;
    for (const VkPipelineExecutableStatisticKHR& one : all) {
        numbers[one.name] = one.value.u64;
    }
    return numbers;
}

VkResult create_pipelines(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                          const VkComputePipelineCreateInfo* infos,
                          const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
    std::vector<VkComputePipelineCreateInfo> with(infos, infos + count);
    for (VkComputePipelineCreateInfo& info : with) {
        info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    }
    const VkResult result = real<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(
        device, cache, count, with.data(), allocator, pipelines);
    for (std::uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        compiled.push_back(
            {modules.at(infos[i].stage.module), statistics_of(device, pipelines[i])});
    }
    return result;
}

struct Function {
    std::string_view name;
    PFN_vkVoidFunction address;
};

template <typename Signature>
PFN_vkVoidFunction untyped(Signature* function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction device_entry(VkDevice device, const char* name);

// Of instances, devices and what they are, and of all that pipelines are made of.
bool is_the_drivers(std::string_view name) {
    constexpr std::array PARTS = {"Enumerate", "PhysicalDevice", "Instance",  "DestroyDevice",
                                  "GetDevice", "Pipeline",       "SetLayout", "ShaderModule",
                                  "Sampler",   "RenderPass"};
    return !name.starts_with("vkCmd") && std::ranges::any_of(PARTS, [&](std::string_view part) {
        return name.find(part) != std::string_view::npos;
    });
}

PFN_vkVoidFunction own(std::string_view name) {
    const std::array others = {
        Function{"vkAllocateMemory", untyped(make)},
        Function{"vkAllocateCommandBuffers", untyped(allocate_commands)},
        Function{"vkAllocateDescriptorSets", untyped(allocate_sets)},
        Function{"vkGetBufferMemoryRequirements", untyped(requirements)},
        Function{"vkGetImageMemoryRequirements", untyped(requirements)},
        Function{"vkMapMemory", untyped(map)},
        Function{"vkGetPhysicalDeviceMemoryProperties", untyped(memory_properties)},
        Function{"vkGetPhysicalDeviceProperties2", untyped(properties)},
        Function{"vkCreateInstance", untyped(create_instance)},
        Function{"vkCreateDevice", untyped(create_device)},
        Function{"vkCreateShaderModule", untyped(create_module)},
        Function{"vkCreateComputePipelines", untyped(create_pipelines)},
        Function{"vkGetInstanceProcAddr", untyped(vkGetInstanceProcAddr)},
        Function{"vkGetDeviceProcAddr", untyped(device_entry)}};
    const auto* const found = std::ranges::find(others, name, &Function::name);
    return found != others.end()          ? found->address
           : is_the_drivers(name)         ? nullptr
           : name.starts_with("vkCreate") ? untyped(make)
                                          : untyped(nothing);
}

PFN_vkVoidFunction device_entry(VkDevice device, const char* name) {
    const PFN_vkVoidFunction function = own(name);
    return function != nullptr ? function
                               : real<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(device, name);
}

}  // namespace stub
}  // namespace quadtile::test

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                          const char* name) {
    namespace stub = quadtile::test::stub;
    const PFN_vkVoidFunction function = stub::own(name);
    return function != nullptr ? function : stub::real_entry()(instance, name);
}

namespace quadtile::test {
namespace {

struct Target {
    const char* family;  // of RADV_FORCE_FAMILY
    std::uint32_t subgroup_size;
};

using Words = std::vector<std::uint32_t>;
using detail::EmbeddedKernel;

namespace lists {
#include "quadtile_kernels.inc"
}
namespace shadows {
#include "quadtile_shadow_kernels.inc"
}
constexpr EmbeddedKernel BAKES[] = {{"bake cull", app::CULL_COMP},
                                    {"bake rasterise", app::RASTERISE_COMP},
                                    {"bake walk", app::WALK_COMP},
                                    {"bake density", app::DENSITY_COMP},
                                    {"bake finish_maps", app::FINISH_MAPS_COMP},
                                    {"bake node_thresholds", app::NODE_THRESHOLDS_COMP},
                                    {"bake tile_fragments", app::TILE_FRAGMENTS_COMP},
                                    {"bake probe", app::PROBE_COMP},
                                    {"bake lamps", app::LAMPS_COMP}};

const std::map<Words, std::string>& names() {
    static const std::map<Words, std::string> all = [] {
        std::map<Words, std::string> found;
        for (const std::span<const EmbeddedKernel> table :
             {std::span<const EmbeddedKernel>(lists::KERNELS), {shadows::KERNELS}, {BAKES}}) {
            for (const EmbeddedKernel& kernel : table) {
                found.emplace(Words(kernel.spirv.begin(), kernel.spirv.end()), kernel.name);
            }
        }
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
        const baker::TracedScene traced =
            make_traced_scene(scene, baker::CoveredTexels(baker::Extent{64, 64}), 1.0F);
        const auto tracer =
            make_gpu_tracer(gpu, traced, baker::suited_tiles({64, 64}, 1.0F, 64U << 20U),
                            {.pool_bytes = 64U << 20U});
        const baker::GpuProbes probes(gpu, traced, {}, {}, 0.1);
    }
    // A tracer makes these when it needs them.
    const app::ProgramInterface lamps = gpu.make_interface(
        vk::ShaderStageFlagBits::eCompute, std::vector(11, vk::DescriptorType::eStorageBuffer),
        sizeof(LampParameters));
    (void)gpu.make_compute_pipeline(*lamps.layout, app::LAMPS_COMP);
    const app::ProgramInterface walk = gpu.make_interface(
        vk::ShaderStageFlagBits::eCompute, std::vector(15, vk::DescriptorType::eStorageBuffer),
        sizeof(TraceParameters));
    for (std::uint32_t purpose = 0; purpose < 2 * WALKS_SOURCE; ++purpose) {
        (void)gpu.make_compute_pipeline(*walk.layout, app::WALK_COMP, purpose);
    }
}

class Compiler : public testing::TestWithParam<Target> {};

// Catches a kernel that needs more registers than a generation has, and one that no longer compiles
// there.
TEST_P(Compiler, SpillsNoRegisters) {
    const Target& target = GetParam();
    setenv("RADV_FORCE_FAMILY", target.family, 1);
    setenv("RADV_PERFTEST", target.subgroup_size == 32 ? "cswave32" : "", 1);
    stub::subgroup_size = target.subgroup_size;
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
    for (const stub::Compiled& one : std::exchange(stub::compiled, {})) {
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
        // Maxima and minima of four channels do not fit the registers that Mesa gives RDNA 3.
        const bool may_spill =
            std::string(target.family) == "gfx1100" && kernel.starts_with("downsample_extremes_4");
        EXPECT_LE(most["Spilled VGPRs"] + most["Spilled SGPRs"], may_spill ? 17U : 0U)
            << kernel << " spills on " << target.family;
    }
    std::printf("\n");
    EXPECT_FALSE(kernels.contains("unknown"));
    const bool has_subgroups = kernels.contains("pyramid_subgroup");  // older families do not
    for (const auto& [words, kernel] : names()) {
        EXPECT_TRUE(kernels.contains(kernel) || (!has_subgroups && kernel.ends_with("_subgroup")))
            << kernel << " is in no pipeline";
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
