#include "support/gpu.hpp"

#include <quadtile/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

namespace quadtile::test {

namespace {

constexpr VkDeviceSize STAGING_SIZE_BYTES = VkDeviceSize{64} << 20U;

void check(VkResult result, const char* call) {
    if (result == VK_SUCCESS) {
        return;
    }
    ErrorCode code = ErrorCode::vulkan;
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        code = ErrorCode::out_of_memory;
    } else if (result == VK_ERROR_DEVICE_LOST) {
        code = ErrorCode::device_lost;
    }
    throw Error(code, std::string(call) + " failed with VkResult " + std::to_string(result),
                result);
}

// Calls a vkCreate function and owns what it makes.
template <typename Handle, typename Info>
Owned<Handle> make(VkDevice device, const char* call,
                   VkResult(VKAPI_PTR* create)(VkDevice, const Info*, const VkAllocationCallbacks*,
                                               Handle*),
                   typename Owned<Handle>::Destroy destroy, const Info& info) {
    Handle handle = VK_NULL_HANDLE;
    check(create(device, &info, nullptr, &handle), call);
    return {device, handle, destroy};
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

VkImageAspectFlags aspect_of(VkFormat format) {
    return format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D16_UNORM
               ? VK_IMAGE_ASPECT_DEPTH_BIT
               : VK_IMAGE_ASPECT_COLOR_BIT;
}

}  // namespace

Gpu::Gpu(const Device& device, SubmitFunction submit)
    : device_(device), submit_(std::move(submit)) {
    if (!submit_) {
        submit_ = [queue = device.queue()](const VkSubmitInfo& work, VkFence fence) {
            return vkQueueSubmit(queue, 1, &work, fence);
        };
    }
    vkGetPhysicalDeviceProperties(device.physical_device(), &properties_);
    vkGetPhysicalDeviceMemoryProperties(device.physical_device(), &memory_properties_);

    std::uint32_t family_count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device.physical_device(), &family_count, nullptr);
    std::vector<VkQueueFamilyProperties> families(family_count);
    vkGetPhysicalDeviceQueueFamilyProperties(device.physical_device(), &family_count,
                                             families.data());
    timestamp_valid_bits_ = families.at(device.queue_family()).timestampValidBits;

    command_pool_ =
        make(device.handle(), "vkCreateCommandPool", vkCreateCommandPool, vkDestroyCommandPool,
             VkCommandPoolCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                 .queueFamilyIndex = device.queue_family(),
             });
    const VkCommandBufferAllocateInfo commands_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command_pool_.get(),
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    check(vkAllocateCommandBuffers(device.handle(), &commands_info, &commands_),
          "vkAllocateCommandBuffers");
    fence_ = make(device.handle(), "vkCreateFence", vkCreateFence, vkDestroyFence,
                  VkFenceCreateInfo{.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO});
}

Gpu::~Gpu() = default;

Owned<VkDeviceMemory> Gpu::allocate(const VkMemoryRequirements& requirements, Memory memory) const {
    constexpr VkMemoryPropertyFlags HOST =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    // The first type that has all flags of the first set that any type has.
    const std::vector<VkMemoryPropertyFlags> preferences =
        memory == Memory::device_local
            ? std::vector<VkMemoryPropertyFlags>{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0}
            : std::vector<VkMemoryPropertyFlags>{HOST | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, HOST};
    for (const VkMemoryPropertyFlags wanted : preferences) {
        for (std::uint32_t type = 0; type < memory_properties_.memoryTypeCount; ++type) {
            const bool allowed = ((requirements.memoryTypeBits >> type) & 1U) != 0;
            const VkMemoryPropertyFlags has = memory_properties_.memoryTypes[type].propertyFlags;
            if (allowed && (has & wanted) == wanted) {
                return make(device_.handle(), "vkAllocateMemory", vkAllocateMemory, vkFreeMemory,
                            VkMemoryAllocateInfo{
                                .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .allocationSize = requirements.size,
                                .memoryTypeIndex = type,
                            });
            }
        }
    }
    throw Error(ErrorCode::unsupported, "the device has no memory type for the resource");
}

Buffer Gpu::make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage, Memory memory) const {
    const VkDevice device = device_.handle();
    Buffer buffer;
    buffer.size_bytes_ = size_bytes;
    buffer.buffer_ = make(
        device, "vkCreateBuffer", vkCreateBuffer, vkDestroyBuffer,
        VkBufferCreateInfo{
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
            .size = size_bytes,
            .usage = usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        });
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(device, buffer.handle(), &requirements);
    buffer.memory_ = allocate(requirements, memory);
    check(vkBindBufferMemory(device, buffer.handle(), buffer.memory_.get(), 0),
          "vkBindBufferMemory");
    if (memory == Memory::host_visible) {
        void* mapped = nullptr;
        check(vkMapMemory(device, buffer.memory_.get(), 0, VK_WHOLE_SIZE, 0, &mapped),
              "vkMapMemory");
        buffer.mapped_ = static_cast<std::byte*>(mapped);
    }
    return buffer;
}

Image Gpu::make_image(VkImageCreateInfo info, VkImageLayout layout) {
    const VkDevice device = device_.handle();
    info.usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;

    Image image;
    image.created_ = info;
    image.extent_ = info.extent;
    image.texel_size_bytes_ = texel_size_bytes_of(info.format);
    image.range_ = {aspect_of(info.format), 0, info.mipLevels, 0, info.arrayLayers};
    image.layout_ = layout;
    image.image_ =
        make(device, "vkCreateImage", vkCreateImage, vkDestroyImage, std::as_const(info));
    VkMemoryRequirements requirements;
    vkGetImageMemoryRequirements(device, image.handle(), &requirements);
    image.memory_ = allocate(requirements, Memory::device_local);
    check(vkBindImageMemory(device, image.handle(), image.memory_.get(), 0), "vkBindImageMemory");
    if ((info.usage & VK_IMAGE_USAGE_SAMPLED_BIT) != 0) {
        const VkImageViewUsageCreateInfo usage = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO,
            .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
        };
        image.view_ =
            make(device, "vkCreateImageView", vkCreateImageView, vkDestroyImageView,
                 VkImageViewCreateInfo{
                     .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                     .pNext = &usage,
                     .image = image.handle(),
                     .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                     .format = info.format,
                     .subresourceRange = {image.range_.aspectMask, 0, 1, 0, info.arrayLayers},
                 });
    }
    run([&](VkCommandBuffer commands) {
        transition(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, layout);
    });
    return image;
}

Image Gpu::make_image(const MapShape& shape, VkImageLayout layout) {
    return make_image(
        VkImageCreateInfo{
            .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
            .imageType = VK_IMAGE_TYPE_2D,
            .format = vk_format(shape.format),
            .extent = {shape.width, shape.height, 1},
            .mipLevels = 1,
            .arrayLayers = shape.layers,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .tiling = VK_IMAGE_TILING_OPTIMAL,
            .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
        },
        layout);
}

void Gpu::transition(VkCommandBuffer commands, const Image& image, VkImageLayout from,
                     VkImageLayout to) const {
    const VkImageMemoryBarrier transition = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image.handle(),
        .subresourceRange = image.range(),
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1,
                         &transition);
}

void Gpu::barrier(VkCommandBuffer commands) const {
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    constexpr VkPipelineStageFlags STAGES =
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT;
    vkCmdPipelineBarrier(commands, STAGES, STAGES, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void Gpu::compute_barrier(VkCommandBuffer commands) const {
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                         0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void Gpu::record_once(const Recorder& record) const {
    check(vkResetCommandPool(device_.handle(), command_pool_.get(), 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    // One call's work is never ordered against the next one's by anything else.
    barrier(commands_);
    record(commands_);
    barrier(commands_);
    check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
}

void Gpu::submit_and_wait() const {
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands_,
    };
    const VkFence fence = fence_.get();
    check(submit_(submit, fence), "vkQueueSubmit");
    check(vkWaitForFences(device_.handle(), 1, &fence, VK_TRUE,
                          std::numeric_limits<std::uint64_t>::max()),
          "vkWaitForFences");
    check(vkResetFences(device_.handle(), 1, &fence), "vkResetFences");
}

Owned<VkImageView> Gpu::make_view(const Image& image, VkFormat format) const {
    return make(device_.handle(), "vkCreateImageView", vkCreateImageView, vkDestroyImageView,
                VkImageViewCreateInfo{
                    .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                    .image = image.handle(),
                    .viewType = VK_IMAGE_VIEW_TYPE_2D,
                    .format = format,
                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
                });
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
    const std::uint32_t query_count = 2 * repeats;
    const auto queries =
        make(device_.handle(), "vkCreateQueryPool", vkCreateQueryPool, vkDestroyQueryPool,
             VkQueryPoolCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                 .queryType = VK_QUERY_TYPE_TIMESTAMP,
                 .queryCount = query_count,
             });
    record_once([&](VkCommandBuffer commands) {
        vkCmdResetQueryPool(commands, queries.get(), 0, query_count);
        for (std::uint32_t query = 0; query < query_count; query += 2) {
            barrier(commands);
            vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, queries.get(), query);
            record(commands);
            vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, queries.get(),
                                query + 1);
        }
    });

    const std::uint64_t valid_mask =
        std::numeric_limits<std::uint64_t>::max() >> (64U - timestamp_valid_bits_);
    std::vector<double> durations_ns;
    std::vector<std::uint64_t> ticks(query_count);
    for (std::uint32_t submission = 0; submission < submissions; ++submission) {
        submit_and_wait();
        check(vkGetQueryPoolResults(device_.handle(), queries.get(), 0, query_count,
                                    ticks.size() * sizeof(ticks[0]), ticks.data(), sizeof(ticks[0]),
                                    VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
              "vkGetQueryPoolResults");
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
    const std::size_t row_size = extent.width * image.texel_size_bytes_;
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
    std::vector<VkBufferImageCopy> regions;  // that lie in the staging
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
        used = (used + size + 15) & ~std::size_t{15};  // as depth formats and all texels need it
    });
    copy();
}

std::vector<std::byte> Gpu::download(const Image& image, std::uint32_t level) {
    const VkExtent3D extent = {std::max(image.extent().width >> level, 1U),
                               std::max(image.extent().height >> level, 1U), 1};
    std::vector<std::byte> texels(std::size_t{extent.width} * extent.height * image.layers() *
                                  image.texel_size_bytes_);
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
    const auto count_of = [](const Descriptors& binding) {
        return static_cast<std::uint32_t>(binding.buffers.size() + binding.images.size());
    };
    std::vector<VkDescriptorSetLayoutBinding> layout_bindings;
    std::vector<VkDescriptorPoolSize> pool_sizes;
    for (const Descriptors& binding : bindings) {
        layout_bindings.push_back({.binding = binding.binding,
                                   .descriptorType = binding.type,
                                   .descriptorCount = count_of(binding),
                                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT});
        pool_sizes.push_back({binding.type, count_of(binding)});
    }
    layout_ = make(device.handle(), "vkCreateDescriptorSetLayout", vkCreateDescriptorSetLayout,
                   vkDestroyDescriptorSetLayout,
                   VkDescriptorSetLayoutCreateInfo{
                       .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                       .bindingCount = static_cast<std::uint32_t>(bindings.size()),
                       .pBindings = layout_bindings.data(),
                   });
    if (bindings.empty()) {
        return;
    }
    pool_ = make(device.handle(), "vkCreateDescriptorPool", vkCreateDescriptorPool,
                 vkDestroyDescriptorPool,
                 VkDescriptorPoolCreateInfo{
                     .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                     .maxSets = 1,
                     .poolSizeCount = static_cast<std::uint32_t>(pool_sizes.size()),
                     .pPoolSizes = pool_sizes.data(),
                 });
    const VkDescriptorSetLayout layout = layout_.get();
    const VkDescriptorSetAllocateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool_.get(),
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    check(vkAllocateDescriptorSets(device.handle(), &set_info, &set_), "vkAllocateDescriptorSets");
    for (const Descriptors& binding : bindings) {
        const VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set_,
            .dstBinding = binding.binding,
            .descriptorCount = count_of(binding),
            .descriptorType = binding.type,
            .pImageInfo = binding.images.data(),
            .pBufferInfo = binding.buffers.data(),
        };
        vkUpdateDescriptorSets(device.handle(), 1, &write, 0, nullptr);
    }
}

ComputePipeline::ComputePipeline(const Gpu& gpu, std::span<const std::uint32_t> spirv,
                                 std::span<const BufferRange> storage_buffers,
                                 const MapImage* image, std::uint32_t push_constants_bytes,
                                 std::span<const VkImageView> stored) {
    const VkDevice device = gpu.device().handle();
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
        sampler_ = make(device, "vkCreateSampler", vkCreateSampler, vkDestroySampler,
                        VkSamplerCreateInfo{
                            .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                            .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                            .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                            .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                        });
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

    const VkDescriptorSetLayout set_layout = set_->layout();
    const VkPushConstantRange push_constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                                push_constants_bytes};
    layout_ =
        make(device, "vkCreatePipelineLayout", vkCreatePipelineLayout, vkDestroyPipelineLayout,
             VkPipelineLayoutCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                 .setLayoutCount = 1,
                 .pSetLayouts = &set_layout,
                 .pushConstantRangeCount = push_constants_bytes > 0 ? 1U : 0U,
                 .pPushConstantRanges = &push_constants,
             });
    const auto shader =
        make(device, "vkCreateShaderModule", vkCreateShaderModule, vkDestroyShaderModule,
             VkShaderModuleCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                 .codeSize = spirv.size_bytes(),
                 .pCode = spirv.data(),
             });
    const VkComputePipelineCreateInfo pipeline_info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = shader.get(),
                .pName = "main",
            },
        .layout = layout_.get(),
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline),
          "vkCreateComputePipelines");
    pipeline_ = {device, pipeline, vkDestroyPipeline};
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
