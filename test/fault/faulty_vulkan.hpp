// A Vulkan loader that stands between the library and the real one. It lets any call fail, lets
// waits hang, and knows what was made and not destroyed.
//
// Every function that the library calls is in a list of this file's source; one that is missing
// there is null, so that no call can be forgotten.
//
// One for the process: function pointers carry no state. Thread-safe.

#pragma once

#include "fault/lying_shaders.hpp"

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::test::faulty_vulkan {

// For DeviceOptions and AdoptedDevice; calls go on to the loader that quadtile opens by itself.
[[nodiscard]] PFN_vkGetInstanceProcAddr entry();

// One call of those that may return the result, by its number since `start`, from 1 on.
//
// VK_ERROR_DEVICE_LOST comes from calls that may say so by the specification: making a device,
// submitting, waiting, asking. The device is lost from then on: what waits has come back, and each
// later call of these says so. Other results come once, from any call that returns a VkResult.
struct Fault {
    std::uint64_t call = 0;
    VkResult result = VK_SUCCESS;
};

// Counts from here on.
void start(std::optional<Fault> fault = std::nullopt);

// No fault from here on; a device that was lost works, as a new one would.
void recover();

// The functions that returned a VkResult since `start`, in their order.
[[nodiscard]] std::vector<std::string> calls();

// From hold() to release() nothing that was submitted seems to end, as with a shader that hangs:
// waits take the time that they were given. Or they fail at once, all of them.
void hold(VkResult waits_return = VK_TIMEOUT);
void release();

enum class HostMemory { real, beside_device, beside_window };

// What tests set and see.
struct Control {
    // A device says that it is a GPU, so that the library goes about it as it does with one.
    bool pretends_gpu = false;
    // A device has host memory beside its own. The host sees all of the device's memory, or a part.
    HostMemory host_memory = HostMemory::real;
    std::vector<bool> from_host;  // for each allocation, whether it is in that host memory
    // A device says that its shaders can use so many storage images, and a set's layout with more
    // is a mistake. 0: as many as there are.
    std::uint32_t most_storage_images = 0;
    // Shader modules made from now on.
    Lie lie;
    // Instances offer VK_EXT_validation_features; to use it elsewhere is a mistake.
    bool offers_features = true;

    std::string failed_function;  // since `start`; empty where the call did not come
    // A sentence each: objects destroyed twice or never made, a device destroyed before its
    // objects.
    std::vector<std::string> mistakes;
};
template <typename Held>
struct Locked {
    std::unique_lock<std::mutex> lock;
    Held* held;
    Held* operator->() const { return held; }
};
[[nodiscard]] Locked<Control> control();

// Returns the objects that were not destroyed, by kind: "2 Buffer, 1 Fence".
[[nodiscard]] std::string alive();

// Marks a time. The objects made since then may stay and are no longer counted.
[[nodiscard]] std::uint64_t mark();
void forget_since(std::uint64_t mark);

}  // namespace quadtile::test::faulty_vulkan
