#include <quadtile/kernel_parameters.h>
#include <quadtile/limits.h>
#include <quadtile/device.hpp>
#include <quadtile/error.hpp>

#include "device/device_context.hpp"
#include "device/self_test.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

namespace quadtile {

namespace {

using detail::Checked;
using detail::DeviceContext;
using detail::valid_utf8;
using detail::vulkan_calls;

// Limits that the kernels need on every device.
constexpr std::uint32_t NEEDED_STORAGE_BUFFERS = 2 + 2 * BUFFER_CHUNKS;  // subtree.comp
constexpr std::uint32_t NEEDED_PUSH_CONSTANT_BYTES = 128;
constexpr std::uint32_t NEEDED_WORKGROUP_INVOCATIONS = 256;

// Types in order of preference.
constexpr std::pair<vk::PhysicalDeviceType, const char*> TYPES[] = {
    {vk::PhysicalDeviceType::eDiscreteGpu, "discrete GPU"},
    {vk::PhysicalDeviceType::eIntegratedGpu, "integrated GPU"},
    {vk::PhysicalDeviceType::eVirtualGpu, "virtual GPU"},
    {vk::PhysicalDeviceType::eCpu, "CPU"},
    {vk::PhysicalDeviceType::eOther, "other"}};

// Returns the place of a type in TYPES; smaller is better.
std::size_t rank_of(vk::PhysicalDeviceType type) {
    const auto* const found =
        std::ranges::find(TYPES, type, &std::pair<vk::PhysicalDeviceType, const char*>::first);
    return std::min<std::size_t>(static_cast<std::size_t>(found - TYPES), std::size(TYPES) - 1);
}

bool has_extension(vk::PhysicalDevice device, const Dispatch& dispatch, std::string_view name) {
    return std::ranges::any_of(
        device.enumerateDeviceExtensionProperties(nullptr, dispatch),
        [&](const auto& extension) { return name == extension.extensionName.data(); });
}

// Returns the first queue family with compute, preferably with graphics too, because renderers
// submit there.
std::optional<std::uint32_t> compute_family(vk::PhysicalDevice device, const Dispatch& dispatch) {
    std::optional<std::uint32_t> found;
    const auto families = device.getQueueFamilyProperties(dispatch);
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        if (!(families[i].queueFlags & vk::QueueFlagBits::eCompute)) {
            continue;
        }
        if (families[i].queueFlags & vk::QueueFlagBits::eGraphics) {
            return i;
        }
        found = found.value_or(i);
    }
    return found;
}

// Capabilities of a device as its driver reports them.
struct Capabilities {
    vk::PhysicalDeviceProperties properties;
    vk::PhysicalDeviceSubgroupProperties subgroups;
    vk::PhysicalDeviceSubgroupSizeControlProperties size_control;
    vk::PhysicalDeviceDriverProperties driver;
    vk::PhysicalDeviceFeatures features;
    vk::PhysicalDeviceVulkan12Features features_1_2;
    vk::PhysicalDeviceSubgroupSizeControlFeatures size_control_features;
    bool size_control_extension = false;  // the feature needs it on Vulkan 1.2
};

Capabilities query_capabilities(vk::PhysicalDevice device, const Dispatch& dispatch) {
    Capabilities c;
    c.properties = device.getProperties(dispatch);
    c.features = device.getFeatures(dispatch);
    if (c.properties.apiVersion < VK_API_VERSION_1_2) {
        return c;
    }
    const bool core = c.properties.apiVersion >= VK_API_VERSION_1_3;
    c.size_control_extension =
        !core && has_extension(device, dispatch, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    vk::PhysicalDeviceProperties2 properties;
    properties.pNext = &c.subgroups;
    c.subgroups.pNext = &c.driver;
    vk::PhysicalDeviceFeatures2 features;
    features.pNext = &c.features_1_2;
    if (core || c.size_control_extension) {
        c.driver.pNext = &c.size_control;
        c.features_1_2.pNext = &c.size_control_features;
    }
    device.getProperties2(&properties, dispatch);
    device.getFeatures2(&features, dispatch);
    return c;
}

bool supports_subgroup_operations(const Capabilities& c) {
    using Operation = vk::SubgroupFeatureFlagBits;
    const vk::SubgroupFeatureFlags needed =
        Operation::eBasic | Operation::eShuffle | Operation::eBallot | Operation::eArithmetic;
    const std::uint32_t size = c.subgroups.subgroupSize;
    const auto compute = vk::ShaderStageFlagBits::eCompute;
    return (c.subgroups.supportedOperations & needed) == needed &&
           (c.subgroups.supportedStages & compute) &&
           c.size_control_features.subgroupSizeControl != 0 &&
           c.size_control_features.computeFullSubgroups != 0 &&
           (c.size_control.requiredSubgroupSizeStages & compute) && size >= 4 && size <= 128 &&
           size >= c.size_control.minSubgroupSize && size <= c.size_control.maxSubgroupSize &&
           size * c.size_control.maxComputeWorkgroupSubgroups >= NEEDED_WORKGROUP_INVOCATIONS;
}

// Returns all reasons why the kernels cannot run on a device.
std::vector<std::string> rejections_of(vk::PhysicalDevice device, const Dispatch& dispatch,
                                       const Capabilities& c) {
    std::vector<std::string> reasons;
    const auto& limits = c.properties.limits;
    if (c.properties.apiVersion < VK_API_VERSION_1_2) {
        reasons.emplace_back("it supports Vulkan " +
                             std::to_string(VK_API_VERSION_MAJOR(c.properties.apiVersion)) + "." +
                             std::to_string(VK_API_VERSION_MINOR(c.properties.apiVersion)) +
                             ", 1.2 is needed");
        return reasons;  // the other properties cannot be queried
    }
    if (!compute_family(device, dispatch)) {
        reasons.emplace_back("it has no compute queue");
    }
    if (c.features_1_2.vulkanMemoryModel == 0 || c.features_1_2.vulkanMemoryModelDeviceScope == 0) {
        reasons.emplace_back("it lacks the Vulkan memory model with device scope");
    }
    if (limits.maxComputeWorkGroupInvocations < NEEDED_WORKGROUP_INVOCATIONS) {
        reasons.emplace_back("its workgroups have at most " +
                             std::to_string(limits.maxComputeWorkGroupInvocations) +
                             " invocations, 256 are needed");
    }
    if (limits.maxPushConstantsSize < NEEDED_PUSH_CONSTANT_BYTES) {
        reasons.emplace_back("it has fewer than 128 bytes of push constants");
    }
    if (limits.maxPerStageDescriptorStorageBuffers < NEEDED_STORAGE_BUFFERS) {
        reasons.emplace_back(
            "a shader can use " + std::to_string(limits.maxPerStageDescriptorStorageBuffers) +
            " storage buffers, " + std::to_string(NEEDED_STORAGE_BUFFERS) + " are needed");
    }
    return reasons;
}

DeviceInfo describe(vk::PhysicalDevice device, const Dispatch& dispatch, std::uint32_t index,
                    const Capabilities& c) {
    DeviceInfo info;
    info.index = index;
    info.name = valid_utf8(c.properties.deviceName.data());
    info.type = TYPES[rank_of(c.properties.deviceType)].second;
    info.driver =
        valid_utf8(std::string(c.driver.driverName.data()) + " " + c.driver.driverInfo.data());
    info.api_version = c.properties.apiVersion;
    info.features.subgroup_operations = supports_subgroup_operations(c);
    info.features.sampler_minmax = c.features_1_2.samplerFilterMinmax != 0;
    info.features.storage_image_formats = c.features.shaderStorageImageWriteWithoutFormat != 0 &&
                                          c.features.shaderStorageImageExtendedFormats != 0;
    info.features.storage_image_dynamic_indexing =
        c.features.shaderStorageImageArrayDynamicIndexing != 0;
    info.features.hand_over = true;
    if (const auto family = compute_family(device, dispatch)) {
        info.timestamps =
            device.getQueueFamilyProperties(dispatch)[*family].timestampValidBits != 0;
    }
    info.subgroup_size = c.subgroups.subgroupSize;
    info.max_map_extent = std::min(c.properties.limits.maxImageDimension2D, MAX_MAP_EXTENT);
    info.max_layers = std::min(c.properties.limits.maxImageArrayLayers, MAX_LAYERS);
    const auto memory = device.getMemoryProperties(dispatch);
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        if (memory.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal) {
            info.local_memory_bytes =
                std::max<std::uint64_t>(info.local_memory_bytes, memory.memoryHeaps[i].size);
        }
    }
    info.rejections = rejections_of(device, dispatch, c);
    return info;
}

struct Candidate {
    vk::PhysicalDevice device;
    Capabilities capabilities;
    DeviceInfo info;
};

std::vector<Candidate> candidates_of(DeviceContext& context) {
    return vulkan_calls("enumerating the Vulkan devices", [&] {
        std::vector<Candidate> candidates;
        for (const vk::PhysicalDevice device :
             context.instance.enumeratePhysicalDevices(context.dispatch)) {
            Candidate candidate{device, query_capabilities(device, context.dispatch), {}};
            candidate.info =
                describe(device, context.dispatch, static_cast<std::uint32_t>(candidates.size()),
                         candidate.capabilities);
            context.physical_device = device;
            context.info = candidate.info;
            context.set_limits();
            candidate.info = context.info;
            candidates.push_back(std::move(candidate));
        }
        return candidates;
    });
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// A number that no device has may be a part of a name ("4090").
bool is_selected(const DeviceInfo& info, const std::string& select, std::size_t devices) {
    std::uint32_t number = 0;
    const char* end = select.data() + select.size();
    const auto [stop, error] = std::from_chars(select.data(), end, number);
    if (error == std::errc() && stop == end && number < devices) {
        return info.index == number;
    }
    return lower_case(info.name).find(lower_case(select)) != std::string::npos;
}

const Candidate& choose(const std::vector<Candidate>& candidates, const std::string& select) {
    const Candidate* best = nullptr;
    std::string passed_over;
    for (const Candidate& candidate : candidates) {
        const DeviceInfo& info = candidate.info;
        std::string reasons;
        if (!select.empty() && !is_selected(info, select, candidates.size())) {
            reasons = "neither its number nor its name matches";
        }
        for (const std::string& reason : info.rejections) {
            reasons += (reasons.empty() ? "" : ", ") + reason;
        }
        if (!reasons.empty()) {
            passed_over += "; " + std::to_string(info.index) + " (" + info.name + "): " + reasons;
            continue;
        }
        const auto order = [](const Candidate& c) {
            return std::make_pair(rank_of(c.capabilities.properties.deviceType),
                                  ~c.info.local_memory_bytes);
        };
        if (best == nullptr || order(candidate) < order(*best)) {
            best = &candidate;
        }
    }
    if (best == nullptr) {
        const std::string what = select.empty() ? "no usable Vulkan device"
                                                : "no usable Vulkan device \"" + select + "\"";
        throw Error(ErrorCode::no_device,
                    what + (candidates.empty() ? "; install a driver for your GPU (Debian: "
                                                 "mesa-vulkan-drivers, which has a CPU driver too)"
                                               : passed_over));
    }
    return *best;
}

void create_device(DeviceContext& context, const Candidate& candidate) {
    const float priority = 1.0F;
    const vk::DeviceQueueCreateInfo queue({}, context.queue_family, 1, &priority);
    vk::PhysicalDeviceVulkan12Features features_1_2;
    features_1_2.vulkanMemoryModel = VK_TRUE;
    features_1_2.vulkanMemoryModelDeviceScope = VK_TRUE;
    features_1_2.samplerFilterMinmax = context.info.features.sampler_minmax ? VK_TRUE : VK_FALSE;
    const Features& use = context.info.features;
    vk::PhysicalDeviceFeatures features;
    features.shaderStorageImageWriteWithoutFormat = use.storage_image_formats ? VK_TRUE : VK_FALSE;
    features.shaderStorageImageExtendedFormats = use.storage_image_formats ? VK_TRUE : VK_FALSE;
    features.shaderStorageImageArrayDynamicIndexing =
        use.storage_image_dynamic_indexing ? VK_TRUE : VK_FALSE;
    vk::PhysicalDeviceSubgroupSizeControlFeatures size_control(VK_TRUE, VK_TRUE);
    std::vector<const char*> extensions;
    if (context.info.features.subgroup_operations) {
        features_1_2.pNext = &size_control;
        if (candidate.capabilities.size_control_extension) {
            extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
        }
    }
    vk::DeviceCreateInfo info({}, queue, {}, extensions, &features);
    info.pNext = &features_1_2;
    try {
        context.device = vulkan_calls("creating the Vulkan device " + context.info.name, [&] {
            return context.physical_device.createDevice(info, nullptr, context.dispatch);
        });
    } catch (const Error& failure) {
        if (!detail::is_forked_from_user()) {
            throw;
        }
        throw Error(failure.code(),
                    std::string(failure.what()) +
                        "; this process was forked from one that has used Vulkan, after which this "
                        "driver does not work: start it by exec (posix_spawn)",
                    failure.vk_result());
    }
    context.dispatch.init(context.device);
    context.queue = context.device.getQueue(context.queue_family, 0, context.dispatch);
}

// Returns a log that throws nothing: its callers are drivers, threads of a service and destructors.
LogCallback safe_log(const LogCallback& log) {
    if (!log) {
        return {};
    }
    return [log](Severity severity, std::string_view message) noexcept {
        try {
            log(severity, message);
        } catch (...) {  // NOLINT(bugprone-empty-catch): nobody can be told
        }
    };
}

constexpr bool Features::*FEATURES[] = {
    &Features::subgroup_operations, &Features::sampler_minmax, &Features::storage_image_formats,
    &Features::storage_image_dynamic_indexing, &Features::hand_over};

// FNV-1a, 64 bits; against accidents, not against attackers.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const std::byte byte : bytes) {
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
    return hash;
}

// Returns the driver's data with a Checked behind it; empty if it is damaged or another device's.
// Drivers must refuse such data themselves, but not all do.
std::span<const std::byte> data_of(std::span<const std::byte> bytes,
                                   const vk::PhysicalDeviceProperties& device) {
    vk::PipelineCacheHeaderVersionOne header;
    std::uint64_t sum = 0;
    if (bytes.size() < sizeof(header) + sizeof(sum)) {
        return {};
    }
    const std::span data = bytes.first(bytes.size() - sizeof(sum));
    std::memcpy(&header, data.data(), sizeof(header));
    std::memcpy(&sum, data.data() + data.size(), sizeof(sum));
    const bool fits = sum == checksum(data) && header.headerSize >= sizeof(header) &&
                      header.headerSize <= data.size() &&
                      header.headerVersion == vk::PipelineCacheHeaderVersion::eOne &&
                      header.vendorID == device.vendorID && header.deviceID == device.deviceID &&
                      header.pipelineCacheUUID == device.pipelineCacheUUID;
    return fits ? data : std::span<const std::byte>();
}

// Opens the device's pipeline cache with what Device::pipeline_cache returned in an earlier run.
// Other bytes are ignored.
void open_pipeline_cache(DeviceContext& context, std::span<const std::byte> bytes) {
    context.pipeline_cache = vulkan_calls("creating a pipeline cache", [&] {
        auto data = data_of(bytes, context.physical_device.getProperties(context.dispatch));
        if (data.empty() && !bytes.empty()) {
            context.say(Severity::info,
                        "the pipeline cache is damaged or another device's: pipelines are compiled "
                        "again");
        }
        if (!data.empty()) {
            const std::span checked = data.last(sizeof(Checked));
            std::memcpy(&context.checked, checked.data(), sizeof(Checked));
            data = data.first(data.size() - sizeof(Checked));
        }
        auto cache = context.device.createPipelineCacheUnique({{}, data.size(), data.data()},
                                                              nullptr, context.dispatch);
        context.name(*cache, "the pipeline cache");
        return cache;
    });
}

// Optional features that a check can find faulty, by bits of FEATURES, with what goes wrong.
constexpr std::uint32_t SUBGROUPS = 1U << 0U;
constexpr std::uint32_t HAND_OVER = 1U << 4U;

std::uint32_t bits_of(const Features& features) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < std::size(FEATURES); ++i) {
        bits |= (features.*FEATURES[i] ? 1U : 0U) << i;
    }
    return bits;
}

void turn_off(Features& features, std::uint32_t bits) {
    for (std::size_t i = 0; i < std::size(FEATURES); ++i) {
        features.*FEATURES[i] &= (bits >> i & 1U) == 0;
    }
}

// Finds the fewest features without which the device makes known lists.
void find_faults(const Device& device, DeviceContext& context) {
    const Features all = context.info.features;
    context.checked = {bits_of(all), 0};
    for (const std::uint32_t off : {0U, HAND_OVER, SUBGROUPS, SUBGROUPS | HAND_OVER}) {
        if ((off & ~context.checked.tested) != 0) {
            continue;
        }
        context.info.features = all;
        turn_off(context.info.features, off);
        if (detail::makes_known_lists(device)) {
            // A list whose first run was lost is right, too.
            const bool loses = context.info.features.hand_over && !context.hands_over();
            context.checked.faulty = off | (loses ? HAND_OVER : 0);
            context.info.features = all;
            return;
        }
    }
    detail::cannot(context.info.name, " (", context.info.driver,
                   ") makes wrong tile lists; use another device or driver");
}

// Checks the device if it must be, and turns off what is faulty.
void check_device(const Device& device, DeviceCheck check) {
    DeviceContext& context = *device.context();
    const bool is_known = (bits_of(context.info.features) & ~context.checked.tested) == 0;
    if (check == DeviceCheck::always ||
        (check == DeviceCheck::automatic && !is_known && context.info.type != "CPU")) {
        if (!context.can_submit()) {
            return;
        }
        find_faults(device, context);
    }
    const std::uint32_t faulty = context.checked.faulty & bits_of(context.info.features);
    turn_off(context.info.features, faulty);
    const auto add = [&](std::uint32_t bit, const char* fault) {
        if ((faulty & bit) != 0) {
            context.info.faults.emplace_back(fault);
            context.say(Severity::warning, context.info.name + " (" + context.info.driver +
                                               ") is faulty, and slower for it: " + fault);
        }
    };
    add(SUBGROUPS, "subgroup operations give wrong results");
    add(HAND_OVER, "messages between workgroups do not arrive");
}

}  // namespace

Device::Device(std::shared_ptr<detail::DeviceContext> context) : context_(std::move(context)) {}

Device Device::create(const DeviceOptions& options) {
    auto context = std::make_shared<DeviceContext>();
    context->log = safe_log(options.log);
    detail::create_instance(*context, options.validation, options.get_instance_proc_addr);

    const char* const from_environment = std::getenv("QUADTILE_DEVICE");
    const std::string select =
        options.select.empty() && from_environment != nullptr ? from_environment : options.select;
    const std::vector<Candidate> candidates = candidates_of(*context);
    const Candidate& candidate = choose(candidates, select);
    context->physical_device = candidate.device;
    context->info = candidate.info;
    for (const auto feature : FEATURES) {
        context->info.features.*feature &= !(options.disabled.*feature);
    }
    context->queue_family = compute_family(candidate.device, context->dispatch).value();
    context->set_limits();
    create_device(*context, candidate);
    context->queue_mutex = detail::mutex_of(context->device, context->queue);
    vulkan_calls("naming the device", [&] {
        context->name(context->device, "the device");
        context->name(context->queue, "the queue");
    });
    context->say(Severity::info, "using device " + std::to_string(candidate.info.index) + ", " +
                                     candidate.info.name + ", " + candidate.info.driver);
    open_pipeline_cache(*context, options.pipeline_cache);
    if (candidate.capabilities.driver.driverID == vk::DriverId::eNvidiaProprietary) {
        // In a child its handlers crash, and take the parent's device away (seen with 580.159).
        detail::protect_children();
    }
    detail::watch_exit(true);
    Device device(std::move(context));
    check_device(device, options.check);
    return device;
}

Device Device::adopt(const AdoptedDevice& host) {
    if (host.get_instance_proc_addr == nullptr || host.instance == VK_NULL_HANDLE ||
        host.physical_device == VK_NULL_HANDLE || host.device == VK_NULL_HANDLE) {
        detail::refuse(
            "an adopted device needs get_instance_proc_addr, instance, physical_device and "
            "device; one of them is null");
    }
    auto context = std::make_shared<DeviceContext>();
    context->log = safe_log(host.log);
    context->debug_utils = host.debug_utils;
    context->dispatch = Dispatch(host.get_instance_proc_addr);
    context->instance = vk::Instance(host.instance);
    context->physical_device = vk::PhysicalDevice(host.physical_device);
    context->device = vk::Device(host.device);
    context->queue = vk::Queue(host.queue);
    context->queue_mutex = detail::mutex_of(context->device, context->queue);
    context->host_submit = host.submit;
    context->queue_family = host.queue_family;
    context->dispatch.init(context->instance);
    context->dispatch.init(context->device);
    vulkan_calls("examining the adopted device", [&] {
        const Capabilities capabilities =
            query_capabilities(context->physical_device, context->dispatch);
        context->info = describe(context->physical_device, context->dispatch, 0, capabilities);
        const auto families = context->physical_device.getQueueFamilyProperties(context->dispatch);
        if (host.queue_family >= families.size() ||
            !(families[host.queue_family].queueFlags & vk::QueueFlagBits::eCompute)) {
            detail::refuse("queue family ", host.queue_family,
                           " of the adopted device cannot compute; give a queue family that can");
        }
        context->info.timestamps = families[host.queue_family].timestampValidBits != 0;
    });
    if (!context->info.usable()) {
        detail::cannot("the adopted device ", context->info.name,
                       " cannot be used: ", context->info.rejections[0]);
    }
    for (const auto feature : FEATURES) {
        const bool enabled = host.enabled.*feature || feature == &Features::hand_over;
        context->info.features.*feature &= enabled && !(host.disabled.*feature);
    }
    context->set_limits();
    open_pipeline_cache(*context, host.pipeline_cache);
    detail::watch_exit(false);
    Device device(std::move(context));
    check_device(device, host.check);
    return device;
}

std::vector<DeviceInfo> Device::enumerate(PFN_vkGetInstanceProcAddr get_instance_proc_addr) {
    DeviceContext context;
    detail::create_instance(context, false, get_instance_proc_addr);
    std::vector<DeviceInfo> infos;
    for (const Candidate& candidate : candidates_of(context)) {
        infos.push_back(candidate.info);
    }
    return infos;
}

const DeviceInfo& Device::info() const noexcept {
    return context_->info;
}
VkInstance Device::instance() const noexcept {
    return context_->instance;
}
VkPhysicalDevice Device::physical_device() const noexcept {
    return context_->physical_device;
}
VkDevice Device::handle() const noexcept {
    return context_->device;
}
VkQueue Device::queue() const noexcept {
    return context_->queue;
}
std::uint32_t Device::queue_family() const noexcept {
    return context_->queue_family;
}
std::vector<std::byte> Device::pipeline_cache() const {
    const DeviceContext& context = *context_;
    const std::vector<std::uint8_t> data = context.calls("reading the pipeline cache", [&] {
        return context.device.getPipelineCacheData(*context.pipeline_cache, context.dispatch);
    });
    std::vector<std::byte> result;
    const auto append = [&](std::span<const std::byte> bytes) {
        result.insert(result.end(), bytes.begin(), bytes.end());
    };
    append(std::as_bytes(std::span(data)));
    append(std::as_bytes(std::span(&context.checked, 1)));
    const std::uint64_t sum = checksum(result);
    append(std::as_bytes(std::span(&sum, 1)));
    return result;
}
PFN_vkGetInstanceProcAddr Device::get_instance_proc_addr() const noexcept {
    return context_->dispatch.vkGetInstanceProcAddr;
}

}  // namespace quadtile
