#include "stub_vulkan.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace quadtile::test::stub_vulkan {

namespace {

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

VkInstance instance = VK_NULL_HANDLE;  // the last one
std::uint32_t subgroup_size = 0;
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
    constexpr std::size_t PLACES = 4096;
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
        } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
            reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(next)->subgroupSize =
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

PFN_vkVoidFunction own(std::string_view name) {
    constexpr std::array MADE = {"Buffer",    "Image",       "ImageView",
                                 "Fence",     "Semaphore",   "DescriptorPool",
                                 "QueryPool", "CommandPool", "Framebuffer"};
    for (const std::string_view kind : MADE) {
        if (name == "vkCreate" + std::string(kind)) {
            return untyped(make);
        }
        if (name == "vkDestroy" + std::string(kind)) {
            return untyped(nothing);
        }
    }
    constexpr std::array IDLE = {
        "vkFreeMemory",          "vkUnmapMemory",         "vkBindBufferMemory",
        "vkBindImageMemory",     "vkQueueSubmit",         "vkQueueWaitIdle",
        "vkDeviceWaitIdle",      "vkWaitForFences",       "vkResetFences",
        "vkGetFenceStatus",      "vkResetCommandBuffer",  "vkBeginCommandBuffer",
        "vkEndCommandBuffer",    "vkFreeCommandBuffers",  "vkUpdateDescriptorSets",
        "vkGetQueryPoolResults", "vkResetDescriptorPool", "vkSetDebugUtilsObjectNameEXT"};
    if (name.starts_with("vkCmd") || std::ranges::find(IDLE, name) != IDLE.end()) {
        return untyped(nothing);
    }
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
    return found == others.end() ? nullptr : found->address;
}

PFN_vkVoidFunction device_entry(VkDevice device, const char* name) {
    const PFN_vkVoidFunction function = own(name);
    return function != nullptr ? function
                               : real<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(device, name);
}

}  // namespace

void set_subgroup_size(std::uint32_t size) {
    subgroup_size = size;
}

std::vector<Compiled> take_compiled() {
    return std::exchange(compiled, {});
}

}  // namespace quadtile::test::stub_vulkan

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                          const char* name) {
    namespace stub = quadtile::test::stub_vulkan;
    const PFN_vkVoidFunction function = stub::own(name);
    return function != nullptr ? function : stub::real_entry()(instance, name);
}
