#include "support/gpu.hpp"

#include <quadtile/error.hpp>

// This file's Vulkan-Hpp, which calls the loader, exchanges only C handles with those of the
// library and the programs.
#define VULKAN_HPP_NAMESPACE quadtile_test_vulkan
#define VULKAN_HPP_NO_CONSTRUCTORS
#define VULKAN_HPP_NO_SPACESHIP_OPERATOR
#include <vulkan/vulkan.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

namespace quadtile::test {

namespace {

namespace vk = ::quadtile_test_vulkan;

constexpr VkDeviceSize STAGING_SIZE_BYTES = VkDeviceSize{64} << 20U;

// Turns a unique handle of Vulkan-Hpp into a shared one.
template <typename Made>
auto keep(Made made) {
    using Handle = typename Made::element_type::CType;
    const auto owner = std::make_shared<Made>(std::move(made));
    return Owned<Handle>(owner, static_cast<Handle>(owner->get()));
}

// Allocates memory. Benchmarks tell from the Error that memory was too small.
template <typename Calls>
auto allocating(const Calls& calls) {
    try {
        return calls();
    } catch (const vk::SystemError& error) {
        const int code = error.code().value();
        const bool is_memory =
            code == VK_ERROR_OUT_OF_DEVICE_MEMORY || code == VK_ERROR_OUT_OF_HOST_MEMORY;
        throw Error(is_memory ? ErrorCode::out_of_memory : ErrorCode::vulkan, error.what(), code);
    }
}

VkDeviceSize texel_size_bytes_of(VkFormat format) {
    if (format == VK_FORMAT_R32_UINT) {
        return sizeof(std::uint32_t);
    }
    for (const TexelFormat candidate :
         {TexelFormat::r32_float, TexelFormat::r16_float, TexelFormat::d32_float,
          TexelFormat::r16_unorm, TexelFormat::r8_unorm, TexelFormat::d16_unorm,
          TexelFormat::rg32_float, TexelFormat::rg16_float, TexelFormat::rgba32_float,
          TexelFormat::rgba16_float, TexelFormat::rgba8_unorm, TexelFormat::rgba8_srgb}) {
        if (vk_format(candidate) == format) {
            return texel_size_bytes(candidate);
        }
    }
    throw Error(ErrorCode::invalid_argument,
                "VkFormat " + std::to_string(format) + " is none of a TexelFormat");
}

void record_barrier(vk::CommandBuffer commands, vk::PipelineStageFlags before,
                    vk::PipelineStageFlags after, const vk::MemoryBarrier& barrier) {
    commands.pipelineBarrier(before, after, {}, barrier, {}, {});
}

}  // namespace

VkImageCreateInfo image_info(const ImageShape& shape, std::uint32_t levels, VkImageUsageFlags usage,
                             VkImageCreateFlags flags) {
    return vk::ImageCreateInfo{.flags = vk::ImageCreateFlags(flags),
                               .imageType = vk::ImageType::e2D,
                               .format = static_cast<vk::Format>(vk_format(shape.format)),
                               .extent = {shape.width, shape.height, 1},
                               .mipLevels = levels,
                               .arrayLayers = shape.layers,
                               .usage = vk::ImageUsageFlags(usage)};
}

VkImageSubresourceRange Image::range() const noexcept {
    const bool is_depth =
        created_.format == VK_FORMAT_D32_SFLOAT || created_.format == VK_FORMAT_D16_UNORM;
    return {static_cast<VkImageAspectFlags>(is_depth ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                     : VK_IMAGE_ASPECT_COLOR_BIT),
            0, created_.mipLevels, 0, created_.arrayLayers};
}

Gpu::Gpu(const Device& device, SubmitFunction submit)
    : device_(device), submit_(std::move(submit)) {
    if (!submit_) {
        submit_ = [queue = device.queue()](const VkSubmitInfo& work, VkFence fence) {
            return vkQueueSubmit(queue, 1, &work, fence);
        };
    }
    const vk::PhysicalDevice physical_device = device.physical_device();
    properties_ = physical_device.getProperties();
    timestamp_valid_bits_ =
        physical_device.getQueueFamilyProperties().at(device.queue_family()).timestampValidBits;
    const vk::Device made_on = device.handle();
    command_pool_ =
        keep(made_on.createCommandPoolUnique({.queueFamilyIndex = device.queue_family()}));
    commands_ = made_on.allocateCommandBuffers(
        {.commandPool = command_pool_.get(), .commandBufferCount = 1})[0];
    fence_ = keep(made_on.createFenceUnique({}));
}

Owned<VkDeviceMemory> Gpu::allocate(const VkMemoryRequirements& requirements, Memory memory) const {
    using Property = vk::MemoryPropertyFlagBits;
    constexpr auto HOST = Property::eHostVisible | Property::eHostCoherent;
    // Takes the first memory type with all flags of the first set that any type has.
    const auto preferences =
        memory == Memory::device_local
            ? std::array{vk::MemoryPropertyFlags(Property::eDeviceLocal), vk::MemoryPropertyFlags()}
            : std::array{HOST | Property::eHostCached, HOST};
    const auto types = vk::PhysicalDevice(device_.physical_device()).getMemoryProperties();
    for (const vk::MemoryPropertyFlags wanted : preferences) {
        for (std::uint32_t type = 0; type < types.memoryTypeCount; ++type) {
            if ((requirements.memoryTypeBits >> type & 1U) != 0 &&
                (types.memoryTypes[type].propertyFlags & wanted) == wanted) {
                return keep(vk::Device(device_.handle())
                                .allocateMemoryUnique({.allocationSize = requirements.size,
                                                       .memoryTypeIndex = type}));
            }
        }
    }
    throw Error(ErrorCode::unsupported, "the device has no memory type for the resource");
}

Buffer Gpu::make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage, Memory memory) const {
    return allocating([&] {
        const vk::Device device = device_.handle();
        Buffer buffer;
        buffer.size_bytes_ = size_bytes;
        buffer.buffer_ = keep(device.createBufferUnique(
            {.size = size_bytes,
             .usage = vk::BufferUsageFlags(usage) | vk::BufferUsageFlagBits::eTransferSrc |
                      vk::BufferUsageFlagBits::eTransferDst}));
        buffer.memory_ = allocate(device.getBufferMemoryRequirements(buffer.handle()), memory);
        device.bindBufferMemory(buffer.handle(), buffer.memory_.get(), 0);
        if (memory == Memory::host_visible) {
            buffer.mapped_ =
                static_cast<std::byte*>(device.mapMemory(buffer.memory_.get(), 0, VK_WHOLE_SIZE));
        }
        return buffer;
    });
}

Image Gpu::make_image(VkImageCreateInfo info, VkImageLayout layout) {
    info.usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    Image image = allocating([&] {
        const vk::Device device = device_.handle();
        vk::ImageCreateInfo create;
        create = info;
        Image made;
        made.created_ = info;
        made.layout_ = layout;
        made.image_ = keep(device.createImageUnique(create));
        made.memory_ =
            allocate(device.getImageMemoryRequirements(made.handle()), Memory::device_local);
        device.bindImageMemory(made.handle(), made.memory_.get(), 0);
        return made;
    });
    if ((info.usage & VK_IMAGE_USAGE_SAMPLED_BIT) != 0) {
        image.view_ = make_view(image, 0, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_IMAGE_USAGE_SAMPLED_BIT);
    }
    run([&](VkCommandBuffer commands) {
        transition(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, layout);
    });
    return image;
}

Image Gpu::make_image(const MapShape& shape, VkImageLayout layout) {
    return make_image(image_info(shape, 1, VK_IMAGE_USAGE_SAMPLED_BIT), layout);
}

Owned<VkImageView> Gpu::make_view(const Image& image, std::uint32_t level, VkImageViewType type,
                                  VkImageUsageFlags usage) const {
    const vk::ImageViewUsageCreateInfo used{.usage = vk::ImageUsageFlags(usage)};
    return keep(vk::Device(device_.handle())
                    .createImageViewUnique(
                        {.pNext = usage != 0 ? &used : nullptr,
                         .image = image.handle(),
                         .viewType = static_cast<vk::ImageViewType>(type),
                         .format = static_cast<vk::Format>(image.created_.format),
                         .subresourceRange = {
                             .aspectMask = vk::ImageAspectFlags(image.range().aspectMask),
                             .baseMipLevel = level,
                             .levelCount = 1,
                             .layerCount = type == VK_IMAGE_VIEW_TYPE_2D ? 1 : image.layers()}}));
}

void Gpu::transition(VkCommandBuffer commands, const Image& image, VkImageLayout from,
                     VkImageLayout to) const {
    vk::ImageMemoryBarrier transition{
        .srcAccessMask = vk::AccessFlagBits::eMemoryWrite,
        .dstAccessMask = vk::AccessFlagBits::eMemoryRead | vk::AccessFlagBits::eMemoryWrite,
        .oldLayout = static_cast<vk::ImageLayout>(from),
        .newLayout = static_cast<vk::ImageLayout>(to),
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image.handle()};
    transition.subresourceRange = image.range();
    constexpr auto ALL = vk::PipelineStageFlagBits::eAllCommands;
    vk::CommandBuffer(commands).pipelineBarrier(ALL, ALL, {}, {}, {}, transition);
}

void Gpu::barrier(VkCommandBuffer commands) const {
    constexpr auto STAGES =
        vk::PipelineStageFlagBits::eAllCommands | vk::PipelineStageFlagBits::eHost;
    record_barrier(
        commands, STAGES, STAGES,
        {.srcAccessMask = vk::AccessFlagBits::eMemoryWrite,
         .dstAccessMask = vk::AccessFlagBits::eMemoryRead | vk::AccessFlagBits::eMemoryWrite});
}

void Gpu::compute_barrier(VkCommandBuffer commands) const {
    constexpr auto COMPUTE = vk::PipelineStageFlagBits::eComputeShader;
    record_barrier(
        commands, COMPUTE, COMPUTE | vk::PipelineStageFlagBits::eDrawIndirect,
        {.srcAccessMask = vk::AccessFlagBits::eShaderWrite,
         .dstAccessMask = vk::AccessFlagBits::eShaderRead | vk::AccessFlagBits::eShaderWrite |
                          vk::AccessFlagBits::eIndirectCommandRead});
}

void Gpu::record_once(const Recorder& record) const {
    const vk::CommandBuffer commands = commands_;
    vk::Device(device_.handle()).resetCommandPool(command_pool_.get());
    commands.begin(vk::CommandBufferBeginInfo{});
    // Orders this call's work against the next one's; nothing else does.
    barrier(commands_);
    record(commands_);
    barrier(commands_);
    commands.end();
}

void Gpu::submit_and_wait() const {
    const vk::Device device = device_.handle();
    const vk::CommandBuffer commands = commands_;
    const vk::Fence fence = fence_.get();
    const VkSubmitInfo submit = vk::SubmitInfo{}.setCommandBuffers(commands);
    vk::resultCheck(static_cast<vk::Result>(submit_(submit, fence)), "vkQueueSubmit");
    (void)device.waitForFences(fence, VK_TRUE, std::numeric_limits<std::uint64_t>::max());
    device.resetFences(fence);
}

void Gpu::run(const Recorder& record) {
    record_once(record);
    submit_and_wait();
}

std::vector<double> Gpu::time_ns(const Recorder& record, std::uint32_t submissions,
                                 std::uint32_t repeats) {
    if (timestamp_valid_bits_ == 0) {
        throw Error(ErrorCode::unsupported, "the device's compute queue has no timestamps");
    }
    const vk::Device device = device_.handle();
    const std::uint32_t query_count = 2 * repeats;
    const auto queries = device.createQueryPoolUnique(
        {.queryType = vk::QueryType::eTimestamp, .queryCount = query_count});
    record_once([&](vk::CommandBuffer commands) {
        commands.resetQueryPool(*queries, 0, query_count);
        for (std::uint32_t query = 0; query < query_count; query += 2) {
            barrier(commands);
            commands.writeTimestamp(vk::PipelineStageFlagBits::eAllCommands, *queries, query);
            record(commands);
            commands.writeTimestamp(vk::PipelineStageFlagBits::eAllCommands, *queries, query + 1);
        }
    });

    const std::uint64_t valid_mask =
        std::numeric_limits<std::uint64_t>::max() >> (64U - timestamp_valid_bits_);
    std::vector<double> durations_ns;
    for (std::uint32_t submission = 0; submission < submissions; ++submission) {
        submit_and_wait();
        const std::vector<std::uint64_t> ticks =
            device
                .getQueryPoolResults<std::uint64_t>(
                    *queries, 0, query_count, query_count * sizeof(std::uint64_t),
                    sizeof(std::uint64_t),
                    vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait)
                .value;
        for (std::uint32_t query = 0; query < query_count; query += 2) {
            const std::uint64_t elapsed = (ticks[query + 1] - ticks[query]) & valid_mask;
            durations_ns.push_back(static_cast<double>(elapsed) *
                                   double{properties_.limits.timestampPeriod});
        }
    }
    return durations_ns;
}

void Gpu::fill(const Buffer& buffer, std::uint32_t word) {
    run([&](VkCommandBuffer commands) {
        vkCmdFillBuffer(commands, buffer.handle(), 0, VK_WHOLE_SIZE, word);
    });
}

const Buffer& Gpu::staging() {
    if (staging_.handle() == VK_NULL_HANDLE) {
        staging_ = make_buffer(STAGING_SIZE_BYTES, 0, Memory::host_visible);
    }
    return staging_;
}

void Gpu::download(const Buffer& buffer, VkDeviceSize offset_bytes, std::span<std::byte> bytes) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += STAGING_SIZE_BYTES) {
        const std::size_t size = std::min<std::size_t>(bytes.size() - begin, STAGING_SIZE_BYTES);
        const Buffer& to = staging();
        run([&](VkCommandBuffer commands) {
            const VkBufferCopy region = {offset_bytes + begin, 0, size};
            vkCmdCopyBuffer(commands, buffer.handle(), to.handle(), 1, &region);
        });
        std::memcpy(bytes.data() + begin, to.mapped(), size);
    }
}

void Gpu::for_each_chunk(const Image& image,
                         const std::function<void(const VkBufferImageCopy&, std::size_t offset,
                                                  std::size_t size)>& copy) {
    const VkExtent3D extent = image.extent();
    const std::size_t row_size =
        extent.width * texel_size_bytes_of(image.resource().created.format);
    const auto rows_per_chunk = static_cast<std::uint32_t>(staging().size_bytes() / row_size);
    std::size_t offset = 0;
    for (std::uint32_t layer = 0; layer < image.layers(); ++layer) {
        for (std::uint32_t row = 0; row < extent.height; row += rows_per_chunk) {
            const std::uint32_t rows = std::min(rows_per_chunk, extent.height - row);
            const VkBufferImageCopy region = {
                .imageSubresource = {image.range().aspectMask, 0, layer, 1},
                .imageOffset = {0, static_cast<std::int32_t>(row), 0},
                .imageExtent = {extent.width, rows, 1},
            };
            copy(region, offset, rows * row_size);
            offset += rows * row_size;
        }
    }
}

void Gpu::upload(const Image& image, const void* texels) {
    std::vector<VkBufferImageCopy> regions;  // regions in the staging buffer
    std::size_t used = 0;
    const auto copy = [&] {
        run([&](VkCommandBuffer commands) {
            constexpr VkImageLayout LAYOUT = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
            transition(commands, image, image.layout(), LAYOUT);
            vkCmdCopyBufferToImage(commands, staging_.handle(), image.handle(), LAYOUT,
                                   static_cast<std::uint32_t>(regions.size()), regions.data());
            transition(commands, image, LAYOUT, image.layout());
        });
        regions.clear();
        used = 0;
    };
    for_each_chunk(image, [&](VkBufferImageCopy region, std::size_t offset, std::size_t size) {
        if (used + size > STAGING_SIZE_BYTES) {
            copy();
        }
        std::memcpy(staging_.mapped() + used, static_cast<const std::byte*>(texels) + offset, size);
        region.bufferOffset = used;
        regions.push_back(region);
        used = (used + size + 15) & ~std::size_t{15};  // aligned for depth and all texels
    });
    copy();
}

std::vector<std::byte> Gpu::download(const Image& image, std::uint32_t level) {
    const VkExtent3D extent = {std::max(image.extent().width >> level, 1U),
                               std::max(image.extent().height >> level, 1U), 1};
    std::vector<std::byte> texels(std::size_t{extent.width} * extent.height * image.layers() *
                                  texel_size_bytes_of(image.created_.format));
    const Buffer buffer = make_buffer(texels.size(), 0);
    run([&](VkCommandBuffer commands) {
        constexpr VkImageLayout LAYOUT = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        const VkBufferImageCopy region = {
            .imageSubresource = {image.range().aspectMask, level, 0, image.layers()},
            .imageExtent = extent,
        };
        transition(commands, image, image.layout(), LAYOUT);
        vkCmdCopyImageToBuffer(commands, image.handle(), LAYOUT, buffer.handle(), 1, &region);
        transition(commands, image, LAYOUT, image.layout());
    });
    download(buffer, 0, texels);
    return texels;
}

Image Gpu::upload(const MapView& map) {
    Image image = make_image(map.shape);
    upload(image, map.texels);
    return image;
}

DescriptorSet::DescriptorSet(const Device& device, std::span<const Descriptors> bindings) {
    const vk::Device made_on = device.handle();
    std::vector<vk::DescriptorSetLayoutBinding> layout_bindings;
    std::vector<vk::DescriptorPoolSize> pool_sizes;
    std::vector<vk::WriteDescriptorSet> writes;
    for (const Descriptors& binding : bindings) {
        const auto type = static_cast<vk::DescriptorType>(binding.type);
        const auto count =
            static_cast<std::uint32_t>(binding.buffers.size() + binding.images.size());
        layout_bindings.push_back({.binding = binding.binding,
                                   .descriptorType = type,
                                   .descriptorCount = count,
                                   .stageFlags = vk::ShaderStageFlagBits::eCompute});
        pool_sizes.push_back({type, count});
        writes.push_back(
            {.dstBinding = binding.binding,
             .descriptorCount = count,
             .descriptorType = type,
             .pImageInfo = reinterpret_cast<const vk::DescriptorImageInfo*>(binding.images.data()),
             .pBufferInfo =
                 reinterpret_cast<const vk::DescriptorBufferInfo*>(binding.buffers.data())});
    }
    layout_ = keep(made_on.createDescriptorSetLayoutUnique(
        vk::DescriptorSetLayoutCreateInfo{}.setBindings(layout_bindings)));
    if (bindings.empty()) {
        return;
    }
    pool_ = keep(made_on.createDescriptorPoolUnique(
        vk::DescriptorPoolCreateInfo{.maxSets = 1}.setPoolSizes(pool_sizes)));
    const vk::DescriptorSetLayout layout = layout_.get();
    const vk::DescriptorSet set = made_on.allocateDescriptorSets(
        vk::DescriptorSetAllocateInfo{.descriptorPool = pool_.get()}.setSetLayouts(layout))[0];
    for (vk::WriteDescriptorSet& write : writes) {
        write.dstSet = set;
    }
    made_on.updateDescriptorSets(writes, {});
    set_ = set;
}

ComputePipeline::ComputePipeline(const Gpu& gpu, std::span<const std::uint32_t> spirv,
                                 std::span<const BufferRange> storage_buffers,
                                 const MapImage* image, std::uint32_t push_constants_bytes,
                                 std::span<const VkImageView> stored) {
    const vk::Device device = gpu.device().handle();
    std::vector<Descriptors> bindings;
    const auto add = [&](VkDescriptorType type) -> Descriptors& {
        const auto binding = static_cast<std::uint32_t>(bindings.size());
        return bindings.emplace_back(Descriptors{.binding = binding, .type = type});
    };
    for (const BufferRange& range : storage_buffers) {
        add(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER).buffers = {
            {range.buffer, range.offset_bytes, VK_WHOLE_SIZE}};
    }
    if (image != nullptr) {
        constexpr auto EDGE = vk::SamplerAddressMode::eClampToEdge;
        sampler_ = keep(device.createSamplerUnique(
            {.addressModeU = EDGE, .addressModeV = EDGE, .addressModeW = EDGE}));
        add(VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER).images = {
            {sampler_.get(), image->view, image->layout}};
    }
    if (!stored.empty()) {
        Descriptors& images = add(VK_DESCRIPTOR_TYPE_STORAGE_IMAGE);
        for (const VkImageView view : stored) {
            images.images.push_back({VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL});
        }
    }
    set_.emplace(gpu.device(), bindings);

    const vk::DescriptorSetLayout set_layout = set_->layout();
    const vk::PushConstantRange push_constants{vk::ShaderStageFlagBits::eCompute, 0,
                                               push_constants_bytes};
    layout_ = keep(device.createPipelineLayoutUnique(
        {.setLayoutCount = 1,
         .pSetLayouts = &set_layout,
         .pushConstantRangeCount = push_constants_bytes > 0 ? 1U : 0U,
         .pPushConstantRanges = &push_constants}));
    const auto shader =
        device.createShaderModuleUnique({.codeSize = spirv.size_bytes(), .pCode = spirv.data()});
    pipeline_ = keep(
        device
            .createComputePipelineUnique({}, {.stage = {.stage = vk::ShaderStageFlagBits::eCompute,
                                                        .module = *shader,
                                                        .pName = "main"},
                                              .layout = layout_.get()})
            .value);
}

void ComputePipeline::record(VkCommandBuffer commands, VkExtent3D workgroups,
                             std::span<const std::byte> push_constants) const {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_.get());
    if (const VkDescriptorSet set = set_->handle(); set != VK_NULL_HANDLE) {
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_.get(), 0, 1, &set,
                                0, nullptr);
    }
    if (!push_constants.empty()) {
        vkCmdPushConstants(commands, layout_.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<std::uint32_t>(push_constants.size()),
                           push_constants.data());
    }
    vkCmdDispatch(commands, workgroups.width, workgroups.height, workgroups.depth);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values.at(middle)
                                  : 0.5 * (values.at(middle - 1) + values.at(middle));
}

}  // namespace quadtile::test
