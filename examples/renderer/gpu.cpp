#include "gpu.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

VULKAN_HPP_DEFAULT_DISPATCH_LOADER_DYNAMIC_STORAGE

namespace renderer {

namespace {

constexpr const char* VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL print_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                             VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                             const VkDebugUtilsMessengerCallbackDataEXT* data,
                                             void* count) {
    std::fprintf(stderr, "%s\n", data->pMessage);
    ++*static_cast<std::atomic<std::uint32_t>*>(count);
    return VK_FALSE;
}

// Returns a queue family that draws, computes and copies.
std::optional<std::uint32_t> graphics_family(vk::PhysicalDevice device) {
    constexpr auto NEEDED = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;
    const auto families = device.getQueueFamilyProperties();
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        if ((families[i].queueFlags & NEEDED) == NEEDED) {
            return i;
        }
    }
    return {};
}

// Features that this program enables. quadtile needs the memory model, and uses subgroups if they
// are enabled.
struct Features {
    vk::PhysicalDeviceVulkan12Features v12;
    vk::PhysicalDeviceVulkan13Features v13;
};

// Returns the reason why a device is not suitable; empty if it is.
std::string objection_to(vk::PhysicalDevice device) {
    // Requires Vulkan 1.3 for dynamic rendering and the barriers of synchronization2. quadtile
    // itself needs 1.2.
    if (device.getProperties().apiVersion < VK_API_VERSION_1_3) {
        return "it has no Vulkan 1.3";
    }
    if (!graphics_family(device)) {
        return "it has no queue for graphics and compute";
    }
    Features has;
    has.v12.pNext = &has.v13;
    vk::PhysicalDeviceFeatures2 features{.pNext = &has.v12};
    device.getFeatures2(&features);
    const std::array needed{
        std::pair(has.v12.vulkanMemoryModel, "vulkanMemoryModel"),
        std::pair(has.v12.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope"),
        std::pair(has.v13.subgroupSizeControl, "subgroupSizeControl"),
        std::pair(has.v13.computeFullSubgroups, "computeFullSubgroups"),
        std::pair(has.v13.synchronization2, "synchronization2"),
        std::pair(has.v13.dynamicRendering, "dynamicRendering")};
    std::string missing;
    for (const auto& [is_there, name] : needed) {
        if (is_there == VK_FALSE) {
            missing += (missing.empty() ? "it lacks " : ", ") + std::string(name);
        }
    }
    return missing;
}

bool is_discrete(vk::PhysicalDevice device) {
    return device.getProperties().deviceType == vk::PhysicalDeviceType::eDiscreteGpu;
}

}  // namespace

void memory_barrier(vk::CommandBuffer commands, const Scope& before, const Scope& after) {
    const vk::MemoryBarrier2 barrier{.srcStageMask = before.stages,
                                     .srcAccessMask = before.accesses,
                                     .dstStageMask = after.stages,
                                     .dstAccessMask = after.accesses};
    commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &barrier});
}

void change_layout(vk::CommandBuffer commands, const Image& image,
                   const vk::ImageSubresourceRange& range, vk::ImageLayout from, vk::ImageLayout to,
                   const Scope& before, const Scope& after) {
    const vk::ImageMemoryBarrier2 barrier{.srcStageMask = before.stages,
                                          .srcAccessMask = before.accesses,
                                          .dstStageMask = after.stages,
                                          .dstAccessMask = after.accesses,
                                          .oldLayout = from,
                                          .newLayout = to,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = *image.handle,
                                          .subresourceRange = range};
    commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

Gpu::Gpu(std::atomic<std::uint32_t>* validation_messages) {
    make_instance(validation_messages);
    choose_physical_device();
    make_device();
}

void Gpu::make_instance(std::atomic<std::uint32_t>* validation_messages) {
    VULKAN_HPP_DEFAULT_DISPATCHER.init(
        loader_.getProcAddress<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr"));
    const vk::ApplicationInfo application{.pApplicationName = "quadtile's examples",
                                          .apiVersion = VK_API_VERSION_1_3};
    vk::InstanceCreateInfo info{.pApplicationInfo = &application};
    std::vector<const char*> extensions;
    const auto synchronisation = vk::ValidationFeatureEnableEXT::eSynchronizationValidation;
    const vk::ValidationFeaturesEXT features{.enabledValidationFeatureCount = 1,
                                             .pEnabledValidationFeatures = &synchronisation};
    if (validation_messages != nullptr) {
        const auto layers = vk::enumerateInstanceLayerProperties();
        if (std::ranges::none_of(layers, [](const vk::LayerProperties& layer) {
                return std::string_view(layer.layerName) == VALIDATION_LAYER;
            })) {
            throw std::runtime_error(std::string(VALIDATION_LAYER) +
                                     " is not installed (Debian: vulkan-validationlayers)");
        }
        info.setPEnabledLayerNames(VALIDATION_LAYER);
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
        info.setPNext(&features);
        info.setPEnabledExtensionNames(extensions);
    }
    try {
        instance_ = vk::createInstanceUnique(info);
    } catch (const vk::IncompatibleDriverError&) {
        throw std::runtime_error("no Vulkan driver was found (Debian: mesa-vulkan-drivers)");
    }
    VULKAN_HPP_DEFAULT_DISPATCHER.init(*instance_);
    if (validation_messages != nullptr) {
        using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
        using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
        messenger_ = instance_->createDebugUtilsMessengerEXTUnique(
            {.messageSeverity = Severity::eWarning | Severity::eError,
             .messageType = Type::eValidation | Type::ePerformance,
             .pfnUserCallback = print_message,
             .pUserData = validation_messages});
    }
}

void Gpu::choose_physical_device() {
    std::string objections;
    for (const vk::PhysicalDevice candidate : instance_->enumeratePhysicalDevices()) {
        const std::string objection = objection_to(candidate);
        if (!objection.empty()) {
            objections +=
                std::string("; ") + candidate.getProperties().deviceName.data() + ": " + objection;
        } else if (!physical_device_ ||
                   (is_discrete(candidate) && !is_discrete(physical_device_))) {
            physical_device_ = candidate;
        }
    }
    if (!physical_device_) {
        throw std::runtime_error("no Vulkan device will do" + objections);
    }
    queue_family_ = graphics_family(physical_device_).value();
}

void Gpu::make_device() {
    const float priority = 1.0F;
    const vk::DeviceQueueCreateInfo queue{
        .queueFamilyIndex = queue_family_, .queueCount = 1, .pQueuePriorities = &priority};
    Features use{.v12 = {.vulkanMemoryModel = VK_TRUE, .vulkanMemoryModelDeviceScope = VK_TRUE},
                 .v13 = {.subgroupSizeControl = VK_TRUE,
                         .computeFullSubgroups = VK_TRUE,
                         .synchronization2 = VK_TRUE,
                         .dynamicRendering = VK_TRUE}};
    use.v12.pNext = &use.v13;
    device_ = physical_device_.createDeviceUnique(
        {.pNext = &use.v12, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue});
    VULKAN_HPP_DEFAULT_DISPATCHER.init(*device_);
    queue_ = device_->getQueue(queue_family_, 0);
}

quadtile::AdoptedDevice Gpu::for_quadtile() const {
    quadtile::AdoptedDevice host{
        .get_instance_proc_addr = VULKAN_HPP_DEFAULT_DISPATCHER.vkGetInstanceProcAddr,
        .instance = *instance_,
        .physical_device = physical_device_,
        .device = *device_,
        .queue_family = queue_family_};
    // No queue: only Tiler, Mipmapper and Service submit. Features that make_device has enabled and
    // quadtile can use:
    host.enabled.subgroup_operations = true;
    return host;
}

// Nothing that work uses can be destroyed before it ends. So work that does not end in time ends
// the program.
void Gpu::wait(vk::Fence fence) {
    constexpr std::uint64_t LONGEST_RUN_NANOSECONDS = 60'000'000'000;
    if (device_->waitForFences(fence, VK_TRUE, LONGEST_RUN_NANOSECONDS) != vk::Result::eSuccess) {
        std::fputs("error: work on the GPU did not end within a minute\n", stderr);
        std::_Exit(1);
    }
}

void Gpu::wait_idle() noexcept {
    try {
        const auto behind_all_work = device_->createFenceUnique({});
        queue_.submit({}, *behind_all_work);
        wait(*behind_all_work);
    } catch (const vk::SystemError&) {
        // After a loss of the device nothing runs any more.
    }
}

void Gpu::run(const Recorder& record) {
    const auto pool = device_->createCommandPoolUnique({.queueFamilyIndex = queue_family_});
    const auto commands = std::move(
        device_->allocateCommandBuffersUnique({.commandPool = *pool, .commandBufferCount = 1})[0]);
    commands->begin(vk::CommandBufferBeginInfo{});
    record(*commands);
    commands->end();
    const auto fence = device_->createFenceUnique({});
    const vk::SubmitInfo work{.commandBufferCount = 1, .pCommandBuffers = &*commands};
    queue_.submit(work, *fence);
    wait(*fence);
}

std::vector<std::byte> Gpu::download(const Image& picture, vk::Extent2D extent,
                                     vk::ImageLayout layout) {
    using Access = vk::AccessFlagBits2;
    using Stage = vk::PipelineStageFlagBits2;
    const vk::DeviceSize size_bytes = vk::DeviceSize{4} * extent.width * extent.height;
    const Buffer buffer = make_buffer(size_bytes, vk::BufferUsageFlagBits::eTransferDst, true);
    run([&](vk::CommandBuffer commands) {
        // This barrier waits for the frames, since barriers include earlier submissions.
        change_layout(commands, picture, COLOUR_RANGE, layout, vk::ImageLayout::eTransferSrcOptimal,
                      {Stage::eAllCommands, Access::eMemoryWrite},
                      {Stage::eCopy, Access::eTransferRead});
        const vk::BufferImageCopy whole{
            .imageSubresource = {.aspectMask = vk::ImageAspectFlagBits::eColor, .layerCount = 1},
            .imageExtent = {extent.width, extent.height, 1}};
        commands.copyImageToBuffer(*picture.handle, vk::ImageLayout::eTransferSrcOptimal,
                                   *buffer.handle, whole);
        // A fence alone does not make writes visible to the host.
        memory_barrier(commands, {Stage::eCopy, Access::eTransferWrite},
                       {Stage::eHost, Access::eHostRead});
    });
    return {buffer.mapped, buffer.mapped + size_bytes};
}

// Allocates memory. A program with more resources would use an allocator here.
vk::UniqueDeviceMemory Gpu::allocate(const vk::MemoryRequirements& requirements,
                                     bool host_visible) const {
    using Property = vk::MemoryPropertyFlagBits;
    const vk::MemoryPropertyFlags wanted = host_visible
                                               ? Property::eHostVisible | Property::eHostCoherent
                                               : vk::MemoryPropertyFlags(Property::eDeviceLocal);
    const auto memory = physical_device_.getMemoryProperties();
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        if (((requirements.memoryTypeBits >> i) & 1U) != 0 &&
            (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return device_->allocateMemoryUnique(
                {.allocationSize = requirements.size, .memoryTypeIndex = i});
        }
    }
    throw std::runtime_error("the device has no memory for " + vk::to_string(wanted));
}

Buffer Gpu::make_buffer(vk::DeviceSize size_bytes, vk::BufferUsageFlags usage,
                        bool host_visible) const {
    Buffer buffer;
    buffer.handle = device_->createBufferUnique({.size = size_bytes, .usage = usage});
    buffer.memory = allocate(device_->getBufferMemoryRequirements(*buffer.handle), host_visible);
    device_->bindBufferMemory(*buffer.handle, *buffer.memory, 0);
    if (host_visible) {
        buffer.mapped =
            static_cast<std::byte*>(device_->mapMemory(*buffer.memory, 0, VK_WHOLE_SIZE));
    }
    return buffer;
}

Image Gpu::make_image(vk::Extent2D extent, vk::Format format, vk::ImageUsageFlags usage) const {
    Image image;
    image.handle = device_->createImageUnique({.imageType = vk::ImageType::e2D,
                                               .format = format,
                                               .extent = {extent.width, extent.height, 1},
                                               .mipLevels = 1,
                                               .arrayLayers = 1,
                                               .usage = usage});
    image.memory = allocate(device_->getImageMemoryRequirements(*image.handle), false);
    device_->bindImageMemory(*image.handle, *image.memory, 0);
    image.view = device_->createImageViewUnique(
        {.image = *image.handle,
         .viewType = vk::ImageViewType::e2DArray,
         .format = format,
         .subresourceRange = format == DEPTH_FORMAT ? DEPTH_RANGE : COLOUR_RANGE});
    return image;
}

Interface Gpu::make_interface(vk::ShaderStageFlags stages, std::span<const vk::ImageView> images,
                              std::span<const vk::Buffer> buffers,
                              std::size_t push_constants_size_bytes) const {
    Interface made{.stages = stages};
    std::vector<vk::DescriptorSetLayoutBinding> bindings;
    std::vector<vk::DescriptorPoolSize> sizes;
    const auto add = [&](vk::DescriptorType type) {
        bindings.push_back({static_cast<std::uint32_t>(bindings.size()), type, 1, stages});
        sizes.push_back({type, 1});
    };
    std::vector<vk::DescriptorImageInfo> image_infos;
    for (const vk::ImageView view : images) {
        add(vk::DescriptorType::eStorageImage);
        image_infos.push_back({.imageView = view, .imageLayout = vk::ImageLayout::eGeneral});
    }
    std::vector<vk::DescriptorBufferInfo> buffer_infos;
    for (const vk::Buffer buffer : buffers) {
        add(vk::DescriptorType::eStorageBuffer);
        buffer_infos.push_back({buffer, 0, VK_WHOLE_SIZE});
    }
    made.set_layout = device_->createDescriptorSetLayoutUnique(
        vk::DescriptorSetLayoutCreateInfo{}.setBindings(bindings));
    made.pool = device_->createDescriptorPoolUnique(
        vk::DescriptorPoolCreateInfo{.maxSets = 1}.setPoolSizes(sizes));
    made.set = device_->allocateDescriptorSets(
        vk::DescriptorSetAllocateInfo{.descriptorPool = *made.pool}.setSetLayouts(
            *made.set_layout))[0];
    std::vector<vk::WriteDescriptorSet> writes;
    const auto write = [&](vk::DescriptorType type) -> vk::WriteDescriptorSet& {
        writes.push_back({.dstSet = made.set,
                          .dstBinding = static_cast<std::uint32_t>(writes.size()),
                          .descriptorCount = 1,
                          .descriptorType = type});
        return writes.back();
    };
    for (const vk::DescriptorImageInfo& info : image_infos) {
        write(vk::DescriptorType::eStorageImage).setPImageInfo(&info);
    }
    for (const vk::DescriptorBufferInfo& info : buffer_infos) {
        write(vk::DescriptorType::eStorageBuffer).setPBufferInfo(&info);
    }
    device_->updateDescriptorSets(writes, {});
    const vk::PushConstantRange constants{
        .stageFlags = stages, .size = static_cast<std::uint32_t>(push_constants_size_bytes)};
    made.layout = device_->createPipelineLayoutUnique(vk::PipelineLayoutCreateInfo{}
                                                          .setSetLayouts(*made.set_layout)
                                                          .setPushConstantRanges(constants));
    return made;
}

vk::UniqueShaderModule Gpu::make_shader(SpirV words) const {
    return device_->createShaderModuleUnique(
        {.codeSize = words.size_bytes(), .pCode = words.data()});
}

vk::UniquePipeline Gpu::make_compute_pipeline(vk::PipelineLayout layout, SpirV shader) const {
    const auto module = make_shader(shader);
    const vk::ComputePipelineCreateInfo info{
        .stage = {.stage = vk::ShaderStageFlagBits::eCompute, .module = *module, .pName = "main"},
        .layout = layout};
    return device_->createComputePipelineUnique({}, info).value;
}

vk::UniquePipeline Gpu::make_draw_pipeline(vk::PipelineLayout layout, SpirV vertex_shader,
                                           SpirV fragment_shader, vk::Format colour_format,
                                           bool with_depth) const {
    const auto vertex = make_shader(vertex_shader);
    const auto fragment = make_shader(fragment_shader);
    using Stage = vk::ShaderStageFlagBits;
    const std::array<vk::PipelineShaderStageCreateInfo, 2> stages{
        {{.stage = Stage::eVertex, .module = *vertex, .pName = "main"},
         {.stage = Stage::eFragment, .module = *fragment, .pName = "main"}}};
    const vk::PipelineVertexInputStateCreateInfo no_vertex_buffers;
    const vk::PipelineInputAssemblyStateCreateInfo triangles{
        .topology = with_depth ? vk::PrimitiveTopology::eTriangleList
                               : vk::PrimitiveTopology::eTriangleStrip};
    const vk::PipelineViewportStateCreateInfo one_viewport{.viewportCount = 1, .scissorCount = 1};
    const vk::PipelineRasterizationStateCreateInfo filled{.lineWidth = 1.0F};
    const vk::PipelineMultisampleStateCreateInfo one_sample;
    using Channel = vk::ColorComponentFlagBits;
    const vk::PipelineColorBlendAttachmentState opaque{.colorWriteMask = Channel::eR | Channel::eG |
                                                                         Channel::eB | Channel::eA};
    const vk::PipelineColorBlendStateCreateInfo blending{.attachmentCount = 1,
                                                         .pAttachments = &opaque};
    const std::array dynamic_states{vk::DynamicState::eViewport, vk::DynamicState::eScissor};
    const auto dynamic = vk::PipelineDynamicStateCreateInfo{}.setDynamicStates(dynamic_states);
    const vk::PipelineDepthStencilStateCreateInfo depth{.depthTestEnable = VK_TRUE,
                                                        .depthWriteEnable = VK_TRUE,
                                                        .depthCompareOp = vk::CompareOp::eGreater};
    const vk::PipelineRenderingCreateInfo rendering{
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &colour_format,
        .depthAttachmentFormat = with_depth ? DEPTH_FORMAT : vk::Format::eUndefined};
    const vk::GraphicsPipelineCreateInfo info{.pNext = &rendering,
                                              .stageCount = stages.size(),
                                              .pStages = stages.data(),
                                              .pVertexInputState = &no_vertex_buffers,
                                              .pInputAssemblyState = &triangles,
                                              .pViewportState = &one_viewport,
                                              .pRasterizationState = &filled,
                                              .pMultisampleState = &one_sample,
                                              .pDepthStencilState = with_depth ? &depth : nullptr,
                                              .pColorBlendState = &blending,
                                              .pDynamicState = &dynamic,
                                              .layout = layout};
    return device_->createGraphicsPipelineUnique({}, info).value;
}

// ---- Frames

Frames::Frames(Gpu& gpu)
    : gpu_(gpu),
      pool_(gpu.device().createCommandPoolUnique(
          {.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
           .queueFamilyIndex = gpu.queue_family()})) {
    for (Frame& frame : frames_) {
        frame.commands = std::move(gpu.device().allocateCommandBuffersUnique(
            {.commandPool = *pool_, .commandBufferCount = 1})[0]);
        frame.done = gpu.device().createFenceUnique({.flags = vk::FenceCreateFlagBits::eSignaled});
    }
}

void Frames::submit(const Recorder& record) {
    const Frame& frame = frames_[count_++ % frames_.size()];
    gpu_.wait(*frame.done);
    gpu_.device().resetFences(*frame.done);
    frame.commands->begin(vk::CommandBufferBeginInfo{});
    record(*frame.commands);
    frame.commands->end();
    const vk::SubmitInfo work{.commandBufferCount = 1, .pCommandBuffers = &*frame.commands};
    gpu_.queue().submit(work, *frame.done);
}

}  // namespace renderer
