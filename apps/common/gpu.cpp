#include "gpu.hpp"

#include "arguments.hpp"
#include "process.hpp"

#include <quadtile/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace quadtile::app {

namespace {

constexpr std::size_t LARGEST_COPY = 64U << 20U;  // bytes of staging memory

// Returns the properties that memory must have, the best ones first.
std::array<vk::MemoryPropertyFlags, 2> properties_for(MemoryUse use) {
    using Property = vk::MemoryPropertyFlagBits;
    constexpr auto HOST = Property::eHostVisible | Property::eHostCoherent;
    switch (use) {
        case MemoryUse::device:
            return {Property::eDeviceLocal, {}};
        case MemoryUse::readback:
            return {HOST | Property::eHostCached, HOST};
        default:
            return {HOST, HOST};
    }
}

bool is_depth(vk::Format format) {
    return format == vk::Format::eD32Sfloat || format == vk::Format::eD16Unorm;
}

vk::ImageAspectFlags aspect_of(const Image& image) {
    return is_depth(image.created.format) ? vk::ImageAspectFlagBits::eDepth
                                          : vk::ImageAspectFlagBits::eColor;
}

vk::ImageSubresourceRange range_of(const Image& image) {
    return {aspect_of(image), 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
}

}  // namespace

// ---- The device

Gpu::Gpu(const quadtile::Device& device, SubmitFunction submit)
    : instance_(device.instance()),
      physical_device_(device.physical_device()),
      queue_family_(device.queue_family()),
      device_(device.handle()),
      queue_(device.queue()),
      submit_(std::move(submit)) {
    // The loader's functions, which are those of all devices.
    static const bool has_functions = [&] {
        VULKAN_HPP_DEFAULT_DISPATCHER.init(instance_, ::vkGetInstanceProcAddr);
        return true;
    }();
    (void)has_functions;
    begin();
}

void Gpu::begin() {
    ends_long_loops_ =
        physical_device_
            .getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceDriverProperties>()
            .get<vk::PhysicalDeviceDriverProperties>()
            .driverID == vk::DriverId::eMesaLlvmpipe;
    const vk::PhysicalDeviceProperties properties = physical_device_.getProperties();
    longest_run_minutes_ = properties.deviceType == vk::PhysicalDeviceType::eCpu ? 10 : 1;
    const vk::QueueFamilyProperties family =
        physical_device_.getQueueFamilyProperties()[queue_family_];
    if (family.timestampValidBits > 0) {
        timestamp_milliseconds_ = properties.limits.timestampPeriod * 1e-6;
    }
    command_pool_ = device_.createCommandPoolUnique(
        {.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
         .queueFamilyIndex = queue_family_});
    run_ = make_submission();
}

Gpu::~Gpu() {
    if (own_) {
        wait_idle();  // work that has not ended must not lose its memory
    }
}

void Gpu::run(const std::function<void(vk::CommandBuffer)>& record) {
    start(run_, record);
    finish(run_);
}
Submission Gpu::make_submission() const {
    return {.commands = std::move(device_.allocateCommandBuffersUnique(
                {.commandPool = *command_pool_, .commandBufferCount = 1})[0]),
            .done = device_.createFenceUnique({})};
}
void Gpu::start(Submission& submission, const std::function<void(vk::CommandBuffer)>& record) {
    const vk::CommandBuffer commands = *submission.commands;
    commands.reset();  // an error may have left the last recording unfinished
    commands.begin({.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    record(commands);
    commands.end();
    const vk::SubmitInfo work{.commandBufferCount = 1, .pCommandBuffers = &commands};
    if (submit_) {
        vk::resultCheck(static_cast<vk::Result>(submit_(work, *submission.done)), "vkQueueSubmit");
    } else {
        queue_.submit(work, *submission.done);
    }
    submission.is_running = true;
}
void Gpu::finish(Submission& submission) const {
    wait(*submission.done);
    device_.resetFences(*submission.done);
    submission.is_running = false;
}

void Gpu::wait(vk::Fence fence) const {
    constexpr std::uint64_t MINUTE_NANOSECONDS = 60'000'000'000;
    if (device_.waitForFences(fence, VK_TRUE, longest_run_minutes_ * MINUTE_NANOSECONDS) !=
        vk::Result::eSuccess) {
        end_at_once("work on the GPU did not end within " +
                    counted(longest_run_minutes_, "minute"));
    }
}

void Gpu::wait_idle() const noexcept {
    try {
        const vk::UniqueFence behind_all_work = device_.createFenceUnique({});
        queue_.submit(vk::SubmitInfo(), *behind_all_work);
        wait(*behind_all_work);
    } catch (const vk::SystemError&) {
        // After a loss nothing runs any more.
    }
    // Also for what is presented, which has no fence. The work has ended, so this does, too.
    (void)VULKAN_HPP_DEFAULT_DISPATCHER.vkDeviceWaitIdle(device_);
}

// ---- Copies between host and device

void Gpu::upload(vk::Buffer target, std::span<const std::byte> bytes, vk::DeviceSize first) {
    const Buffer staging = make_buffer(std::min(LARGEST_COPY, bytes.size()),
                                       vk::BufferUsageFlagBits::eTransferSrc, MemoryUse::upload);
    for (std::size_t offset = 0; offset < bytes.size(); offset += staging.size_bytes) {
        const std::size_t size = std::min<std::size_t>(staging.size_bytes, bytes.size() - offset);
        std::memcpy(staging.mapped, bytes.data() + offset, size);
        run([&](vk::CommandBuffer commands) {
            commands.copyBuffer(*staging.handle, target,
                                vk::BufferCopy{.dstOffset = first + offset, .size = size});
            memory_barrier(commands);
        });
    }
}

void Gpu::download(vk::Buffer source, vk::DeviceSize first, std::span<std::byte> bytes) {
    if (bytes.empty()) {
        return;
    }
    const Buffer staging = make_buffer(std::min(LARGEST_COPY, bytes.size()),
                                       vk::BufferUsageFlagBits::eTransferDst, MemoryUse::readback);
    for (std::size_t offset = 0; offset < bytes.size(); offset += staging.size_bytes) {
        const std::size_t size = std::min<std::size_t>(staging.size_bytes, bytes.size() - offset);
        run([&](vk::CommandBuffer commands) {
            memory_barrier(commands);
            commands.copyBuffer(source, *staging.handle,
                                vk::BufferCopy{.srcOffset = first + offset, .size = size});
            memory_barrier(commands, ALL_WRITES, HOST_READS);
        });
        std::memcpy(bytes.data() + offset, staging.mapped, size);
    }
}

namespace {

// Returns the region of a level's layers, one after the other.
vk::BufferImageCopy whole_level(const Image& image, std::uint32_t level) {
    return {.imageSubresource = {aspect_of(image), level, 0, image.created.arrayLayers},
            .imageExtent = {std::max(image.extent.width >> level, 1U),
                            std::max(image.extent.height >> level, 1U), 1}};
}

}  // namespace

void Gpu::upload(const Image& image, vk::ImageLayout from, vk::ImageLayout to,
                 std::span<const std::byte> texels) {
    const Buffer staging =
        make_buffer(texels.size(), vk::BufferUsageFlagBits::eTransferSrc, MemoryUse::upload);
    std::memcpy(staging.mapped, texels.data(), texels.size());
    run([&](vk::CommandBuffer commands) {
        constexpr auto LAYOUT = vk::ImageLayout::eTransferDstOptimal;
        change_layout(commands, *image.handle, from, LAYOUT, ALL_WRITES, ALL_USES, range_of(image));
        commands.copyBufferToImage(*staging.handle, *image.handle, LAYOUT, whole_level(image, 0));
        change_layout(commands, *image.handle, LAYOUT, to, ALL_WRITES, ALL_USES, range_of(image));
    });
}

std::vector<std::byte> Gpu::download(const Image& image, vk::ImageLayout layout,
                                     std::size_t texel_bytes, std::uint32_t level) {
    const vk::BufferImageCopy whole = whole_level(image, level);
    std::vector<std::byte> texels(texel_bytes * whole.imageExtent.width * whole.imageExtent.height *
                                  image.created.arrayLayers);
    const Buffer staging =
        make_buffer(texels.size(), vk::BufferUsageFlagBits::eTransferDst, MemoryUse::readback);
    run([&](vk::CommandBuffer commands) {
        constexpr auto LAYOUT = vk::ImageLayout::eTransferSrcOptimal;
        change_layout(commands, *image.handle, layout, LAYOUT, ALL_WRITES, ALL_USES,
                      range_of(image));
        commands.copyImageToBuffer(*image.handle, LAYOUT, *staging.handle, whole);
        change_layout(commands, *image.handle, LAYOUT, layout, ALL_WRITES, ALL_USES,
                      range_of(image));
        memory_barrier(commands, ALL_WRITES, HOST_READS);
    });
    std::memcpy(texels.data(), staging.mapped, texels.size());
    return texels;
}

// ---- Memory and pipelines

vk::UniqueDeviceMemory Gpu::allocate(const vk::MemoryRequirements& requirements,
                                     MemoryUse use) const {
    const auto memory = physical_device_.getMemoryProperties();
    for (const vk::MemoryPropertyFlags wanted : properties_for(use)) {
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            if (((requirements.memoryTypeBits >> i) & 1U) != 0 &&
                (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
                return device_.allocateMemoryUnique(
                    {.allocationSize = requirements.size, .memoryTypeIndex = i});
            }
        }
    }
    throw std::runtime_error("the device has no memory for a resource");
}

Buffer Gpu::make_buffer(vk::DeviceSize size_bytes, vk::BufferUsageFlags usage,
                        MemoryUse use) const {
    Buffer buffer{.size_bytes = size_bytes};
    buffer.handle = device_.createBufferUnique({.size = size_bytes, .usage = usage});
    buffer.memory = allocate(device_.getBufferMemoryRequirements(*buffer.handle), use);
    device_.bindBufferMemory(*buffer.handle, *buffer.memory, 0);
    if (use != MemoryUse::device) {
        buffer.mapped =
            static_cast<std::byte*>(device_.mapMemory(*buffer.memory, 0, VK_WHOLE_SIZE));
    }
    return buffer;
}

Image Gpu::make_image(vk::Extent2D extent, vk::Format format, vk::ImageUsageFlags usage,
                      vk::ImageViewType view_type, std::uint32_t layers,
                      std::uint32_t levels) const {
    return make_image({.imageType = vk::ImageType::e2D,
                       .format = format,
                       .extent = {extent.width, extent.height, 1},
                       .mipLevels = levels,
                       .arrayLayers = layers,
                       .usage = usage},
                      view_type);
}

Image Gpu::make_image(const vk::ImageCreateInfo& create,
                      std::optional<vk::ImageViewType> view_type) const {
    Image image{.created = create, .extent = {create.extent.width, create.extent.height}};
    image.handle = device_.createImageUnique(image.created);
    image.memory = allocate(device_.getImageMemoryRequirements(*image.handle), MemoryUse::device);
    device_.bindImageMemory(*image.handle, *image.memory, 0);
    if (view_type) {
        image.view = device_.createImageViewUnique({.image = *image.handle,
                                                    .viewType = *view_type,
                                                    .format = create.format,
                                                    .subresourceRange = range_of(image)});
    }
    return image;
}

Buffer Gpu::upload(std::span<const std::byte> bytes, vk::BufferUsageFlags usage) {
    Buffer buffer = make_buffer(bytes.size(), usage | vk::BufferUsageFlagBits::eTransferDst);
    upload(*buffer.handle, bytes);
    return buffer;
}

vk::UniqueFramebuffer Gpu::make_framebuffer(vk::RenderPass pass, vk::Extent2D extent,
                                            std::span<const vk::ImageView> attachments) const {
    return device_.createFramebufferUnique(
        {.renderPass = pass,
         .attachmentCount = static_cast<std::uint32_t>(attachments.size()),
         .pAttachments = attachments.data(),
         .width = extent.width,
         .height = extent.height,
         .layers = 1});
}

ProgramInterface Gpu::make_interface(vk::ShaderStageFlags stages,
                                     std::vector<vk::DescriptorType> types,
                                     std::size_t push_constants_size_bytes,
                                     std::uint32_t last_count) const {
    ProgramInterface made{.stages = stages, .types = std::move(types)};
    std::vector<vk::DescriptorSetLayoutBinding> bindings;
    std::vector<vk::DescriptorPoolSize> sizes;
    for (const vk::DescriptorType type : made.types) {
        const auto binding = static_cast<std::uint32_t>(bindings.size());
        const std::uint32_t count = binding + 1 == made.types.size() ? last_count : 1;
        bindings.push_back({binding, type, count, stages});
        sizes.push_back({type, count});
    }
    made.set_layout = device_.createDescriptorSetLayoutUnique(
        vk::DescriptorSetLayoutCreateInfo{}.setBindings(bindings));
    if (made.types.empty()) {
        sizes.push_back({vk::DescriptorType::eStorageBuffer, 1});
    }
    made.pool = device_.createDescriptorPoolUnique(
        vk::DescriptorPoolCreateInfo{.maxSets = 1}.setPoolSizes(sizes));
    made.set = device_.allocateDescriptorSets(
        vk::DescriptorSetAllocateInfo{.descriptorPool = *made.pool}.setSetLayouts(
            *made.set_layout))[0];
    const vk::PushConstantRange constants{
        .stageFlags = stages, .size = static_cast<std::uint32_t>(push_constants_size_bytes)};
    vk::PipelineLayoutCreateInfo layout;
    layout.setSetLayouts(*made.set_layout);
    if (constants.size > 0) {
        layout.setPushConstantRanges(constants);
    }
    made.layout = device_.createPipelineLayoutUnique(layout);
    return made;
}

void ProgramInterface::write(std::uint32_t first, std::span<const vk::Buffer> buffers) const {
    for (const vk::Buffer buffer : buffers) {
        write(first++, vk::DescriptorBufferInfo{buffer, 0, VK_WHOLE_SIZE});
    }
}

void ProgramInterface::write(std::uint32_t binding, const vk::DescriptorBufferInfo& part) const {
    layout.getOwner().updateDescriptorSets(
        vk::WriteDescriptorSet{
            .dstSet = set, .dstBinding = binding, .descriptorType = types[binding]}
            .setBufferInfo(part),
        {});
}

void ProgramInterface::write(std::uint32_t binding, vk::ImageView image,
                             vk::ImageLayout image_layout, vk::Sampler sampler,
                             std::uint32_t element) const {
    const vk::DescriptorImageInfo info{sampler, image, image_layout};
    layout.getOwner().updateDescriptorSets(vk::WriteDescriptorSet{.dstSet = set,
                                                                  .dstBinding = binding,
                                                                  .dstArrayElement = element,
                                                                  .descriptorType = types[binding]}
                                               .setImageInfo(info),
                                           {});
}

void ProgramInterface::bind(vk::CommandBuffer commands, vk::Pipeline pipeline,
                            vk::PipelineBindPoint point) const {
    commands.bindPipeline(point, pipeline);
    commands.bindDescriptorSets(point, *layout, 0, set, {});
}

vk::UniqueShaderModule Gpu::make_shader(SpirV words) const {
    return device_.createShaderModuleUnique(
        {.codeSize = words.size_bytes(), .pCode = words.data()});
}

vk::UniquePipeline Gpu::make_compute_pipeline(vk::PipelineLayout layout, SpirV shader,
                                              std::uint32_t constant) const {
    const auto module = make_shader(shader);
    const vk::SpecializationMapEntry entry{.size = sizeof(constant)};
    const vk::SpecializationInfo constants{.mapEntryCount = 1,
                                           .pMapEntries = &entry,
                                           .dataSize = sizeof(constant),
                                           .pData = &constant};
    const vk::ComputePipelineCreateInfo info{.stage = {.stage = vk::ShaderStageFlagBits::eCompute,
                                                       .module = *module,
                                                       .pName = "main",
                                                       .pSpecializationInfo = &constants},
                                             .layout = layout};
    return device_.createComputePipelineUnique({}, info).value;
}

vk::UniquePipeline Gpu::make_draw_pipeline(vk::PipelineLayout layout, vk::RenderPass render_pass,
                                           const DrawState& state) const {
    std::vector<vk::UniqueShaderModule> modules;
    std::vector<vk::PipelineShaderStageCreateInfo> stages;
    const auto add_stage = [&](vk::ShaderStageFlagBits stage, SpirV words) {
        modules.push_back(make_shader(words));
        stages.push_back({.stage = stage, .module = *modules.back(), .pName = "main"});
    };
    add_stage(vk::ShaderStageFlagBits::eVertex, state.vertex_shader);
    if (!state.fragment_shader.empty()) {
        add_stage(vk::ShaderStageFlagBits::eFragment, state.fragment_shader);
    }
    const vk::PipelineInputAssemblyStateCreateInfo assembly{
        .topology = state.vertices.vertexBindingDescriptionCount > 0
                        ? vk::PrimitiveTopology::eTriangleList
                        : vk::PrimitiveTopology::eTriangleStrip};
    const vk::PipelineViewportStateCreateInfo viewport{.viewportCount = 1, .scissorCount = 1};
    const vk::PipelineRasterizationStateCreateInfo rasterization{
        .depthClampEnable = state.clamps_depth ? VK_TRUE : VK_FALSE, .lineWidth = 1.0F};
    const vk::PipelineMultisampleStateCreateInfo multisample{};
    const vk::PipelineDepthStencilStateCreateInfo depth{
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = state.compare.value_or(vk::CompareOp::eAlways)};
    using Component = vk::ColorComponentFlagBits;
    const std::vector<vk::PipelineColorBlendAttachmentState> blends(
        state.colours,
        {.colorWriteMask = Component::eR | Component::eG | Component::eB | Component::eA});
    const auto blend = vk::PipelineColorBlendStateCreateInfo{}.setAttachments(blends);
    const std::array dynamic_states{vk::DynamicState::eViewport, vk::DynamicState::eScissor};
    const auto dynamic = vk::PipelineDynamicStateCreateInfo{}.setDynamicStates(dynamic_states);
    const auto info =
        vk::GraphicsPipelineCreateInfo{.pVertexInputState = &state.vertices,
                                       .pInputAssemblyState = &assembly,
                                       .pViewportState = &viewport,
                                       .pRasterizationState = &rasterization,
                                       .pMultisampleState = &multisample,
                                       .pDepthStencilState = state.compare ? &depth : nullptr,
                                       .pColorBlendState = &blend,
                                       .pDynamicState = &dynamic,
                                       .layout = layout,
                                       .renderPass = render_pass}
            .setStages(stages);
    return device_.createGraphicsPipelineUnique({}, info).value;
}

// ---- Times

GpuTimer::GpuTimer(const Gpu& gpu, std::uint32_t marks)
    : device_(gpu.device()), tick_milliseconds_(gpu.timestamp_milliseconds()), count_(marks) {
    if (tick_milliseconds_ > 0.0) {
        queries_ = device_.createQueryPoolUnique(
            {.queryType = vk::QueryType::eTimestamp, .queryCount = marks});
    }
}

void GpuTimer::begin(vk::CommandBuffer commands) {
    if (queries_) {
        commands.resetQueryPool(*queries_, 0, count_);
        has_begun_ = true;
    }
    mark(commands, 0);
}

void GpuTimer::mark(vk::CommandBuffer commands, std::uint32_t number) const {
    if (queries_) {
        commands.writeTimestamp(vk::PipelineStageFlagBits::eBottomOfPipe, *queries_, number);
    }
}

std::optional<std::vector<double>> GpuTimer::marks() const {
    if (!has_begun_) {
        return {};
    }
    const auto [result, ticks] = device_.getQueryPoolResults<std::uint64_t>(
        *queries_, 0, count_, count_ * sizeof(std::uint64_t), sizeof(std::uint64_t),
        vk::QueryResultFlagBits::e64);
    if (result != vk::Result::eSuccess) {
        return {};
    }
    std::vector<double> milliseconds;
    for (const std::uint64_t tick : ticks) {
        milliseconds.push_back(static_cast<double>(tick - ticks.front()) * tick_milliseconds_);
    }
    return milliseconds;
}

std::optional<double> GpuTimer::milliseconds() const {
    const auto all = marks();
    return all ? std::optional((*all)[1]) : std::nullopt;
}

bool is_device_loss(const std::exception& error) {
    const auto* const ours = dynamic_cast<const Error*>(&error);
    return dynamic_cast<const vk::DeviceLostError*>(&error) != nullptr ||
           (ours != nullptr && ours->code() == ErrorCode::device_lost);
}

// ---- Render passes and barriers

vk::AttachmentDescription cleared(vk::Format format, vk::ImageLayout final_layout) {
    return {.format = format,
            .loadOp = vk::AttachmentLoadOp::eClear,
            .storeOp = vk::AttachmentStoreOp::eStore,
            .stencilLoadOp = vk::AttachmentLoadOp::eDontCare,
            .stencilStoreOp = vk::AttachmentStoreOp::eDontCare,
            .finalLayout = final_layout};
}

vk::UniqueRenderPass make_render_pass(vk::Device device,
                                      std::span<const vk::AttachmentDescription> attachments) {
    using Access = vk::AccessFlagBits;
    using Stage = vk::PipelineStageFlagBits;
    const bool has_depth = is_depth(attachments.front().format);
    const vk::AttachmentReference depth{0, vk::ImageLayout::eDepthStencilAttachmentOptimal};
    std::vector<vk::AttachmentReference> colours;
    for (std::uint32_t i = has_depth ? 1 : 0; i < attachments.size(); ++i) {
        colours.push_back({i, vk::ImageLayout::eColorAttachmentOptimal});
    }
    const auto subpass =
        vk::SubpassDescription{.pDepthStencilAttachment = has_depth ? &depth : nullptr}
            .setColorAttachments(colours);
    // Before the pass also the semaphore of a swapchain's image.
    const auto stages =
        Stage::eEarlyFragmentTests | Stage::eLateFragmentTests | Stage::eColorAttachmentOutput;
    const auto writes = Access::eDepthStencilAttachmentWrite | Access::eColorAttachmentWrite;
    const std::array<vk::SubpassDependency, 2> dependencies{
        {{.srcSubpass = VK_SUBPASS_EXTERNAL,
          .dstSubpass = 0,
          .srcStageMask = stages | Stage::eComputeShader | Stage::eTransfer,
          .dstStageMask = stages,
          .srcAccessMask = writes,
          .dstAccessMask = writes | Access::eDepthStencilAttachmentRead},
         {.srcSubpass = 0,
          .dstSubpass = VK_SUBPASS_EXTERNAL,
          .srcStageMask = stages,
          .dstStageMask = Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
          .srcAccessMask = writes,
          .dstAccessMask = Access::eShaderRead | Access::eTransferRead}}};
    return device.createRenderPassUnique(vk::RenderPassCreateInfo{}
                                             .setAttachments(attachments)
                                             .setSubpasses(subpass)
                                             .setDependencies(dependencies));
}

void begin_render_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                       vk::Extent2D extent, std::span<const vk::ClearValue> clear) {
    commands.beginRenderPass({.renderPass = pass,
                              .framebuffer = framebuffer,
                              .renderArea = {.extent = extent},
                              .clearValueCount = static_cast<std::uint32_t>(clear.size()),
                              .pClearValues = clear.data()},
                             vk::SubpassContents::eInline);
}

void check_complete(const TileListHeader& header) {
    if ((header.flags & TILE_LIST_INCOMPLETE) != 0) {
        throw Error(ErrorCode::unsupported,
                    "messages between workgroups do not arrive on this device, so it made no tile "
                    "list; use another device or driver");
    }
}

void memory_barrier(vk::CommandBuffer commands, const Scope& before, const Scope& after) {
    const vk::MemoryBarrier barrier{.srcAccessMask = before.accesses,
                                    .dstAccessMask = after.accesses};
    commands.pipelineBarrier(before.stages, after.stages, {}, barrier, {}, {});
}

void change_layout(vk::CommandBuffer commands, vk::Image image, vk::ImageLayout from,
                   vk::ImageLayout to, const Scope& before, const Scope& after,
                   const vk::ImageSubresourceRange& range) {
    const vk::ImageMemoryBarrier barrier{.srcAccessMask = before.accesses,
                                         .dstAccessMask = after.accesses,
                                         .oldLayout = from,
                                         .newLayout = to,
                                         .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                         .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                         .image = image,
                                         .subresourceRange = range};
    commands.pipelineBarrier(before.stages, after.stages, {}, {}, {}, barrier);
}

}  // namespace quadtile::app
