/// \file
/// The Vulkan device of quadtile, created by quadtile or adopted from the host application, and the
/// caller's Vulkan resources for recorded commands.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile {

namespace detail {
class DeviceContext;
}

/// Optional device features. A kernel has an equivalent path for each feature that is off.
struct Features {
    /// Shuffle, ballot and arithmetic in compute shaders, with full subgroups of a known size from
    /// 4 to 128 (subgroupSizeControl and computeFullSubgroups enabled on the device).
    bool subgroup_operations = false;
    /// MIN and MAX reduction samplers (samplerFilterMinmax), for extremes of unorm formats.
    bool sampler_minmax = false;
    /// Storage images of any format, written without naming the format in the shader
    /// (shaderStorageImageWriteWithoutFormat, shaderStorageImageExtendedFormats). Downsampler
    /// stores levels with it. If it is false, Downsampler can only blit.
    bool storage_image_formats = false;
    /// Storage images chosen at run time (shaderStorageImageArrayDynamicIndexing).
    bool storage_image_dynamic_indexing = false;
    /// Messages from workgroup to workgroup within a dispatch. Without them each hand-over is a
    /// dispatch of its own: up to two more for a list, a pyramid or mip levels.
    bool hand_over = false;
};

/// Properties of one Vulkan device of this machine, and the reasons if quadtile cannot use it.
struct DeviceInfo {
    std::uint32_t index = 0;  ///< position in enumerate()
    std::string name;         ///< name as the driver gives it
    std::string type;         ///< "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
    std::string driver;       ///< name and version as the driver gives them
    std::uint32_t api_version = 0;  ///< Vulkan version, packed as by VK_MAKE_API_VERSION

    Features features;                     ///< supported features; of Device::info: those in use
    bool timestamps = false;               ///< GPU timestamps on quadtile's compute queue
    std::uint32_t subgroup_size = 0;       ///< threads; the device's default
    std::uint32_t max_map_extent = 0;      ///< largest side of a map, texels
    std::uint32_t max_layers = 0;          ///< most layers of a map
    std::uint64_t max_tiles = 0;           ///< longest tile list that the kernels can write
    std::uint64_t local_memory_bytes = 0;  ///< size of the largest device-local heap

    /// Faults that a check (DeviceCheck) has found, of features that are therefore not in use.
    std::vector<std::string> faults;
    std::vector<std::string> rejections;  ///< reasons why quadtile cannot use it; empty: usable
    /// Returns whether quadtile can use the device.
    [[nodiscard]] bool usable() const noexcept { return rejections.empty(); }
};

/// Severity of a log message.
enum class Severity {
    info,     ///< information
    warning,  ///< unexpected, but work goes on
    error,    ///< a failure, or a fault in the use of Vulkan
};
/// Receives log messages. A message is valid during the call. quadtile drops exceptions.
using LogCallback = std::function<void(Severity, std::string_view)>;

/// When a device is checked: it makes the tile lists of small maps, which are known. A feature
/// without which it makes them is faulty, and stays unused.
enum class DeviceCheck {
    off,        ///< never
    automatic,  ///< once per device and driver, if pipeline_cache is kept; not CPU drivers
    always,     ///< now
};

/// Options of Device::create.
struct DeviceOptions {
    /// Number (position in enumerate()) or part of the name, case-insensitive. A number that no
    /// device has is a part of a name ("4090"). Empty: the environment variable QUADTILE_DEVICE; if
    /// that is empty too, the best usable device.
    std::string select;
    /// Turns on the Khronos validation layer with synchronisation validation; its messages go to
    /// `log`. Device::create throws Error(unsupported) if the layer is not installed.
    bool validation = false;
    /// Receives messages from any thread that makes Vulkan calls; thread-safe. May be empty.
    LogCallback log;
    /// Features that stay unused even if the device has them.
    Features disabled;
    /// Entry point of a Vulkan loader that the host has opened or is linked with (volk, a static
    /// loader). The loader must stay open as long as anything made from the Device. Null: quadtile
    /// opens libvulkan.so or libvulkan.so.1 (Windows: vulkan-1.dll), and never closes it.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    /// Compiled pipelines of an earlier run, from Device::pipeline_cache. Bytes that are damaged,
    /// or of another device or driver, are ignored. They are read during the call only.
    std::span<const std::byte> pipeline_cache;
    /// `automatic` is for programs that keep Device::pipeline_cache, which has the result. Others
    /// would compile kernels in each run.
    DeviceCheck check = DeviceCheck::off;
};

/// Submits work to the host's queue as vkQueueSubmit with one VkSubmitInfo does; returns its
/// result.
using SubmitFunction = std::function<VkResult(const VkSubmitInfo&, VkFence)>;

/// Handles of the host application's device. It needs Vulkan 1.2 with the features
/// vulkanMemoryModel and vulkanMemoryModelDeviceScope enabled, and a queue with compute.
struct AdoptedDevice {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;  ///< entry point of the loader
    VkInstance instance = VK_NULL_HANDLE;               ///< created for Vulkan 1.2 or later
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;  ///< the one that `device` was created from
    VkDevice device = VK_NULL_HANDLE;                   ///< stays the host's
    /// Queue for Tiler, Mipmapper and Service. May be null if only the recording layer (Pyramid,
    /// Downsampler, Subdivider) is used. All Devices of one queue submit from one thread at a time;
    /// if the host uses the queue too, `submit` must synchronise the accesses.
    VkQueue queue = VK_NULL_HANDLE;
    /// Family of `queue` and of all queues for recorded command buffers. It supports compute.
    std::uint32_t queue_family = 0;
    /// Submits instead of vkQueueSubmit on `queue` (which may then be null), for example with the
    /// host's lock held or on the thread that owns the queue. Called concurrently from threads that
    /// call the library and from threads of Services; must not throw.
    SubmitFunction submit;
    /// Optional features that the host enabled on the device (hand_over: always).
    Features enabled;
    Features disabled;  ///< as DeviceOptions::disabled
    /// Whether the host enabled VK_EXT_debug_utils. If so, quadtile names its objects and labels
    /// its commands for frame debuggers and validation messages.
    bool debug_utils = false;
    LogCallback log;                            ///< as DeviceOptions::log; may be empty
    std::span<const std::byte> pipeline_cache;  ///< as DeviceOptions::pipeline_cache
    /// As DeviceOptions::check; it needs a queue or `submit`.
    DeviceCheck check = DeviceCheck::off;
};

/// A Vulkan device, its compute queue and the features that the kernels may use.
///
/// Copies share the device, and all objects made from it keep it alive. Thread-safe. All these
/// objects may be destroyed while exit() runs, and in a forked process, where their calls throw
/// Error(unsupported).
class QUADTILE_API Device {
 public:
    /// Chooses a device, creates it and owns it. Discrete GPUs come before integrated and virtual
    /// ones, then CPU drivers; among equals the one with more memory is taken. Throws Error:
    /// no_device with the reason for each rejected device, unsupported for validation without its
    /// layer and for a device that fails the check without all features.
    [[nodiscard]] static Device create(const DeviceOptions& options = {});

    /// Uses the host's device and never destroys it. The host keeps it alive as long as anything
    /// made from this Device. Throws Error: invalid_argument for null handles, unsupported for a
    /// device that lacks what the kernels need.
    [[nodiscard]] static Device adopt(const AdoptedDevice& host);

    /// Returns all Vulkan devices of this machine in the loader's order. The parameter is that of
    /// DeviceOptions. Throws Error(no_device) if there is no Vulkan loader.
    [[nodiscard]] static std::vector<DeviceInfo> enumerate(
        PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr);

    /// Returns the device's properties. `features` are those in use: supported, and enabled by the
    /// host or not disabled.
    [[nodiscard]] const DeviceInfo& info() const noexcept;

    /// Returns the instance, which lives as long as the device.
    [[nodiscard]] VkInstance instance() const noexcept;
    /// Returns the physical device.
    [[nodiscard]] VkPhysicalDevice physical_device() const noexcept;
    /// Returns the device: the host's, or quadtile's own.
    [[nodiscard]] VkDevice handle() const noexcept;
    /// Returns the queue that quadtile submits to; null if the host has given none. To use it while
    /// quadtile does, adopt the device with AdoptedDevice::submit.
    [[nodiscard]] VkQueue queue() const noexcept;
    /// Returns the family of the queue. Record into command buffers from pools of this family.
    [[nodiscard]] std::uint32_t queue_family() const noexcept;
    /// Returns the entry point of the loader, for Vulkan calls of the caller.
    [[nodiscard]] PFN_vkGetInstanceProcAddr get_instance_proc_addr() const noexcept;

    /// Returns the pipelines compiled so far, and the result of a check, for
    /// DeviceOptions::pipeline_cache of a later run. The bytes have a checksum against accidents,
    /// not against attackers: keep them where only their user can write. Throws Error:
    /// out_of_memory, vulkan.
    [[nodiscard]] std::vector<std::byte> pipeline_cache() const;

    /// Returns the shared context, for the library's own use.
    [[nodiscard]] const std::shared_ptr<detail::DeviceContext>& context() const noexcept {
        return context_;
    }

 private:
    explicit Device(std::shared_ptr<detail::DeviceContext> context);

    std::shared_ptr<detail::DeviceContext> context_;
};

/// A map as an image view.
struct MapImage {
    /// View of type VK_IMAGE_VIEW_TYPE_2D_ARRAY with the MapShape's format, one mip level and all
    /// layers, of an image with VK_IMAGE_USAGE_SAMPLED_BIT. Depth formats: the depth aspect.
    VkImageView view = VK_NULL_HANDLE;
    /// Layout of the image when the commands execute: SHADER_READ_ONLY_OPTIMAL, GENERAL, or one of
    /// the read-only depth layouts.
    VkImageLayout layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
};

/// A range of the caller's buffer.
struct BufferRange {
    VkBuffer buffer = VK_NULL_HANDLE;  ///< owned by the caller
    VkDeviceSize offset_bytes = 0;     ///< a multiple of Requirements::alignment_bytes
};

/// Returns the VkFormat of a texel format.
[[nodiscard]] QUADTILE_API VkFormat vk_format(TexelFormat format) noexcept;

/// An image of the caller with its creation parameters.
struct ImageResource {
    VkImage image = VK_NULL_HANDLE;  ///< owned by the caller
    /// Creation parameters of the image; pNext is ignored.
    VkImageCreateInfo created = {};
    /// Layout of the image when the commands execute.
    VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
};

}  // namespace quadtile
