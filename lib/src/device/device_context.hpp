// State that a Device shares with everything made from it; Vulkan's errors as quadtile's; instances
// (instance.cpp).

#pragma once

#include "device/vulkan.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace quadtile::detail {

// Returns the Error for a failed Vulkan call. `doing` names the operation ("creating the pyramid
// image").
[[nodiscard]] inline Error error_from(vk::Result result, const std::string& doing) {
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

// Runs Vulkan-Hpp calls. Their exceptions become Errors that name the operation.
template <typename Calls>
auto vulkan_calls(const std::string& doing, Calls&& calls) {
    try {
        return std::forward<Calls>(calls)();
    } catch (const vk::SystemError& error) {
        throw error_from(static_cast<vk::Result>(error.code().value()), doing);
    }
}

// Returns the mutex of a queue, which all Devices with this queue share.
[[nodiscard]] std::shared_ptr<std::mutex> mutex_of(vk::Device device, vk::Queue queue);

// What a check (DeviceCheck) has found, for the features of FEATURES (device.cpp) by bits.
struct Checked {
    std::uint32_t tested = 0;  // in use during the check
    std::uint32_t faulty = 0;
};

// Limits below those of the device, for tests of the code for large inputs. 0: the device's.
struct LowerLimits {
    std::uint32_t max_workgroup_count = 0;
    std::uint64_t max_storage_buffer_range_bytes = 0;
    std::uint32_t max_storage_images = 0;
};

class DeviceContext {
 public:
    DeviceContext() = default;
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;
    ~DeviceContext();

    MadeIn made_in;
    Dispatch dispatch;
    vk::Instance instance;
    vk::DebugUtilsMessengerEXT messenger;
    vk::PhysicalDevice physical_device;
    vk::Device device;
    vk::Queue queue;
    std::uint32_t queue_family = 0;
    bool owned = false;        // whether the instance and the device are destroyed with this object
    bool debug_utils = false;  // whether VK_EXT_debug_utils is enabled

    DeviceInfo info;
    Checked checked;
    LogCallback log;
    Unique<vk::PipelineCache> pipeline_cache;

    // Limits of the device, or lower ones of a test.
    std::uint32_t max_workgroup_count = 0;
    std::uint64_t max_storage_buffer_range_bytes = 0;
    std::uint32_t max_storage_images = 0;  // per shader stage and descriptor set
    // log2 of the tiles behind their header, and of the floats, that one storage buffer descriptor
    // reaches.
    std::uint32_t tile_chunk_shift = 0;
    std::uint32_t float_chunk_shift = 0;

    // Runs Vulkan-Hpp calls as vulkan_calls does, and throws the Errors of MadeIn::check.
    template <typename Calls>
    auto calls(const std::string& doing, Calls&& calls) const {
        made_in.check();
        return vulkan_calls(doing, std::forward<Calls>(calls));
    }

    // Notes the end of a run. Drivers and layers make statics in their first calls, too, which
    // exit() destroys before it calls functions that were registered earlier.
    void note_run() const {
        if (std::has_single_bit(++runs_)) {
            watch_exit(owned);
        }
    }

    // Submits to the queue: by the host's function if there is one, otherwise under a mutex.
    // Thread-safe. Throws the exceptions of Vulkan-Hpp.
    void submit(const vk::SubmitInfo& work, vk::Fence fence) const;

    // Names an object of this device for debuggers and validation messages. Does nothing without
    // VK_EXT_debug_utils. Throws the exceptions of Vulkan-Hpp.
    template <typename Handle>
    void name(Handle handle, const std::string& text) const {
        if (debug_utils) {
            const std::string full = "quadtile: " + text;
            const auto value =
                reinterpret_cast<std::uint64_t>(static_cast<typename Handle::CType>(handle));
            device.setDebugUtilsObjectNameEXT({Handle::objectType, value, full.c_str()}, dispatch);
        }
    }

    // Writes a message to the log, if there is one.
    void say(Severity severity, const std::string& message) const {
        if (log) {
            log(severity, message);
        }
    }

    // Returns whether workgroups hand over within a dispatch: until a run is lost
    // (kernels/common/hand_over.glsl).
    [[nodiscard]] bool hands_over() const { return info.features.hand_over && !has_lost_a_run_; }
    // Notes that a run was lost, for later bindings and recordings. Throws Error(unsupported) if it
    // has gone by steps already. `what`: it made.
    void note_lost_run(const std::string& what) const;

    [[nodiscard]] bool can_submit() const { return queue || host_submit; }

    SubmitFunction host_submit;  // of an adopted device; may be empty
    std::shared_ptr<std::mutex> queue_mutex;

    // Sets the limits from those of the device, before anything is made from it.
    void set_limits(const LowerLimits& lower = {});

 private:
    mutable std::atomic<std::uint64_t> runs_ = 0;
    mutable std::atomic<bool> has_lost_a_run_ = false;
};

// Creates the instance of a context, with validation if requested. `entry` is that of
// DeviceOptions::get_instance_proc_addr.
void create_instance(DeviceContext& context, bool validation, PFN_vkGetInstanceProcAddr entry);

// A region of a command buffer that debuggers show under a name.
class DebugLabel {
 public:
    DebugLabel(const DeviceContext& context, vk::CommandBuffer commands, const std::string& name)
        : context_(context), commands_(commands) {
        if (context_.debug_utils) {
            const std::string full = "quadtile: " + name;
            commands_.beginDebugUtilsLabelEXT(vk::DebugUtilsLabelEXT(full.c_str()),
                                              context_.dispatch);
        }
    }
    DebugLabel(const DebugLabel&) = delete;
    DebugLabel& operator=(const DebugLabel&) = delete;
    ~DebugLabel() {
        if (context_.debug_utils) {
            commands_.endDebugUtilsLabelEXT(context_.dispatch);
        }
    }

 private:
    const DeviceContext& context_;
    vk::CommandBuffer commands_;
};

}  // namespace quadtile::detail
