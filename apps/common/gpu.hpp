// Work on a Vulkan device for programs, tests and benchmarks: memory, pipelines, submission.

#pragma once

#include <quadtile/tile_list.h>
#include <quadtile/device.hpp>

// quadtile has a Vulkan-Hpp of its own; the two exchange C handles.
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

// All subresources of a colour image.
constexpr vk::ImageSubresourceRange COLOUR_RANGE{.aspectMask = vk::ImageAspectFlagBits::eColor,
                                                 .levelCount = VK_REMAINING_MIP_LEVELS,
                                                 .layerCount = VK_REMAINING_ARRAY_LAYERS};

// The instance, with the validation layer if requested. One at a time, because Vulkan-Hpp's
// dispatcher is a global.
class Instance {
 public:
    // `extensions` are those of the window system; none: no window. Throws std::runtime_error if
    // there is no driver, or no requested validation layer.
    Instance(const char* application, std::span<const char* const> extensions, bool validation);

    [[nodiscard]] vk::Instance handle() const { return *instance_; }
    [[nodiscard]] bool validates() const {
        return messenger_.get() != vk::DebugUtilsMessengerEXT();
    }
    // Returns the number of messages of the validation layer so far; they were printed.
    [[nodiscard]] std::uint32_t validation_messages() const { return validation_messages_; }

 private:
    std::atomic<std::uint32_t> validation_messages_ = 0;
    vk::UniqueInstance instance_;
    vk::UniqueDebugUtilsMessengerEXT messenger_;
};

struct Buffer {
    vk::UniqueDeviceMemory memory;
    vk::UniqueBuffer handle;
    std::byte* mapped = nullptr;  // address on the host
    vk::DeviceSize size_bytes = 0;
};

struct Image {
    vk::UniqueDeviceMemory memory;
    vk::UniqueImage handle;
    vk::UniqueImageView view;
    vk::ImageCreateInfo created;  // without pNext
    vk::Extent2D extent;
};

// Common parts of programs with the same descriptors and push constants: a descriptor set, and the
// layout of their pipelines.
struct ProgramInterface {
    // Writes whole buffers, at the bindings from `first` on.
    void write(std::uint32_t first, std::span<const vk::Buffer> buffers) const;
    void write(std::uint32_t binding, const vk::DescriptorBufferInfo& part) const;
    void write(std::uint32_t binding, vk::ImageView image,
               vk::ImageLayout image_layout = vk::ImageLayout::eShaderReadOnlyOptimal,
               vk::Sampler sampler = {}, std::uint32_t element = 0) const;
    // Binds the pipeline before draws or dispatches. Push constants are visible to all stages of
    // the interface.
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
    device,    // for the GPU only
    upload,    // written by the host
    readback,  // read by the host
};

using SpirV = std::span<const std::uint32_t>;

// State for opaque, two-sided draws.
struct DrawState {
    SpirV vertex_shader;
    SpirV fragment_shader{};                              // none: depth only
    vk::PipelineVertexInputStateCreateInfo vertices{};    // of triangles; none: a strip
    std::uint32_t colours = 1;                            // number of colours that are written
    std::optional<vk::CompareOp> compare = std::nullopt;  // with a depth buffer that is written
    bool clamps_depth = false;  // else nearer and farther fragments are clipped
};

// Work that runs while the host goes on (Gpu::start). It ends before what it uses is destroyed.
struct Submission {
    vk::UniqueCommandBuffer commands;
    vk::UniqueFence done;
    bool is_running = false;
};

// A device with its queue. Not thread-safe: one thread records, submits and waits.
class Gpu {
 public:
    // Works on quadtile's device. `submit` submits to its queue; empty: vkQueueSubmit does. Several
    // of these may exist, in several threads.
    explicit Gpu(const quadtile::Device& device, SubmitFunction submit = {});
    // Chooses a device that draws, and owns it. `select` as in DeviceOptions; empty:
    // QUADTILE_DEVICE, else the best. `surface`: target that the device must present to; null:
    // none. Of several equal devices, it takes number `turn` modulo their number, choices(). Throws
    // std::runtime_error, with the reason for each device, if none can be used.
    Gpu(const Instance& instance, const std::string& select, vk::SurfaceKHR surface,
        std::size_t turn = 0);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    [[nodiscard]] vk::Instance instance() const { return instance_; }
    // Returns the number of equal devices that it was chosen from.
    [[nodiscard]] std::size_t choices() const { return choices_; }
    [[nodiscard]] vk::PhysicalDevice physical_device() const { return physical_device_; }
    [[nodiscard]] vk::Device device() const { return device_; }
    [[nodiscard]] std::uint32_t queue_family() const { return queue_family_; }
    [[nodiscard]] vk::Queue queue() const { return queue_; }
    // Returns whether loops end early: lavapipe ends all loops of a thread, without an error, after
    // 65,535 iterations together (LP_MAX_TGSI_LOOP_ITERATIONS of Mesa).
    [[nodiscard]] bool ends_long_loops() const { return ends_long_loops_; }
    // Returns the duration of one tick of a timestamp; 0: the queue has no timestamps.
    [[nodiscard]] double timestamp_milliseconds() const { return timestamp_milliseconds_; }

    // Returns the device for quadtile, which never destroys it. This Gpu must outlive everything
    // made with it, and the pipeline cache until the device is adopted.
    [[nodiscard]] quadtile::AdoptedDevice for_quadtile(
        std::span<const std::byte> pipeline_cache = {}, DeviceCheck check = DeviceCheck::off) const;

    // Records, submits and waits as wait() does, so the host always knows the GPU's state.
    void run(const std::function<void(vk::CommandBuffer)>& record);
    // The same in two steps. Submissions run in the order of their starts.
    [[nodiscard]] Submission make_submission() const;
    void start(Submission& submission, const std::function<void(vk::CommandBuffer)>& record);
    void finish(Submission& submission) const;

    // Waits for submitted work. Work that does not end within a minute (10 on CPU drivers, which
    // also compile then) ends the process with an error, because nothing that the work uses can be
    // destroyed.
    void wait(vk::Fence fence) const;
    // The same for all work of the queue, and what it presents. Ignores a loss of the device.
    void wait_idle() const noexcept;

    // Writes to a buffer of the device from `first` on, and waits.
    void upload(vk::Buffer target, std::span<const std::byte> bytes, vk::DeviceSize first = 0);
    // Reads what earlier commands have written, from `first` on.
    void download(vk::Buffer source, vk::DeviceSize first, std::span<std::byte> bytes);
    // Writes all of level 0 and changes the layout of all levels. Texels: layer by layer, rows from
    // the top, without padding.
    void upload(const Image& image, vk::ImageLayout from, vk::ImageLayout to,
                std::span<const std::byte> texels);
    // Reads a level of an image in this layout.
    [[nodiscard]] std::vector<std::byte> download(const Image& image, vk::ImageLayout layout,
                                                  std::size_t texel_bytes, std::uint32_t level = 0);

    [[nodiscard]] Buffer make_buffer(vk::DeviceSize size_bytes, vk::BufferUsageFlags usage,
                                     MemoryUse use = MemoryUse::device) const;
    // Makes a buffer of the device with these bytes, readable by all commands recorded later.
    [[nodiscard]] Buffer upload(std::span<const std::byte> bytes, vk::BufferUsageFlags usage);
    // Makes an image with a view of all layers and levels: of type 2D_ARRAY for maps, as quadtile
    // needs it, and 2D for others. D32_SFLOAT and D16_UNORM are the only formats of depth.
    [[nodiscard]] Image make_image(vk::Extent2D extent, vk::Format format,
                                   vk::ImageUsageFlags usage, vk::ImageViewType view_type,
                                   std::uint32_t layers = 1, std::uint32_t levels = 1) const;
    [[nodiscard]] Image make_image(const vk::ImageCreateInfo& create,
                                   std::optional<vk::ImageViewType> view_type) const;
    [[nodiscard]] vk::UniqueFramebuffer make_framebuffer(
        vk::RenderPass pass, vk::Extent2D extent, std::span<const vk::ImageView> attachments) const;
    // The last binding is an array of `last_count` descriptors.
    [[nodiscard]] ProgramInterface make_interface(vk::ShaderStageFlags stages,
                                                  std::vector<vk::DescriptorType> types,
                                                  std::size_t push_constants_size_bytes = 0,
                                                  std::uint32_t last_count = 1) const;
    // `constant`: value of the shader's specialization constant 0, a bool or a uint, if it has one.
    [[nodiscard]] vk::UniquePipeline make_compute_pipeline(vk::PipelineLayout layout, SpirV shader,
                                                           std::uint32_t constant = 0) const;
    // Viewport and scissor are dynamic.
    [[nodiscard]] vk::UniquePipeline make_draw_pipeline(vk::PipelineLayout layout,
                                                        vk::RenderPass render_pass,
                                                        const DrawState& state) const;

 private:
    void begin();
    void choose_physical_device(const std::string& select, vk::SurfaceKHR surface,
                                std::size_t turn);
    void make_device(bool presents);
    [[nodiscard]] vk::UniqueDeviceMemory allocate(const vk::MemoryRequirements& requirements,
                                                  MemoryUse use) const;
    [[nodiscard]] vk::UniqueShaderModule make_shader(SpirV words) const;

    vk::Instance instance_;
    bool validates_ = false;  // of an own device
    vk::PhysicalDevice physical_device_;
    std::size_t choices_ = 1;
    std::uint32_t queue_family_ = 0;
    bool ends_long_loops_ = false;
    std::uint64_t longest_run_minutes_ = 1;
    double timestamp_milliseconds_ = 0.0;
    quadtile::Features enabled_;
    vk::UniqueDevice own_;  // none: the device is quadtile's
    vk::Device device_;
    vk::Queue queue_;
    SubmitFunction submit_;
    vk::UniqueCommandPool command_pool_;
    Submission run_;
};

// Times that the GPU takes for the parts of a recording.
class GpuTimer {
 public:
    // `marks`: number of marks in a recording, with that of begin().
    explicit GpuTimer(const Gpu& gpu, std::uint32_t marks = 2);

    // Sets mark 0; outside a render pass.
    void begin(vk::CommandBuffer commands);
    // Sets a mark after all earlier work has ended. Each mark once per recording.
    void mark(vk::CommandBuffer commands, std::uint32_t number) const;
    void end(vk::CommandBuffer commands) const { mark(commands, 1); }

    // Returns the milliseconds from mark 0 to each mark of the last recording; none: no timestamps,
    // or it has not finished.
    [[nodiscard]] std::optional<std::vector<double>> marks() const;
    // Returns the milliseconds to mark 1.
    [[nodiscard]] std::optional<double> milliseconds() const;

 private:
    vk::Device device_;
    double tick_milliseconds_;
    std::uint32_t count_;
    bool has_begun_ = false;
    vk::UniqueQueryPool queries_;  // none: the queue has no timestamps
};

// Returns whether an error of Vulkan-Hpp or quadtile is the loss of the device, after which nothing
// can go on.
[[nodiscard]] bool is_device_loss(const std::exception& error);

// Scope of a barrier between earlier and later work, for memory of all kinds.
struct Scope {
    vk::PipelineStageFlags stages;
    vk::AccessFlags accesses;
};
inline constexpr Scope ALL_WRITES{vk::PipelineStageFlagBits::eAllCommands,
                                  vk::AccessFlagBits::eMemoryWrite};
inline constexpr Scope ALL_USES{vk::PipelineStageFlagBits::eAllCommands,
                                vk::AccessFlagBits::eMemoryRead | vk::AccessFlagBits::eMemoryWrite};
inline constexpr Scope HOST_READS{vk::PipelineStageFlagBits::eHost, vk::AccessFlagBits::eHostRead};
// Throws Error(unsupported) for a list of a failed run (TILE_LIST_INCOMPLETE).
void check_complete(const TileListHeader& header);

void memory_barrier(vk::CommandBuffer commands, const Scope& before = ALL_WRITES,
                    const Scope& after = ALL_USES);
// Returns an attachment of a render pass that clears it.
[[nodiscard]] vk::AttachmentDescription cleared(vk::Format format, vk::ImageLayout final_layout);
// Makes a render pass: first the depth buffer, if there is one, then colours. Earlier writes of
// draws, and what is ordered before COMPUTE_SHADER or TRANSFER, come before it; COMPUTE_SHADER,
// FRAGMENT_SHADER and TRANSFER read after it.
[[nodiscard]] vk::UniqueRenderPass make_render_pass(
    vk::Device device, std::span<const vk::AttachmentDescription> attachments);
// Begins a render pass over the whole framebuffer, which has this extent.
void begin_render_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                       vk::Extent2D extent, std::span<const vk::ClearValue> clear);
void change_layout(vk::CommandBuffer commands, vk::Image image, vk::ImageLayout from,
                   vk::ImageLayout to, const Scope& before, const Scope& after,
                   const vk::ImageSubresourceRange& range = COLOUR_RANGE);

}  // namespace quadtile::app
