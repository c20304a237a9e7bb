#include "gpu.hpp"

#include "process.hpp"

#include <quadtile/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

VULKAN_HPP_DEFAULT_DISPATCH_LOADER_DYNAMIC_STORAGE

namespace quadtile::app {

namespace {

constexpr const char* VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation";
constexpr std::uint64_t LONGEST_RUN_NANOSECONDS = 60'000'000'000;  // CPU drivers are slow

VKAPI_ATTR VkBool32 VKAPI_CALL print_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                             VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                             const VkDebugUtilsMessengerCallbackDataEXT* data,
                                             void* count) {
    std::fprintf(stderr, "%s\n", data->pMessage);
    ++*static_cast<std::atomic<std::uint32_t>*>(count);
    return VK_FALSE;
}

bool has_extension(vk::PhysicalDevice device, std::string_view name) {
    return std::ranges::any_of(
        device.enumerateDeviceExtensionProperties(),
        [&](const vk::ExtensionProperties& one) { return name == one.extensionName.data(); });
}

// Returns a family whose queues draw, compute, and present if there is a surface.
std::optional<std::uint32_t> find_queue_family(vk::PhysicalDevice device, vk::SurfaceKHR surface) {
    constexpr auto NEEDED = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;
    const auto families = device.getQueueFamilyProperties();
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        if ((families[i].queueFlags & NEEDED) == NEEDED &&
            (!surface || device.getSurfaceSupportKHR(i, surface) == VK_TRUE)) {
            return i;
        }
    }
    return {};
}

// Returns why a device cannot be used; empty: it can.
std::string objection_to(vk::PhysicalDevice device, vk::SurfaceKHR surface) {
    if (device.getProperties().apiVersion < VK_API_VERSION_1_2) {
        return "it has no Vulkan 1.2";
    }
    if (!find_queue_family(device, {})) {
        return "it has no queue for graphics and compute";
    }
    if (surface && (!has_extension(device, VK_KHR_SWAPCHAIN_EXTENSION_NAME) ||
                    !find_queue_family(device, surface))) {
        return "it does not draw in windows of this window system; --screenshot needs none";
    }
    vk::PhysicalDeviceVulkan12Features has;
    vk::PhysicalDeviceFeatures2 features{.pNext = &has};
    device.getFeatures2(&features);
    if (has.vulkanMemoryModel == VK_FALSE || has.vulkanMemoryModelDeviceScope == VK_FALSE) {
        return "it lacks vulkanMemoryModel or vulkanMemoryModelDeviceScope";
    }
    return {};
}

int rank(vk::PhysicalDevice device) {
    switch (device.getProperties().deviceType) {
        case vk::PhysicalDeviceType::eDiscreteGpu:
            return 3;
        case vk::PhysicalDeviceType::eIntegratedGpu:
            return 2;
        case vk::PhysicalDeviceType::eVirtualGpu:
            return 1;
        default:
            return 0;
    }
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// A number that no device has may be a part of a name ("4090").
bool is_selected(const std::string& select, std::size_t index, const std::string& name,
                 std::size_t devices) {
    std::size_t number = 0;
    const char* const end = select.data() + select.size();
    const auto [last, error] = std::from_chars(select.data(), end, number);
    if (error == std::errc() && last == end && number < devices) {
        return number == index;
    }
    return lower_case(name).find(lower_case(select)) != std::string::npos;
}

vk::MemoryPropertyFlags required_properties(MemoryUse use) {
    using Property = vk::MemoryPropertyFlagBits;
    return use == MemoryUse::device ? Property::eDeviceLocal
                                    : Property::eHostVisible | Property::eHostCoherent;
}

vk::MemoryPropertyFlags preferred_properties(MemoryUse use) {
    const vk::MemoryPropertyFlags required = required_properties(use);
    return use == MemoryUse::readback ? required | vk::MemoryPropertyFlagBits::eHostCached
                                      : required;
}

}  // namespace

// ---- The instance

Instance::Instance(const char* application, std::span<const char* const> extensions,
                   bool validation) {
    VULKAN_HPP_DEFAULT_DISPATCHER.init(::vkGetInstanceProcAddr);
    const vk::ApplicationInfo about{.pApplicationName = application,
                                    .apiVersion = VK_API_VERSION_1_3};
    std::vector<const char*> names(extensions.begin(), extensions.end());
    vk::InstanceCreateInfo info{.pApplicationInfo = &about};
    const auto synchronisation = vk::ValidationFeatureEnableEXT::eSynchronizationValidation;
    const vk::ValidationFeaturesEXT features{.enabledValidationFeatureCount = 1,
                                             .pEnabledValidationFeatures = &synchronisation};
    if (validation) {
        const auto layers = vk::enumerateInstanceLayerProperties();
        if (std::ranges::none_of(layers, [](const vk::LayerProperties& layer) {
                return std::string_view(layer.layerName) == VALIDATION_LAYER;
            })) {
            throw std::runtime_error(
                "the validation layer " + std::string(VALIDATION_LAYER) +
                " is not installed; install it (Debian: vulkan-validationlayers)");
        }
        names.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        info.setPEnabledLayerNames(VALIDATION_LAYER);
        const auto offered =
            vk::enumerateInstanceExtensionProperties(std::string(VALIDATION_LAYER));
        if (std::ranges::any_of(offered, [](const vk::ExtensionProperties& extension) {
                return std::string_view(extension.extensionName) ==
                       VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
            })) {
            names.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
            info.setPNext(&features);
        }
    }
    info.setPEnabledExtensionNames(names);
    try {
        instance_ = vk::createInstanceUnique(info);
    } catch (const vk::IncompatibleDriverError&) {
        throw std::runtime_error(
            "no Vulkan driver was found; install one (Debian: mesa-vulkan-drivers)");
    }
    VULKAN_HPP_DEFAULT_DISPATCHER.init(*instance_);
    if (validation) {
        using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
        using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
        messenger_ = instance_->createDebugUtilsMessengerEXTUnique(
            {.messageSeverity = Severity::eWarning | Severity::eError,
             .messageType = Type::eValidation | Type::ePerformance,
             .pfnUserCallback = print_message,
             .pUserData = &validation_messages_});
    }
}

// ---- The device

Gpu::Gpu(const Instance& instance, const std::string& select, vk::SurfaceKHR surface,
         std::size_t turn)
    : instance_(instance.handle()), validates_(instance.validates()) {
    choose_physical_device(select, surface, turn);
    make_device(static_cast<bool>(surface));
    command_pool_ = device_->createCommandPoolUnique(
        {.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
         .queueFamilyIndex = queue_family_});
    commands_ = std::move(device_->allocateCommandBuffersUnique(
        {.commandPool = *command_pool_, .commandBufferCount = 1})[0]);
    done_ = device_->createFenceUnique({});
}

Gpu::~Gpu() {
    wait_idle();  // work that has not ended must not lose its memory
}

void Gpu::choose_physical_device(const std::string& select, vk::SurfaceKHR surface,
                                 std::size_t turn) {
    const char* const variable = std::getenv("QUADTILE_DEVICE");
    const std::string wanted =
        !select.empty() ? select : std::string(variable == nullptr ? "" : variable);
    const std::vector<vk::PhysicalDevice> all = instance_.enumeratePhysicalDevices();
    std::string objections;
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string name = all[i].getProperties().deviceName.data();
        choices_.push_back({name, objection_to(all[i], surface)});
        if (!choices_.back().objection.empty()) {
            objections += "; " + name + ": " + choices_.back().objection;
        } else if (!wanted.empty() && !is_selected(wanted, i, name, all.size())) {
            objections += "; " + name + ": it is not '" + wanted + "'";
        } else {
            if (!best.empty() && rank(all[i]) > rank(all[best.front()])) {
                best.clear();
            }
            if (best.empty() || rank(all[i]) == rank(all[best.front()])) {
                best.push_back(i);
            }
        }
    }
    if (best.empty()) {
        throw std::runtime_error("no Vulkan device is suitable" + objections);
    }
    chosen_ = best[turn % best.size()];
    physical_device_ = all[chosen_];
    ends_long_loops_ =
        physical_device_
            .getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceDriverProperties>()
            .get<vk::PhysicalDeviceDriverProperties>()
            .driverID == vk::DriverId::eMesaLlvmpipe;
    queue_family_ = find_queue_family(physical_device_, surface).value();
    const vk::QueueFamilyProperties family =
        physical_device_.getQueueFamilyProperties()[queue_family_];
    if (family.timestampValidBits > 0) {
        timestamp_milliseconds_ = physical_device_.getProperties().limits.timestampPeriod * 1e-6;
    }
}

void Gpu::make_device(bool presents) {
    const float priority = 1.0F;
    const vk::DeviceQueueCreateInfo queue{
        .queueFamilyIndex = queue_family_, .queueCount = 1, .pQueuePriorities = &priority};
    // quadtile needs the memory model; it uses subgroups of known size, storage images of all
    // formats.
    vk::PhysicalDeviceSubgroupSizeControlFeatures subgroups;
    if (physical_device_.getProperties().apiVersion >= VK_API_VERSION_1_3) {
        vk::PhysicalDeviceFeatures2 has{.pNext = &subgroups};
        physical_device_.getFeatures2(&has);
    }
    enabled_.subgroup_operations =
        subgroups.subgroupSizeControl == VK_TRUE && subgroups.computeFullSubgroups == VK_TRUE;
    const vk::PhysicalDeviceFeatures has = physical_device_.getFeatures();
    enabled_.storage_image_formats = has.shaderStorageImageWriteWithoutFormat == VK_TRUE &&
                                     has.shaderStorageImageExtendedFormats == VK_TRUE;
    // The others are for draws that the GPU generates, into parts of a depth buffer.
    const vk::PhysicalDeviceFeatures core{
        .multiDrawIndirect = has.multiDrawIndirect,
        .drawIndirectFirstInstance = has.drawIndirectFirstInstance,
        .depthClamp = has.depthClamp,
        .shaderStorageImageExtendedFormats = enabled_.storage_image_formats ? VK_TRUE : VK_FALSE,
        .shaderStorageImageWriteWithoutFormat = enabled_.storage_image_formats ? VK_TRUE : VK_FALSE,
        .shaderClipDistance = has.shaderClipDistance};
    vk::PhysicalDeviceVulkan12Features use{
        .pNext = enabled_.subgroup_operations ? &subgroups : nullptr,
        .vulkanMemoryModel = VK_TRUE,
        .vulkanMemoryModelDeviceScope = VK_TRUE,
    };
    const char* const swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    device_ = physical_device_.createDeviceUnique({.pNext = &use,
                                                   .queueCreateInfoCount = 1,
                                                   .pQueueCreateInfos = &queue,
                                                   .enabledExtensionCount = presents ? 1U : 0U,
                                                   .ppEnabledExtensionNames = &swapchain,
                                                   .pEnabledFeatures = &core});
    VULKAN_HPP_DEFAULT_DISPATCHER.init(*device_);
    queue_ = device_->getQueue(queue_family_, 0);
}

quadtile::AdoptedDevice Gpu::for_quadtile(std::span<const std::byte> pipeline_cache) const {
    quadtile::AdoptedDevice host{
        .get_instance_proc_addr = VULKAN_HPP_DEFAULT_DISPATCHER.vkGetInstanceProcAddr,
        .instance = instance_,
        .physical_device = physical_device_,
        .device = *device_,
        .queue_family = queue_family_,
        .debug_utils = validates_,
        .pipeline_cache = pipeline_cache};
    host.enabled = enabled_;
    return host;
}

void Gpu::run(const std::function<void(vk::CommandBuffer)>& record) {
    commands_->reset();  // an error may have left the last recording unfinished
    commands_->begin(
        vk::CommandBufferBeginInfo{.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    record(*commands_);
    commands_->end();
    queue_.submit(vk::SubmitInfo{.commandBufferCount = 1, .pCommandBuffers = &*commands_}, *done_);
    wait(*done_);
    device_->resetFences(*done_);
}

void Gpu::wait(vk::Fence fence) const {
    if (device_->waitForFences(fence, VK_TRUE, LONGEST_RUN_NANOSECONDS) != vk::Result::eSuccess) {
        end_at_once("work on the GPU did not end within a minute");
    }
}

void Gpu::wait_idle() const noexcept {
    try {
        const vk::UniqueFence behind_all_work = device_->createFenceUnique({});
        queue_.submit(vk::SubmitInfo(), *behind_all_work);
        wait(*behind_all_work);
    } catch (const vk::SystemError&) {
        // After a loss nothing runs any more.
    }
    // Also for what is presented, which has no fence. The work has ended, so this does, too.
    (void)VULKAN_HPP_DEFAULT_DISPATCHER.vkDeviceWaitIdle(*device_);
}

void Gpu::upload(vk::Buffer target, std::span<const std::byte> bytes) {
    constexpr std::size_t LARGEST_PART = 64U << 20U;
    const Buffer staging = make_buffer(std::min(LARGEST_PART, bytes.size()),
                                       vk::BufferUsageFlagBits::eTransferSrc, MemoryUse::upload);
    for (std::size_t offset = 0; offset < bytes.size(); offset += staging.size_bytes) {
        const std::size_t size = std::min<std::size_t>(staging.size_bytes, bytes.size() - offset);
        std::memcpy(staging.mapped, bytes.data() + offset, size);
        run([&](vk::CommandBuffer commands) {
            commands.copyBuffer(*staging.handle, target,
                                vk::BufferCopy{.dstOffset = offset, .size = size});
            memory_barrier(commands);
        });
    }
}

// ---- Memory and pipelines

vk::UniqueDeviceMemory Gpu::allocate(const vk::MemoryRequirements& requirements,
                                     MemoryUse use) const {
    const auto memory = physical_device_.getMemoryProperties();
    for (const vk::MemoryPropertyFlags wanted :
         {preferred_properties(use), required_properties(use)}) {
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            if (((requirements.memoryTypeBits >> i) & 1U) != 0 &&
                (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
                return device_->allocateMemoryUnique(
                    {.allocationSize = requirements.size, .memoryTypeIndex = i});
            }
        }
    }
    throw std::runtime_error("the device has no memory for " +
                             vk::to_string(required_properties(use)));
}

Buffer Gpu::make_buffer(vk::DeviceSize size_bytes, vk::BufferUsageFlags usage,
                        MemoryUse use) const {
    Buffer buffer{.size_bytes = size_bytes};
    buffer.handle = device_->createBufferUnique({.size = size_bytes, .usage = usage});
    buffer.memory = allocate(device_->getBufferMemoryRequirements(*buffer.handle), use);
    device_->bindBufferMemory(*buffer.handle, *buffer.memory, 0);
    if (use != MemoryUse::device) {
        buffer.mapped =
            static_cast<std::byte*>(device_->mapMemory(*buffer.memory, 0, VK_WHOLE_SIZE));
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

Image Gpu::make_image(const vk::ImageCreateInfo& create, vk::ImageViewType view_type) const {
    Image image{.created = create, .extent = {create.extent.width, create.extent.height}};
    image.handle = device_->createImageUnique(image.created);
    image.memory = allocate(device_->getImageMemoryRequirements(*image.handle), MemoryUse::device);
    device_->bindImageMemory(*image.handle, *image.memory, 0);
    vk::ImageSubresourceRange range = COLOUR_RANGE;
    if (create.format == vk::Format::eD32Sfloat) {
        range.aspectMask = vk::ImageAspectFlagBits::eDepth;
    }
    image.view = device_->createImageViewUnique({.image = *image.handle,
                                                 .viewType = view_type,
                                                 .format = create.format,
                                                 .subresourceRange = range});
    return image;
}

Buffer Gpu::upload(std::span<const std::byte> bytes, vk::BufferUsageFlags usage) {
    Buffer buffer = make_buffer(bytes.size(), usage | vk::BufferUsageFlagBits::eTransferDst);
    upload(*buffer.handle, bytes);
    return buffer;
}

vk::UniqueFramebuffer Gpu::make_framebuffer(vk::RenderPass pass, vk::Extent2D extent,
                                            std::span<const vk::ImageView> attachments) const {
    return device_->createFramebufferUnique(
        {.renderPass = pass,
         .attachmentCount = static_cast<std::uint32_t>(attachments.size()),
         .pAttachments = attachments.data(),
         .width = extent.width,
         .height = extent.height,
         .layers = 1});
}

ProgramInterface Gpu::make_interface(vk::ShaderStageFlags stages,
                                     std::vector<vk::DescriptorType> types,
                                     std::size_t push_constants_size_bytes) const {
    ProgramInterface made{.stages = stages, .types = std::move(types)};
    std::vector<vk::DescriptorSetLayoutBinding> bindings;
    std::vector<vk::DescriptorPoolSize> sizes;
    for (const vk::DescriptorType type : made.types) {
        bindings.push_back({static_cast<std::uint32_t>(bindings.size()), type, 1, stages});
        sizes.push_back({type, 1});
    }
    made.set_layout = device_->createDescriptorSetLayoutUnique(
        vk::DescriptorSetLayoutCreateInfo{}.setBindings(bindings));
    made.pool = device_->createDescriptorPoolUnique(
        vk::DescriptorPoolCreateInfo{.maxSets = 1}.setPoolSizes(sizes));
    made.set = device_->allocateDescriptorSets(
        vk::DescriptorSetAllocateInfo{.descriptorPool = *made.pool}.setSetLayouts(
            *made.set_layout))[0];
    const vk::PushConstantRange constants{
        .stageFlags = stages, .size = static_cast<std::uint32_t>(push_constants_size_bytes)};
    vk::PipelineLayoutCreateInfo layout;
    layout.setSetLayouts(*made.set_layout);
    if (constants.size > 0) {
        layout.setPushConstantRanges(constants);
    }
    made.layout = device_->createPipelineLayoutUnique(layout);
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
                             vk::ImageLayout image_layout, vk::Sampler sampler) const {
    const vk::DescriptorImageInfo info{sampler, image, image_layout};
    layout.getOwner().updateDescriptorSets(
        vk::WriteDescriptorSet{
            .dstSet = set, .dstBinding = binding, .descriptorType = types[binding]}
            .setImageInfo(info),
        {});
}

void ProgramInterface::bind(vk::CommandBuffer commands, vk::Pipeline pipeline,
                            vk::PipelineBindPoint point) const {
    commands.bindPipeline(point, pipeline);
    commands.bindDescriptorSets(point, *layout, 0, set, {});
}

vk::UniqueShaderModule Gpu::make_shader(SpirV words) const {
    return device_->createShaderModuleUnique(
        {.codeSize = words.size_bytes(), .pCode = words.data()});
}

vk::UniquePipeline Gpu::make_compute_pipeline(vk::PipelineLayout layout, SpirV shader,
                                              bool constant) const {
    const auto module = make_shader(shader);
    const vk::Bool32 value = constant ? VK_TRUE : VK_FALSE;
    const vk::SpecializationMapEntry entry{.size = sizeof(value)};
    const vk::SpecializationInfo constants{
        .mapEntryCount = 1, .pMapEntries = &entry, .dataSize = sizeof(value), .pData = &value};
    const vk::ComputePipelineCreateInfo info{.stage = {.stage = vk::ShaderStageFlagBits::eCompute,
                                                       .module = *module,
                                                       .pName = "main",
                                                       .pSpecializationInfo = &constants},
                                             .layout = layout};
    return device_->createComputePipelineUnique({}, info).value;
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
    return device_->createGraphicsPipelineUnique({}, info).value;
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

// ---- Barriers

void begin_render_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                       vk::Extent2D extent, std::span<const vk::ClearValue> clear) {
    commands.beginRenderPass({.renderPass = pass,
                              .framebuffer = framebuffer,
                              .renderArea = {.extent = extent},
                              .clearValueCount = static_cast<std::uint32_t>(clear.size()),
                              .pClearValues = clear.data()},
                             vk::SubpassContents::eInline);
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
