// A Vulkan loader that stands between the library and the real one. It lets any call fail, lets
// waits hang, and knows what was made and not destroyed.
//
// Every function that the library calls is in a list of this file's source; one that is missing
// there is null, so that no call can be forgotten.
//
// One for the process: function pointers carry no state. Thread-safe.

#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <optional>
#include <set>
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

// The name of the function that has failed since `start`; empty where the call did not come.
[[nodiscard]] std::string failed_function();

// The functions that returned a VkResult since `start`, in their order.
[[nodiscard]] std::vector<std::string> calls();

// From hold() to release() nothing that was submitted seems to end, as with a shader that hangs:
// waits take the time that they were given. Or they fail at once, all of them.
void hold(VkResult waits_return = VK_TIMEOUT);
void release();

// A device says that it is a GPU, so that the library goes about it as it does with one.
void pretend_gpu(bool pretend);

// A device has host memory beside its own. The host sees all of the device's memory, or a part.
enum class HostMemory { real, beside_device, beside_window };
void pretend_host_memory(HostMemory kind);

// Returns for each allocation since pretend_host_memory whether it is in that host memory.
[[nodiscard]] std::vector<bool> allocations_from_host();

// A device says that its shaders can use so many storage images, and a set's layout with more is a
// mistake. 0: as many as there are.
void limit_storage_images(std::uint32_t most);

// Returns the objects that were not destroyed, by kind: "2 Buffer, 1 Fence".
[[nodiscard]] std::string alive();

// Marks a time. The objects made since then may stay and are no longer counted.
[[nodiscard]] std::uint64_t mark();
void forget_since(std::uint64_t mark);

// The kinds of what was destroyed without ever having had a name for debuggers; they are forgotten
// then. And the labels that were begun in command buffers, in their order.
[[nodiscard]] std::set<std::string> take_nameless();
[[nodiscard]] std::vector<std::string> take_labels();

// Returns the mistakes and forgets them, a sentence each: objects destroyed twice or never made, a
// device destroyed before its objects, labels that do not pair.
[[nodiscard]] std::vector<std::string> take_mistakes();

}  // namespace quadtile::test::faulty_vulkan
