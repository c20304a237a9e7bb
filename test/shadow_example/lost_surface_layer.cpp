// A Vulkan layer that lets the third picture be shown on a lost surface, and all others as usual.

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdio>
#include <cstring>

namespace {

PFN_vkGetInstanceProcAddr next_instance = nullptr;
PFN_vkGetDeviceProcAddr next_device = nullptr;
PFN_vkQueuePresentKHR next_present = nullptr;

// Returns the link of the chain to the layers and the driver below.
template <typename LinkInfo>
LinkInfo* link_in(const void* next, VkStructureType type) {
    auto* info = const_cast<LinkInfo*>(static_cast<const LinkInfo*>(next));
    while (info != nullptr && (info->sType != type || info->function != VK_LAYER_LINK_INFO)) {
        info = const_cast<LinkInfo*>(static_cast<const LinkInfo*>(info->pNext));
    }
    return info;
}

VkResult present(VkQueue queue, const VkPresentInfoKHR* info) {
    static int count = 0;
    const VkResult result = next_present(queue, info);
    if (++count != 3) {
        return result;
    }
    std::fputs("the surface is lost\n", stderr);
    return VK_ERROR_SURFACE_LOST_KHR;
}

VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                         VkInstance* instance) {
    auto* const link = link_in<VkLayerInstanceCreateInfo>(
        info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(next_instance(VK_NULL_HANDLE, "vkCreateInstance"));
    return create(info, allocator, instance);
}

VkInstance the_instance = VK_NULL_HANDLE;

VkResult create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkDevice* device) {
    auto* const link =
        link_in<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(
        link->u.pLayerInfo->pfnNextGetInstanceProcAddr(the_instance, "vkCreateDevice"));
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const VkResult result = create(physical_device, info, allocator, device);
    if (result == VK_SUCCESS) {
        next_present =
            reinterpret_cast<PFN_vkQueuePresentKHR>(next_device(*device, "vkQueuePresentKHR"));
    }
    return result;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetDeviceProcAddr(
    VkDevice device, const char* name) {
    return std::strcmp(name, "vkQueuePresentKHR") == 0
               ? reinterpret_cast<PFN_vkVoidFunction>(present)
               : next_device(device, name);
}

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(
    VkInstance instance, const char* name) {
    the_instance = instance != VK_NULL_HANDLE ? instance : the_instance;
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkCreateInstance")) {
        return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
    }
    if (is("vkCreateDevice")) {
        return reinterpret_cast<PFN_vkVoidFunction>(create_device);
    }
    if (is("vkGetDeviceProcAddr")) {
        return reinterpret_cast<PFN_vkVoidFunction>(vkGetDeviceProcAddr);
    }
    if (is("vkQueuePresentKHR")) {
        return reinterpret_cast<PFN_vkVoidFunction>(present);
    }
    return next_instance != nullptr ? next_instance(instance, name) : nullptr;
}
