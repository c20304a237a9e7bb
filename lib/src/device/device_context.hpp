// What a Device shares with everything made from it.

#pragma once

#include "device/pipeline_cache.hpp"
#include "device/vulkan.hpp"
#include "device/vulkan_calls.hpp"

#include <quadtile/device.hpp>

#include <mutex>
#include <string>

namespace quadtile::detail {

class DeviceContext {
 public:
    DeviceContext() = default;
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;
    ~DeviceContext();

    Dispatch dispatch;
    vk::Instance instance;
    vk::DebugUtilsMessengerEXT messenger;
    vk::PhysicalDevice physical_device;
    vk::Device device;
    vk::Queue queue;
    std::uint32_t queue_family = 0;
    bool owned = false;        // the instance and the device are destroyed with this
    bool debug_utils = false;  // VK_EXT_debug_utils is on

    DeviceInfo info;
    LogCallback log;
    CacheDirectory cache_directory;
    PipelineCache pipeline_cache;

    // The device's limits, or the lower ones that the caller asked for.
    std::uint32_t max_workgroup_count = 0;
    std::uint64_t max_storage_buffer_range_bytes = 0;
    std::uint32_t max_storage_images = 0;  // of a shader stage and a descriptor set
    // Tiles behind their header, and floats, that one storage buffer descriptor reaches: 2^shift.
    std::uint32_t tile_chunk_shift = 0;
    std::uint32_t float_chunk_shift = 0;

    // Submits to the queue: by the host's function where there is one, else one thread after the
    // other. Thread-safe. Throws what Vulkan-Hpp throws.
    void submit(const vk::SubmitInfo& work, vk::Fence fence) const;

    // Gives an object of this device a name that debuggers and validation messages show; nothing
    // where VK_EXT_debug_utils is off. Throws what Vulkan-Hpp throws.
    template <typename Handle>
    void name(Handle handle, const std::string& text) const {
        if (debug_utils) {
            const std::string full = "quadtile: " + text;
            const auto value = reinterpret_cast<std::uint64_t>(static_cast<Handle::CType>(handle));
            device.setDebugUtilsObjectNameEXT({Handle::objectType, value, full.c_str()}, dispatch);
        }
    }

    // To the log, where there is one.
    void say(Severity severity, const std::string& message) const {
        if (log) {
            log(severity, message);
        }
    }

    [[nodiscard]] bool can_submit() const { return queue || host_submit; }

    SubmitFunction host_submit;  // of an adopted device; may be empty
    mutable std::mutex queue_mutex;

    // Fills in the limits from the device's and the overrides.
    void set_limits(const LimitOverrides& overrides);
};

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
