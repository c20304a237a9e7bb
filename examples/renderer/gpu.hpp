// Parts of every Vulkan program: instance, device, queue, memory, pipelines. The only part of
// quadtile are the handles that it receives.

#pragma once

#include <quadtile/device.hpp>

// This program's configuration of Vulkan-Hpp. It is independent of quadtile's, since the two
// exchange only C handles, to which those of vk:: convert.
#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_NO_CONSTRUCTORS
#include <vulkan/vulkan.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace renderer {

constexpr vk::ImageSubresourceRange COLOUR_RANGE{
    .aspectMask = vk::ImageAspectFlagBits::eColor, .levelCount = 1, .layerCount = 1};
constexpr vk::Format DEPTH_FORMAT = vk::Format::eD32Sfloat;
constexpr vk::ImageSubresourceRange DEPTH_RANGE{
    .aspectMask = vk::ImageAspectFlagBits::eDepth, .levelCount = 1, .layerCount = 1};

struct Buffer {
    vk::UniqueDeviceMemory memory;
    vk::UniqueBuffer handle;
    std::byte* mapped = nullptr;  // null if the host cannot access it
};

struct Image {
    vk::UniqueDeviceMemory memory;
    vk::UniqueImage handle;
    vk::UniqueImageView view;
};

// Stages and kinds of an access.
struct Scope {
    vk::PipelineStageFlags2 stages;
    vk::AccessFlags2 accesses;
};
void memory_barrier(vk::CommandBuffer commands, const Scope& before, const Scope& after);
void change_layout(vk::CommandBuffer commands, const Image& image,
                   const vk::ImageSubresourceRange& range, vk::ImageLayout from, vk::ImageLayout to,
                   const Scope& before, const Scope& after);

// One descriptor set, and the layout of all pipelines that use it.
struct Interface {
    // Binds a pipeline and the set, and pushes the constants.
    template <typename PushConstants>
    void bind(vk::CommandBuffer commands, vk::PipelineBindPoint point, vk::Pipeline pipeline,
              const PushConstants& constants) const {
        commands.bindPipeline(point, pipeline);
        commands.bindDescriptorSets(point, *layout, 0, set, {});
        commands.pushConstants<PushConstants>(*layout, stages, 0, constants);
    }

    vk::ShaderStageFlags stages;
    vk::UniqueDescriptorSetLayout set_layout;
    vk::UniqueDescriptorPool pool;
    vk::DescriptorSet set;
    vk::UniquePipelineLayout layout;
};

using SpirV = std::span<const std::uint32_t>;
using Recorder = std::function<void(vk::CommandBuffer)>;

class Gpu {
 public:
    // Throws std::runtime_error with each device's reason if none is suitable. The validation layer
    // is on if `validation_messages` is not null: prints its messages and counts them there.
    explicit Gpu(std::atomic<std::uint32_t>* validation_messages);

    [[nodiscard]] vk::Device device() const { return *device_; }
    [[nodiscard]] std::uint32_t queue_family() const { return queue_family_; }
    [[nodiscard]] vk::Queue queue() const { return queue_; }

    // Returns the device for quadtile, which never destroys it. This Gpu must outlive its uses.
    [[nodiscard]] quadtile::AdoptedDevice for_quadtile() const;

    // Waits for submitted work; a minute at most, then the program ends with an error.
    void wait(vk::Fence fence);
    // The same for all work of the queue.
    void wait_idle() noexcept;
    // Records, submits and waits, for work that is done once.
    void run(const Recorder& record);
    // Returns an image of four bytes per pixel that the queue's earlier work has left in `layout`.
    // Leaves it in the layout TRANSFER_SRC_OPTIMAL.
    [[nodiscard]] std::vector<std::byte> download(
        const Image& picture, vk::Extent2D extent,
        vk::ImageLayout layout = vk::ImageLayout::eColorAttachmentOptimal);

    [[nodiscard]] Buffer make_buffer(vk::DeviceSize size_bytes, vk::BufferUsageFlags usage,
                                     bool host_visible = false) const;
    // Makes an image with a view of type 2D_ARRAY, which quadtile needs for maps.
    [[nodiscard]] Image make_image(vk::Extent2D extent, vk::Format format,
                                   vk::ImageUsageFlags usage) const;
    // Binding 0 and the next are storage images in layout GENERAL, then come storage buffers.
    [[nodiscard]] Interface make_interface(vk::ShaderStageFlags stages,
                                           std::span<const vk::ImageView> images,
                                           std::span<const vk::Buffer> buffers,
                                           std::size_t push_constants_size_bytes) const;
    [[nodiscard]] vk::UniquePipeline make_compute_pipeline(vk::PipelineLayout layout,
                                                           SpirV shader) const;
    // Makes a pipeline that draws triangle strips without vertex buffers into one colour image.
    // With depth: triangle lists, into a depth image of DEPTH_FORMAT that keeps the greatest depth.
    [[nodiscard]] vk::UniquePipeline make_draw_pipeline(vk::PipelineLayout layout,
                                                        SpirV vertex_shader, SpirV fragment_shader,
                                                        vk::Format colour_format,
                                                        bool with_depth = false) const;

 private:
    void make_instance(std::atomic<std::uint32_t>* validation_messages);
    void choose_physical_device();
    void make_device();
    [[nodiscard]] vk::UniqueDeviceMemory allocate(const vk::MemoryRequirements& requirements,
                                                  bool host_visible) const;
    [[nodiscard]] vk::UniqueShaderModule make_shader(SpirV words) const;

    vk::DynamicLoader loader_;
    vk::UniqueInstance instance_;
    vk::UniqueDebugUtilsMessengerEXT messenger_;
    vk::PhysicalDevice physical_device_;
    std::uint32_t queue_family_ = 0;
    vk::UniqueDevice device_;
    vk::Queue queue_;
};

// Frames, of which two may be in flight.
class Frames {
 public:
    explicit Frames(Gpu& gpu);
    // Waits, because a frame may still use the caller's resources.
    ~Frames() { gpu_.wait_idle(); }
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;

    // Records a frame and submits it. Waits only until the frame before the last one is done, whose
    // command buffer it takes.
    void submit(const Recorder& record);

 private:
    // Resources that the host writes for a frame while the GPU may still run the one before.
    struct Frame {
        vk::UniqueCommandBuffer commands;
        vk::UniqueFence done;
    };

    Gpu& gpu_;
    vk::UniqueCommandPool pool_;
    std::array<Frame, 2> frames_;
    std::size_t count_ = 0;
};

}  // namespace renderer
