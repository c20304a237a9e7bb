// The Vulkan device of an app, and what every Vulkan program has: memory, pipelines, submission.

#pragma once

#include <quadtile/device.hpp>

// Between this Vulkan-Hpp and quadtile's own there are handles of C.
#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_NO_CONSTRUCTORS
#include <vulkan/vulkan.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::app {

// All that colour images have.
constexpr vk::ImageSubresourceRange COLOUR_RANGE{.aspectMask = vk::ImageAspectFlagBits::eColor,
                                                 .levelCount = VK_REMAINING_MIP_LEVELS,
                                                 .layerCount = VK_REMAINING_ARRAY_LAYERS};

// The instance, and the validation layer where it is asked for. One at a time: Vulkan-Hpp's
// dispatcher is a global.
class Instance {
 public:
    // `extensions` are those of the window system; none: no window. Throws std::runtime_error where
    // there is no driver, or no validation layer that was asked for.
    Instance(const char* application, std::span<const char* const> extensions, bool validation);

    [[nodiscard]] vk::Instance handle() const { return *instance_; }
    [[nodiscard]] bool validates() const {
        return messenger_.get() != vk::DebugUtilsMessengerEXT();
    }
    // Messages of the validation layer so far; they were printed.
    [[nodiscard]] std::uint32_t validation_messages() const { return validation_messages_; }

 private:
    std::atomic<std::uint32_t> validation_messages_ = 0;
    vk::UniqueInstance instance_;
    vk::UniqueDebugUtilsMessengerEXT messenger_;
};

// A device for the user to choose from.
struct DeviceChoice {
    std::string name;
    std::string objection;  // why it cannot be used; empty: it can
};

struct Buffer {
    vk::UniqueDeviceMemory memory;
    vk::UniqueBuffer handle;
    std::byte* mapped = nullptr;  // where the host sees it
    vk::DeviceSize size_bytes = 0;
};

struct Image {
    vk::UniqueDeviceMemory memory;
    vk::UniqueImage handle;
    vk::UniqueImageView view;
    vk::ImageCreateInfo created;  // without pNext
    vk::Extent2D extent;
};

// What programs that take the same descriptors and push constants have in common: a set of
// descriptors, and the layout of their pipelines.
struct ProgramInterface {
    // The whole buffers, at the bindings from `first` on.
    void write(std::uint32_t first, std::span<const vk::Buffer> buffers) const;
    void write(std::uint32_t binding, const vk::DescriptorBufferInfo& part) const;
    void write(std::uint32_t binding, vk::ImageView image,
               vk::ImageLayout image_layout = vk::ImageLayout::eShaderReadOnlyOptimal,
               vk::Sampler sampler = {}) const;
    // Before draws or dispatches of the pipeline. Push constants are those of all stages of the
    // interface.
    void bind(vk::CommandBuffer commands, vk::Pipeline pipeline, vk::PipelineBindPoint point) const;
    template <typename PushConstants>
    void push(vk::CommandBuffer commands, const PushConstants& push_constants) const {
        commands.pushConstants<PushConstants>(*layout, stages, 0, push_constants);
    }
    template <typename PushConstants>
    void bind(vk::CommandBuffer commands, vk::Pipeline pipeline,
              const PushConstants& push_constants) const {
        bind(commands, pipeline,
             stages == vk::ShaderStageFlagBits::eCompute ? vk::PipelineBindPoint::eCompute
                                                         : vk::PipelineBindPoint::eGraphics);
        push(commands, push_constants);
    }

    vk::ShaderStageFlags stages;
    std::vector<vk::DescriptorType> types;  // by binding
    vk::UniqueDescriptorSetLayout set_layout;
    vk::UniqueDescriptorPool pool;
    vk::DescriptorSet set;
    vk::UniquePipelineLayout layout;
};

enum class MemoryUse {
    device,    // for the GPU alone
    upload,    // written by the host
    readback,  // read by the host
};

using SpirV = std::span<const std::uint32_t>;

// State in which something opaque is drawn, from both sides.
struct DrawState {
    SpirV vertex_shader;
    SpirV fragment_shader{};                              // none: depth alone
    vk::PipelineVertexInputStateCreateInfo vertices{};    // of triangles; none: a strip without
    std::uint32_t colours = 1;                            // that are written
    std::optional<vk::CompareOp> compare = std::nullopt;  // with a depth buffer that is written
    bool clamps_depth = false;  // else what is nearer or farther is cut off
};

// Not thread-safe: one thread records, submits and waits.
class Gpu {
 public:
    // `select` as in DeviceOptions: empty: QUADTILE_DEVICE, else the best. `surface` is what the
    // device must present to; null: nothing. Of several that are as good, it is the one with the
    // number `turn`, counted round and round. Throws std::runtime_error where no device will do,
    // with the reason for each.
    Gpu(const Instance& instance, const std::string& select, vk::SurfaceKHR surface,
        std::size_t turn = 0);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    // In the loader's order, as `select` counts them.
    [[nodiscard]] const std::vector<DeviceChoice>& choices() const { return choices_; }
    [[nodiscard]] std::size_t chosen() const { return chosen_; }

    [[nodiscard]] vk::Instance instance() const { return instance_; }
    [[nodiscard]] vk::PhysicalDevice physical_device() const { return physical_device_; }
    [[nodiscard]] vk::Device device() const { return *device_; }
    [[nodiscard]] std::uint32_t queue_family() const { return queue_family_; }
    [[nodiscard]] vk::Queue queue() const { return queue_; }
    // lavapipe ends all loops of a thread, without an error, after 65,535 iterations together
    // (LP_MAX_TGSI_LOOP_ITERATIONS of Mesa).
    [[nodiscard]] bool ends_long_loops() const { return ends_long_loops_; }
    // That one tick of a timestamp takes; 0: the queue has no timestamps.
    [[nodiscard]] double timestamp_milliseconds() const { return timestamp_milliseconds_; }

    // The device for quadtile, which never destroys it. This Gpu must outlive what is made with it.
    [[nodiscard]] quadtile::AdoptedDevice for_quadtile(const std::string& cache_directory) const;

    // Submits and waits: here the host always knows what it shows. Throws vk::DeviceLostError also
    // for work that does not end within a minute.
    void run(const std::function<void(vk::CommandBuffer)>& record);

    // From the beginning of a buffer of the device on; waits.
    void upload(vk::Buffer target, std::span<const std::byte> bytes);

    [[nodiscard]] Buffer make_buffer(vk::DeviceSize size_bytes, vk::BufferUsageFlags usage,
                                     MemoryUse use = MemoryUse::device) const;
    // A buffer of the device with these bytes; readable by all that is recorded later.
    [[nodiscard]] Buffer upload(std::span<const std::byte> bytes, vk::BufferUsageFlags usage);
    // With a view of type 2D_ARRAY for maps, as quadtile takes them, and 2D for all others; of all
    // layers and levels. D32_SFLOAT is the only format that is not one of colours.
    [[nodiscard]] Image make_image(vk::Extent2D extent, vk::Format format,
                                   vk::ImageUsageFlags usage, vk::ImageViewType view_type,
                                   std::uint32_t layers = 1, std::uint32_t levels = 1) const;
    [[nodiscard]] Image make_image(const vk::ImageCreateInfo& create,
                                   vk::ImageViewType view_type) const;
    [[nodiscard]] vk::UniqueFramebuffer make_framebuffer(
        vk::RenderPass pass, vk::Extent2D extent, std::span<const vk::ImageView> attachments) const;
    [[nodiscard]] ProgramInterface make_interface(vk::ShaderStageFlags stages,
                                                  std::vector<vk::DescriptorType> types,
                                                  std::size_t push_constants_size_bytes = 0) const;
    // `constant`: of the shader's specialization constant 0, where it has one.
    [[nodiscard]] vk::UniquePipeline make_compute_pipeline(vk::PipelineLayout layout, SpirV shader,
                                                           bool constant = false) const;
    // Viewport and scissor are dynamic.
    [[nodiscard]] vk::UniquePipeline make_draw_pipeline(vk::PipelineLayout layout,
                                                        vk::RenderPass render_pass,
                                                        const DrawState& state) const;

 private:
    void choose_physical_device(const std::string& select, vk::SurfaceKHR surface,
                                std::size_t turn);
    void make_device(bool presents);
    [[nodiscard]] vk::UniqueDeviceMemory allocate(const vk::MemoryRequirements& requirements,
                                                  MemoryUse use) const;
    [[nodiscard]] vk::UniqueShaderModule make_shader(SpirV words) const;

    vk::Instance instance_;
    bool validates_;
    vk::PhysicalDevice physical_device_;
    std::vector<DeviceChoice> choices_;
    std::size_t chosen_ = 0;
    std::uint32_t queue_family_ = 0;
    bool ends_long_loops_ = false;
    double timestamp_milliseconds_ = 0.0;
    quadtile::Features enabled_;
    vk::UniqueDevice device_;
    vk::Queue queue_;
    vk::UniqueCommandPool command_pool_;
    vk::UniqueCommandBuffer commands_;
    vk::UniqueFence done_;
};

// The time that the GPU takes for the parts of a recording.
class GpuTimer {
 public:
    // `marks`: in a recording, the one of begin() included.
    explicit GpuTimer(const Gpu& gpu, std::uint32_t marks = 2);

    // Mark 0; outside a render pass.
    void begin(vk::CommandBuffer commands);
    // When all work before has ended. Each mark once a recording.
    void mark(vk::CommandBuffer commands, std::uint32_t number) const;
    void end(vk::CommandBuffer commands) const { mark(commands, 1); }

    // Of the last recording, milliseconds from mark 0 to each mark; none: no timestamps, or it has
    // not executed to its end.
    [[nodiscard]] std::optional<std::vector<double>> marks() const;
    // To mark 1.
    [[nodiscard]] std::optional<double> milliseconds() const;

 private:
    vk::Device device_;
    double tick_milliseconds_;
    std::uint32_t count_;
    bool has_begun_ = false;
    vk::UniqueQueryPool queries_;  // none: the queue has no timestamps
};

// Of the device, by Vulkan-Hpp or quadtile: nothing can go on with it.
[[nodiscard]] bool is_device_loss(const std::exception& error);

// Between work that was recorded before and after, for memory of all kinds.
struct Scope {
    vk::PipelineStageFlags stages;
    vk::AccessFlags accesses;
};
inline constexpr Scope ALL_WRITES{vk::PipelineStageFlagBits::eAllCommands,
                                  vk::AccessFlagBits::eMemoryWrite};
inline constexpr Scope ALL_USES{vk::PipelineStageFlagBits::eAllCommands,
                                vk::AccessFlagBits::eMemoryRead | vk::AccessFlagBits::eMemoryWrite};
inline constexpr Scope HOST_READS{vk::PipelineStageFlagBits::eHost, vk::AccessFlagBits::eHostRead};
void memory_barrier(vk::CommandBuffer commands, const Scope& before = ALL_WRITES,
                    const Scope& after = ALL_USES);
// Over the whole framebuffer, which has this extent.
void begin_render_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                       vk::Extent2D extent, std::span<const vk::ClearValue> clear);
void change_layout(vk::CommandBuffer commands, vk::Image image, vk::ImageLayout from,
                   vk::ImageLayout to, const Scope& before, const Scope& after,
                   const vk::ImageSubresourceRange& range = COLOUR_RANGE);

}  // namespace quadtile::app
