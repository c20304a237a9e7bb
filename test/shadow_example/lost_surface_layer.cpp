// A Vulkan layer under which the third picture is shown on a lost surface, and all others as usual.

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdio>
#include <cstring>

namespace {

VkInstance instance = VK_NULL_HANDLE;
PFN_vkGetInstanceProcAddr of_instance = nullptr;  // of the layers and the driver below
PFN_vkGetDeviceProcAddr of_device = nullptr;
PFN_vkQueuePresentKHR present_below = nullptr;

// Returns the chain to the layers and the driver below.
template <typename CreateInfo>
CreateInfo* chain_in(const void* next, VkStructureType type) {
    auto* info = static_cast<CreateInfo*>(const_cast<void*>(next));
    while (info->sType != type || info->function != VK_LAYER_LINK_INFO) {
        info = static_cast<CreateInfo*>(const_cast<void*>(info->pNext));
    }
    return info;
}

VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                         VkInstance* created) {
    auto* const chain = chain_in<VkLayerInstanceCreateInfo>(
        info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    of_instance = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(of_instance(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, allocator, created);
    instance = *created;
    return result;
}

VkResult create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkDevice* created) {
    auto* const chain =
        chain_in<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    of_device = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    const auto create =
        reinterpret_cast<PFN_vkCreateDevice>(of_instance(instance, "vkCreateDevice"));
    const VkResult result = create(physical_device, info, allocator, created);
    present_below =
        reinterpret_cast<PFN_vkQueuePresentKHR>(of_device(*created, "vkQueuePresentKHR"));
    return result;
}

VkResult present(VkQueue queue, const VkPresentInfoKHR* info) {
    static int count = 0;
    const VkResult result = present_below(queue, info);
    if (++count != 3) {
        return result;
    }
    std::fputs("the surface is lost\n", stderr);
    return VK_ERROR_SURFACE_LOST_KHR;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetDeviceProcAddr(
    VkDevice device, const char* name) {
    return std::strcmp(name, "vkQueuePresentKHR") == 0
               ? reinterpret_cast<PFN_vkVoidFunction>(present)
               : of_device(device, name);
}

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(
    VkInstance of, const char* name) {
    if (std::strcmp(name, "vkCreateInstance") == 0) {
        return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
    }
    if (std::strcmp(name, "vkCreateDevice") == 0) {
        return reinterpret_cast<PFN_vkVoidFunction>(create_device);
    }
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
        return reinterpret_cast<PFN_vkVoidFunction>(vkGetDeviceProcAddr);
    }
    return of_instance != nullptr ? of_instance(of, name) : nullptr;
}
