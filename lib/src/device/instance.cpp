#include "device/device_context.hpp"

#include "values/refuse.hpp"

#include <quadtile/error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::detail {

namespace {

constexpr const char* VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation";
constexpr std::uint32_t API_VERSION = VK_API_VERSION_1_3;  // used if supported; 1.2 is enough

// Returns the caller's entry, if it is not null, or that of the loader, which stays open until the
// process ends: drivers may not support unloading.
PFN_vkGetInstanceProcAddr loader_entry(PFN_vkGetInstanceProcAddr given) {
    if (given != nullptr) {
        return given;
    }
    static const PFN_vkGetInstanceProcAddr entry = []() -> PFN_vkGetInstanceProcAddr {
        try {
            // Never destroyed: objects of the program may outlive all statics of the library.
            static const auto& loader = *new vk::DynamicLoader;
            return loader.getProcAddress<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr");
        } catch (const std::runtime_error&) {
            return nullptr;
        }
    }();
    if (entry == nullptr) {
        throw Error(ErrorCode::no_device,
                    "no Vulkan loader (libvulkan.so.1; Windows: vulkan-1.dll) was found; install "
                    "it (Debian: libvulkan1) together with a driver for your GPU");
    }
    return entry;
}

// Loaders also complain of memory if a manifest is no JSON.
template <typename Calls>
auto loader_calls(const std::string& doing, Calls&& calls) {
    try {
        return vulkan_calls(doing, std::forward<Calls>(calls));
    } catch (const Error& failure) {
        if (failure.vk_result() != VK_ERROR_OUT_OF_HOST_MEMORY) {
            throw;
        }
        std::string place = "those in vulkan/icd.d below /usr/share, /etc and /usr/local/share";
        for (const char* const variable : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"}) {
            if (const char* const files = std::getenv(variable)) {
                place = std::string(variable) + "=" + files;
            }
        }
        throw Error(
            failure.code(),
            "out of host memory while " + doing +
                "; free memory, or mend or remove a driver's manifest that is damaged: " + place,
            failure.vk_result());
    }
}

bool layer_installed(const Dispatch& dispatch) {
    const auto layers = loader_calls("enumerating the layers of Vulkan", [&] {
        return vk::enumerateInstanceLayerProperties(dispatch);
    });
    return std::ranges::any_of(
        layers, [](const auto& l) { return std::string_view(l.layerName) == VALIDATION_LAYER; });
}

// Returns whether a layer, or without a name the loader, offers an extension.
bool offers(const Dispatch& dispatch, const std::string& layer, std::string_view name) {
    const auto extensions = vk::enumerateInstanceExtensionProperties(
        layer.empty() ? vk::Optional<const std::string>(nullptr) : layer, dispatch);
    return std::ranges::any_of(extensions, [&](const auto& extension) {
        return std::string_view(extension.extensionName) == name;
    });
}

VKAPI_ATTR VkBool32 VKAPI_CALL forward_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                               VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                               const VkDebugUtilsMessengerCallbackDataEXT* data,
                                               void* log) {
    const Severity level =
        severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT     ? Severity::error
        : severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT ? Severity::warning
                                                                      : Severity::info;
    (*static_cast<const LogCallback*>(log))(level, data->pMessage);
    return VK_FALSE;
}

}  // namespace

void create_instance(DeviceContext& context, bool validation, PFN_vkGetInstanceProcAddr entry) {
    check_not_ending();
    context.owned = true;
    context.dispatch = Dispatch(loader_entry(entry));
    const vk::ApplicationInfo application("quadtile", 1, "quadtile", 1, API_VERSION);
    vk::InstanceCreateInfo info({}, &application);

    const std::array<const char*, 1> layers{VALIDATION_LAYER};
    const std::array enabled{vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
    const vk::ValidationFeaturesEXT validation_features(enabled, {}, nullptr);
    if (validation) {
        if (!layer_installed(context.dispatch)) {
            cannot("validation was requested, but ", VALIDATION_LAYER,
                   " is not installed; install it (Debian: vulkan-validationlayers), or "
                   "leave validation out");
        }
        info.setPEnabledLayerNames(layers);
    }
    std::vector<const char*> extensions;
    loader_calls("asking for instance extensions", [&] {
        const Dispatch& d = context.dispatch;
        context.debug_utils =
            offers(d, "", VK_EXT_DEBUG_UTILS_EXTENSION_NAME) ||
            (validation && offers(d, VALIDATION_LAYER, VK_EXT_DEBUG_UTILS_EXTENSION_NAME));
        if (context.debug_utils) {
            extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        }
        if (validation && offers(d, VALIDATION_LAYER, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
            extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
            info.setPNext(&validation_features);
        }
    });
    info.setPEnabledExtensionNames(extensions);
    context.instance = loader_calls("creating the Vulkan instance", [&] {
        try {
            return vk::createInstance(info, nullptr, context.dispatch);
        } catch (const vk::IncompatibleDriverError& error) {
            throw Error(ErrorCode::no_device,
                        "no Vulkan driver was found; install one for your GPU (Debian: "
                        "mesa-vulkan-drivers, which has a CPU driver too)",
                        error.code().value());
        }
    });
    context.dispatch.init(context.instance);

    if (validation && context.log && context.debug_utils) {
        using SeverityBit = vk::DebugUtilsMessageSeverityFlagBitsEXT;
        using TypeBit = vk::DebugUtilsMessageTypeFlagBitsEXT;
        const vk::DebugUtilsMessengerCreateInfoEXT messenger(
            {}, SeverityBit::eWarning | SeverityBit::eError,
            TypeBit::eValidation | TypeBit::ePerformance, forward_message, &context.log);
        context.messenger = vulkan_calls("creating the debug messenger", [&] {
            return context.instance.createDebugUtilsMessengerEXT(messenger, nullptr,
                                                                 context.dispatch);
        });
    }
}

}  // namespace quadtile::detail
