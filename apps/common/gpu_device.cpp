// The instance of a program, and its own device, which draws.

#include "gpu.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

VULKAN_HPP_DEFAULT_DISPATCH_LOADER_DYNAMIC_STORAGE

namespace quadtile::app {

namespace {

constexpr const char* VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL print_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                             VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                             const VkDebugUtilsMessengerCallbackDataEXT* data,
                                             void* count) {
    std::fprintf(stderr, "%s\n", data->pMessage);
    ++*static_cast<std::atomic<std::uint32_t>*>(count);
    return VK_FALSE;
}

bool has_extension(vk::PhysicalDevice device, std::string_view name) {
    return std::ranges::any_of(
        device.enumerateDeviceExtensionProperties(),
        [&](const vk::ExtensionProperties& one) { return name == one.extensionName.data(); });
}

// Returns a family whose queues draw, compute, and present if there is a surface.
std::optional<std::uint32_t> find_queue_family(vk::PhysicalDevice device, vk::SurfaceKHR surface) {
    constexpr auto NEEDED = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;
    const auto families = device.getQueueFamilyProperties();
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        if ((families[i].queueFlags & NEEDED) == NEEDED &&
            (!surface || device.getSurfaceSupportKHR(i, surface) == VK_TRUE)) {
            return i;
        }
    }
    return {};
}

// Returns why a device cannot be used; empty: it can.
std::string objection_to(vk::PhysicalDevice device, vk::SurfaceKHR surface) {
    if (device.getProperties().apiVersion < VK_API_VERSION_1_2) {
        return "it has no Vulkan 1.2";
    }
    if (!find_queue_family(device, {})) {
        return "it has no queue for graphics and compute";
    }
    if (surface && (!has_extension(device, VK_KHR_SWAPCHAIN_EXTENSION_NAME) ||
                    !find_queue_family(device, surface))) {
        return "it does not draw in windows of this window system; --screenshot needs none";
    }
    vk::PhysicalDeviceVulkan12Features has;
    vk::PhysicalDeviceFeatures2 features{.pNext = &has};
    device.getFeatures2(&features);
    if (has.vulkanMemoryModel == VK_FALSE || has.vulkanMemoryModelDeviceScope == VK_FALSE) {
        return "it lacks vulkanMemoryModel or vulkanMemoryModelDeviceScope";
    }
    return {};
}

int rank(vk::PhysicalDevice device) {
    constexpr std::array RANKS{0, 2, 3, 1, 0};  // other, integrated, discrete, virtual, CPU
    const auto type = static_cast<std::size_t>(device.getProperties().deviceType);
    return type < RANKS.size() ? RANKS[type] : 0;
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// A number that no device has may be a part of a name ("4090").
bool is_selected(const std::string& select, std::size_t index, const std::string& name,
                 std::size_t devices) {
    std::size_t number = 0;
    const char* const end = select.data() + select.size();
    const auto [last, error] = std::from_chars(select.data(), end, number);
    if (error == std::errc() && last == end && number < devices) {
        return number == index;
    }
    return lower_case(name).find(lower_case(select)) != std::string::npos;
}

}  // namespace

Instance::Instance(const char* application, std::span<const char* const> extensions,
                   bool validation) {
    VULKAN_HPP_DEFAULT_DISPATCHER.init(::vkGetInstanceProcAddr);
    const vk::ApplicationInfo about{.pApplicationName = application,
                                    .apiVersion = VK_API_VERSION_1_3};
    std::vector<const char*> names(extensions.begin(), extensions.end());
    vk::InstanceCreateInfo info{.pApplicationInfo = &about};
    const auto synchronisation = vk::ValidationFeatureEnableEXT::eSynchronizationValidation;
    const vk::ValidationFeaturesEXT features{.enabledValidationFeatureCount = 1,
                                             .pEnabledValidationFeatures = &synchronisation};
    if (validation) {
        names.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        info.setPEnabledLayerNames(VALIDATION_LAYER);
        names.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
        info.setPNext(&features);
    }
    info.setPEnabledExtensionNames(names);
    try {
        instance_ = vk::createInstanceUnique(info);
    } catch (const vk::LayerNotPresentError&) {
        throw std::runtime_error("the validation layer " + std::string(VALIDATION_LAYER) +
                                 " is not installed; install it (Debian: vulkan-validationlayers)");
    } catch (const vk::IncompatibleDriverError&) {
        throw std::runtime_error(
            "no Vulkan driver was found; install one (Debian: mesa-vulkan-drivers)");
    }
    VULKAN_HPP_DEFAULT_DISPATCHER.init(*instance_);
    if (validation) {
        using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
        using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
        messenger_ = instance_->createDebugUtilsMessengerEXTUnique(
            {.messageSeverity = Severity::eWarning | Severity::eError,
             .messageType = Type::eValidation | Type::ePerformance,
             .pfnUserCallback = print_message,
             .pUserData = &validation_messages_});
    }
}

// ---- The device

Gpu::Gpu(const Instance& instance, const std::string& select, vk::SurfaceKHR surface,
         std::size_t turn)
    : instance_(instance.handle()), validates_(instance.validates()) {
    choose_physical_device(select, surface, turn);
    make_device(static_cast<bool>(surface));
    begin();
}

void Gpu::choose_physical_device(const std::string& select, vk::SurfaceKHR surface,
                                 std::size_t turn) {
    const char* const variable = std::getenv("QUADTILE_DEVICE");
    const std::string wanted =
        !select.empty() ? select : std::string(variable == nullptr ? "" : variable);
    const std::vector<vk::PhysicalDevice> all = instance_.enumeratePhysicalDevices();
    std::string objections;
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string name = all[i].getProperties().deviceName.data();
        const std::string objection = objection_to(all[i], surface);
        if (!objection.empty()) {
            objections += "; " + name + ": " + objection;
        } else if (!wanted.empty() && !is_selected(wanted, i, name, all.size())) {
            objections += "; " + name + ": it is not '" + wanted + "'";
        } else {
            if (!best.empty() && rank(all[i]) > rank(all[best.front()])) {
                best.clear();
            }
            if (best.empty() || rank(all[i]) == rank(all[best.front()])) {
                best.push_back(i);
            }
        }
    }
    if (best.empty()) {
        throw std::runtime_error("no Vulkan device is suitable" + objections);
    }
    physical_device_ = all[best[turn % best.size()]];
    choices_ = best.size();
    queue_family_ = find_queue_family(physical_device_, surface).value();
}

void Gpu::make_device(bool presents) {
    const float priority = 1.0F;
    const vk::DeviceQueueCreateInfo queue{
        .queueFamilyIndex = queue_family_, .queueCount = 1, .pQueuePriorities = &priority};
    // quadtile needs the memory model; it uses subgroups of known size, storage images of all
    // formats.
    vk::PhysicalDeviceSubgroupSizeControlFeatures subgroups;
    if (physical_device_.getProperties().apiVersion >= VK_API_VERSION_1_3) {
        vk::PhysicalDeviceFeatures2 has{.pNext = &subgroups};
        physical_device_.getFeatures2(&has);
    }
    enabled_.subgroup_operations =
        subgroups.subgroupSizeControl == VK_TRUE && subgroups.computeFullSubgroups == VK_TRUE;
    const vk::PhysicalDeviceFeatures has = physical_device_.getFeatures();
    enabled_.storage_image_formats = has.shaderStorageImageWriteWithoutFormat == VK_TRUE &&
                                     has.shaderStorageImageExtendedFormats == VK_TRUE;
    // The others are for draws that the GPU generates, into parts of a depth buffer.
    const vk::PhysicalDeviceFeatures core{
        .multiDrawIndirect = has.multiDrawIndirect,
        .drawIndirectFirstInstance = has.drawIndirectFirstInstance,
        .depthClamp = has.depthClamp,
        .shaderStorageImageExtendedFormats = enabled_.storage_image_formats ? VK_TRUE : VK_FALSE,
        .shaderStorageImageWriteWithoutFormat = enabled_.storage_image_formats ? VK_TRUE : VK_FALSE,
        .shaderClipDistance = has.shaderClipDistance};
    vk::PhysicalDeviceVulkan12Features use{
        .pNext = enabled_.subgroup_operations ? &subgroups : nullptr,
        .vulkanMemoryModel = VK_TRUE,
        .vulkanMemoryModelDeviceScope = VK_TRUE,
    };
    const char* const swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    own_ = physical_device_.createDeviceUnique({.pNext = &use,
                                                .queueCreateInfoCount = 1,
                                                .pQueueCreateInfos = &queue,
                                                .enabledExtensionCount = presents ? 1U : 0U,
                                                .ppEnabledExtensionNames = &swapchain,
                                                .pEnabledFeatures = &core});
    device_ = *own_;
    queue_ = device_.getQueue(queue_family_, 0);
}

quadtile::AdoptedDevice Gpu::for_quadtile(std::span<const std::byte> pipeline_cache,
                                          DeviceCheck check) const {
    quadtile::AdoptedDevice host{
        .get_instance_proc_addr = VULKAN_HPP_DEFAULT_DISPATCHER.vkGetInstanceProcAddr,
        .instance = instance_,
        .physical_device = physical_device_,
        .device = device_,
        .queue = queue_,
        .queue_family = queue_family_,
        .debug_utils = validates_,
        .pipeline_cache = pipeline_cache,
        .check = check};
    host.enabled = enabled_;
    return host;
}

}  // namespace quadtile::app
