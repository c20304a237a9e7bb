#include "device/vulkan_calls.hpp"

namespace quadtile::detail {

Error error_from(vk::Result result, const std::string& doing) {
    const int code = static_cast<int>(result);
    const std::string name = vk::to_string(result);
    switch (result) {
        case vk::Result::eErrorOutOfHostMemory:
        case vk::Result::eErrorMemoryMapFailed:  // address space
            return {ErrorCode::out_of_memory,
                    "out of host memory while " + doing +
                        "; free memory, or use a smaller map or image",
                    code};
        case vk::Result::eErrorOutOfDeviceMemory:
        case vk::Result::eErrorOutOfPoolMemory:
        case vk::Result::eErrorFragmentedPool:
            return {ErrorCode::out_of_memory,
                    "out of device memory while " + doing +
                        "; free memory on the device, or use a smaller map or image or fewer "
                        "layers",
                    code};
        case vk::Result::eErrorTooManyObjects:
            return {ErrorCode::out_of_memory,
                    "the device cannot have more allocations, which failed while " + doing +
                        "; destroy what you do not use of Tilers, Mipmappers and Services",
                    code};
        case vk::Result::eErrorDeviceLost:
            return {ErrorCode::device_lost,
                    "the device was lost while " + doing +
                        " (driver reset, time-out or removal); make a new Device and try again",
                    code};
        default:
            return {ErrorCode::vulkan, "Vulkan failed with " + name + " while " + doing, code};
    }
}

}  // namespace quadtile::detail
