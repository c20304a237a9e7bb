/// \file
/// The Vulkan device that quadtile works on: made by quadtile or adopted from the host application.

#pragma once

#include <quadtile/export.h>

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile {

namespace detail {
class DeviceContext;
}

/// Optional features: a kernel uses one where it is on and has an equal path where it is off.
struct Features {
    /// Shuffle, ballot and arithmetic in compute shaders with full subgroups of a known size, 4 to
    /// 128 (subgroupSizeControl and computeFullSubgroups enabled on the device).
    bool subgroup_operations = false;
    /// MIN and MAX reduction samplers (samplerFilterMinmax); used for extremes of unorm formats.
    bool sampler_minmax = false;
    /// Storage images of any format, written without naming it in the shader
    /// (shaderStorageImageWriteWithoutFormat, shaderStorageImageExtendedFormats). Downsampler
    /// stores levels so; without it only blits are left.
    bool storage_image_formats = false;
    /// Choosing among storage images at run time (shaderStorageImageArrayDynamicIndexing).
    bool storage_image_dynamic_indexing = false;
};

/// What one Vulkan device of this machine can do, and why it cannot be used where it cannot.
struct DeviceInfo {
    std::uint32_t index = 0;  ///< position in enumerate()
    std::string name;         ///< of the device, as the driver gives it
    std::string type;         ///< "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
    std::string driver;       ///< name and version as the driver gives them
    std::uint32_t api_version = 0;  ///< of Vulkan, as VK_MAKE_API_VERSION packs it

    Features features;                     ///< supported
    bool timestamps = false;               ///< of the GPU, on the compute queue that quadtile takes
    std::uint32_t subgroup_size = 0;       ///< threads; the device's own size
    std::uint32_t max_map_extent = 0;      ///< texels on a side
    std::uint32_t max_layers = 0;          ///< of a map
    std::uint64_t max_tiles = 0;           ///< longest tile list that the kernels can write
    std::uint64_t local_memory_bytes = 0;  ///< largest device-local heap

    std::vector<std::string> rejections;  ///< empty: quadtile can use it
    /// Whether quadtile can use it.
    [[nodiscard]] bool usable() const noexcept { return rejections.empty(); }
};

/// How bad what a log message tells of is.
enum class Severity {
    info,     ///< for the curious
    warning,  ///< worth a look
    error,    ///< something is wrong
};
/// Takes a message, which lives as long as the call.
using LogCallback = std::function<void(Severity, std::string_view)>;

/// Limits below the device's own. 0 leaves the device's. They let tests reach the code that large
/// inputs need.
struct LimitOverrides {
    std::uint32_t max_workgroup_count = 0;             ///< per dispatch dimension
    std::uint64_t max_storage_buffer_range_bytes = 0;  ///< of a descriptor
    std::uint32_t max_storage_images = 0;              ///< in a shader stage
};

/// How Device::create chooses and makes a device.
struct DeviceOptions {
    /// Number (position in enumerate()) or part of the name, case-insensitive. Empty: the
    /// environment variable QUADTILE_DEVICE; where that is empty too, the best usable device.
    std::string select;
    /// Turns on the Khronos validation layer with synchronisation validation; its messages go to
    /// `log`. Throws Error(unsupported) where the layer is not installed.
    bool validation = false;
    /// Called from any thread that makes Vulkan calls; must be thread-safe. May be empty.
    LogCallback log;
    /// Features that are not used though the device has them.
    Features disabled;
    LimitOverrides limits;  ///< none by default
    /// The entry of a Vulkan loader that the host has opened or is linked with (volk, a static
    /// loader). It must stay open as long as anything made from the Device. Null: libvulkan.so.1 is
    /// opened.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    /// A folder, made where it is missing, in which compiled pipelines and GLSL of the user's are
    /// kept from one run of the program to the next; several programs may share it. Nothing in it
    /// is ever deleted, all of it may be at any time. Where it cannot be read or written a warning
    /// goes to `log`, and things take longer. Empty: the environment variable
    /// QUADTILE_CACHE_DIRECTORY; where that is empty too, nothing is kept.
    std::string cache_directory;
};

/// Submits work to a queue of the host's, as vkQueueSubmit with one VkSubmitInfo does, and returns
/// what that returns.
using SubmitFunction = std::function<VkResult(const VkSubmitInfo&, VkFence)>;

/// Handles of the host application's device. Needs Vulkan 1.2 with the features vulkanMemoryModel
/// and vulkanMemoryModelDeviceScope enabled, and a queue of a family with compute.
struct AdoptedDevice {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;  ///< the loader's entry point
    VkInstance instance = VK_NULL_HANDLE;                        ///< made for Vulkan 1.2 or later
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;           ///< that `device` was made of
    VkDevice device = VK_NULL_HANDLE;                            ///< stays the host's
    /// Used by Tiler, Mipmapper and Service alone. May be null where only the recording layer
    /// (Pyramid, Downsampler, Subdivider) is used. Submissions through one Device come one after
    /// the other; where others use the queue too, `submit` must order them.
    VkQueue queue = VK_NULL_HANDLE;
    /// Of `queue`, and of the queues that recorded command buffers are submitted to; has compute.
    std::uint32_t queue_family = 0;
    /// Instead of vkQueueSubmit on `queue`, which may then be null: with the host's lock held, or
    /// on the thread that owns the queue. Called from the threads that call the library and from
    /// those of Services, at the same time from several; must not throw.
    SubmitFunction submit;
    /// Optional features that the host enabled when it made the device.
    Features enabled;
    /// Whether the host enabled VK_EXT_debug_utils: then quadtile names its objects, and labels
    /// what it records, for frame debuggers and validation messages.
    bool debug_utils = false;
    LogCallback log;        ///< as DeviceOptions::log; may be empty
    LimitOverrides limits;  ///< none by default
    /// As DeviceOptions::cache_directory, but empty means none.
    std::string cache_directory;
    /// The host's own cache, from which pipelines are made and to which they go. Null: one of
    /// quadtile's, kept in cache_directory.
    VkPipelineCache pipeline_cache = VK_NULL_HANDLE;
};

/// A device, its compute queue and what the kernels may use of it.
///
/// Copies share the device; what is made from it keeps it alive. Thread-safe: Tilers, Mipmappers
/// and Services of several threads share its queue.
class QUADTILE_API Device {
 public:
    /// Picks a device (discrete before integrated before virtual GPUs, then CPU drivers; among
    /// equals the one with more memory), creates it, owns it. Throws Error(no_device) with the
    /// reason for each device that was passed over.
    [[nodiscard]] static Device create(const DeviceOptions& options = {});

    /// Uses the host's device and never destroys it; the host keeps it alive as long as anything
    /// made from this Device. Throws Error(invalid_argument) for null handles, Error(unsupported)
    /// for a device that lacks what the kernels need.
    [[nodiscard]] static Device adopt(const AdoptedDevice& host);

    /// All Vulkan devices of this machine in the loader's order; the loader as in DeviceOptions.
    /// Throws Error(no_device) where there is no Vulkan loader.
    [[nodiscard]] static std::vector<DeviceInfo> enumerate(
        PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr);

    /// Whether the Khronos validation layer is installed. Throws as enumerate().
    [[nodiscard]] static bool validation_available(
        PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr);

    /// `features` are those in use: supported, and enabled by the host or not disabled.
    [[nodiscard]] const DeviceInfo& info() const noexcept;

    /// The instance; it lives as long as the device.
    [[nodiscard]] VkInstance instance() const noexcept;
    /// What the device was made of.
    [[nodiscard]] VkPhysicalDevice physical_device() const noexcept;
    /// The device: quadtile's own, destroyed with the last copy of this, or the host's.
    [[nodiscard]] VkDevice handle() const noexcept;
    /// The queue that work is submitted to; null where the host has given none. Others that use it
    /// meanwhile need AdoptedDevice::submit.
    [[nodiscard]] VkQueue queue() const noexcept;
    /// Of the queue: command buffers to record into are of pools of this family.
    [[nodiscard]] std::uint32_t queue_family() const noexcept;
    /// Whether VK_EXT_debug_utils is enabled, so that objects can be named for frame debuggers.
    [[nodiscard]] bool debug_utils() const noexcept;
    /// The loader's entry point, for callers that make Vulkan calls of their own.
    [[nodiscard]] PFN_vkGetInstanceProcAddr get_instance_proc_addr() const noexcept;

    /// Writes the pipelines that were compiled so far to the cache directory, as happens anyway
    /// when this Device and all that was made from it are gone. Nothing without such a directory,
    /// and with a host's pipeline cache. Thread-safe; does not throw, warnings go to the log.
    void save_pipeline_cache() const;

    /// For the library's own use.
    [[nodiscard]] const std::shared_ptr<detail::DeviceContext>& context() const noexcept {
        return context_;
    }

 private:
    explicit Device(std::shared_ptr<detail::DeviceContext> context);

    std::shared_ptr<detail::DeviceContext> context_;
};

}  // namespace quadtile
