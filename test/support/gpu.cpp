#include "support/gpu.hpp"

#include "apps/common/gpu.hpp"

#include <quadtile/error.hpp>

#include <vulkan/vulkan_format_traits.hpp>

#include <algorithm>
#include <string_view>

namespace quadtile::test {

namespace {

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
    return vk::blockSize(static_cast<vk::Format>(format));
}

}  // namespace

bool has_validation_layer() {
    std::uint32_t count = 0;
    vkEnumerateInstanceLayerProperties(&count, nullptr);
    std::vector<VkLayerProperties> layers(count);
    vkEnumerateInstanceLayerProperties(&count, layers.data());
    return std::ranges::any_of(layers, [](const VkLayerProperties& layer) {
        return std::string_view(layer.layerName) == "VK_LAYER_KHRONOS_validation";
    });
}

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
    : device_(device), gpu_(std::make_shared<app::Gpu>(device, std::move(submit))) {}

Buffer Gpu::make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage, Memory memory) const {
    const auto made = allocating([&] {
        return std::make_shared<const app::Buffer>(gpu_->make_buffer(
            size_bytes,
            vk::BufferUsageFlags(usage) | vk::BufferUsageFlagBits::eTransferSrc |
                vk::BufferUsageFlagBits::eTransferDst,
            memory == Memory::host_visible ? app::MemoryUse::readback : app::MemoryUse::device));
    });
    Buffer buffer;
    buffer.owner_ = made;
    buffer.buffer_ = *made->handle;
    buffer.size_bytes_ = size_bytes;
    buffer.mapped_ = made->mapped;
    return buffer;
}

Image Gpu::make_image(VkImageCreateInfo info, VkImageLayout layout) {
    info.usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const auto made = allocating([&] {
        vk::ImageCreateInfo create;
        create = info;
        return std::make_shared<const app::Image>(gpu_->make_image(create, std::nullopt));
    });
    Image image;
    image.owner_ = made;
    image.image_ = *made->handle;
    image.created_ = info;
    image.layout_ = layout;
    if ((info.usage & VK_IMAGE_USAGE_SAMPLED_BIT) != 0) {
        image.view_ = make_view(image, 0, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_IMAGE_USAGE_SAMPLED_BIT);
    }
    vk::ImageSubresourceRange range;
    range = image.range();
    gpu_->run([&](vk::CommandBuffer commands) {
        app::change_layout(commands, image.image_, vk::ImageLayout::eUndefined,
                           static_cast<vk::ImageLayout>(layout), app::ALL_WRITES, app::ALL_USES,
                           range);
    });
    return image;
}

Image Gpu::make_image(const MapShape& shape, VkImageLayout layout) {
    return make_image(image_info(shape, 1, VK_IMAGE_USAGE_SAMPLED_BIT), layout);
}

Owned<VkImageView> Gpu::make_view(const Image& image, std::uint32_t level, VkImageViewType type,
                                  VkImageUsageFlags usage) const {
    const vk::ImageViewUsageCreateInfo used{.usage = vk::ImageUsageFlags(usage)};
    const auto owner = std::make_shared<vk::UniqueImageView>(gpu_->device().createImageViewUnique(
        {.pNext = usage != 0 ? &used : nullptr,
         .image = image.handle(),
         .viewType = static_cast<vk::ImageViewType>(type),
         .format = static_cast<vk::Format>(image.created_.format),
         .subresourceRange = {.aspectMask = vk::ImageAspectFlags(image.range().aspectMask),
                              .baseMipLevel = level,
                              .levelCount = 1,
                              .layerCount = type == VK_IMAGE_VIEW_TYPE_2D ? 1 : image.layers()}}));
    return {owner, **owner};
}

void Gpu::barrier(VkCommandBuffer commands) const {
    constexpr auto STAGES =
        vk::PipelineStageFlagBits::eAllCommands | vk::PipelineStageFlagBits::eHost;
    app::memory_barrier(commands, {STAGES, app::ALL_WRITES.accesses},
                        {STAGES, app::ALL_USES.accesses});
}

void Gpu::compute_barrier(VkCommandBuffer commands) const {
    using Access = vk::AccessFlagBits;
    constexpr auto COMPUTE = vk::PipelineStageFlagBits::eComputeShader;
    app::memory_barrier(
        commands, {COMPUTE, Access::eShaderWrite},
        {COMPUTE | vk::PipelineStageFlagBits::eDrawIndirect,
         Access::eShaderRead | Access::eShaderWrite | Access::eIndirectCommandRead});
}

// The barriers order this call's work against that before and after it; nothing else does.
void Gpu::run(const Recorder& record) {
    gpu_->run([&](vk::CommandBuffer commands) {
        barrier(commands);
        record(commands);
        barrier(commands);
    });
}

void Gpu::fill(const Buffer& buffer, std::uint32_t word) {
    run([&](vk::CommandBuffer commands) {
        commands.fillBuffer(buffer.handle(), 0, VK_WHOLE_SIZE, word);
    });
}

void Gpu::download(const Buffer& buffer, VkDeviceSize offset_bytes, std::span<std::byte> bytes) {
    gpu_->download(buffer.handle(), offset_bytes, bytes);
}

void Gpu::upload(const Image& image, const void* texels) {
    const auto& made = *static_cast<const app::Image*>(image.owner_.get());
    const auto layout = static_cast<vk::ImageLayout>(image.layout_);
    const VkDeviceSize size_bytes = VkDeviceSize{image.extent().width} * image.extent().height *
                                    image.layers() * texel_size_bytes_of(image.created_.format);
    gpu_->upload(made, layout, layout, {static_cast<const std::byte*>(texels), size_bytes});
}

std::vector<std::byte> Gpu::download(const Image& image, std::uint32_t level) {
    return gpu_->download(*static_cast<const app::Image*>(image.owner_.get()),
                          static_cast<vk::ImageLayout>(image.layout_),
                          texel_size_bytes_of(image.created_.format), level);
}

Image Gpu::upload(const MapView& map) {
    Image image = make_image(map.shape);
    upload(image, map.texels);
    return image;
}

struct ComputePipeline::Parts {
    vk::UniqueSampler sampler;
    app::ProgramInterface interface;
    vk::UniquePipeline pipeline;
};

ComputePipeline::ComputePipeline(const Gpu& gpu, std::span<const std::uint32_t> spirv,
                                 std::span<const BufferRange> storage_buffers,
                                 const MapImage* image, std::uint32_t push_constants_bytes,
                                 std::span<const VkImageView> stored) {
    using Type = vk::DescriptorType;
    std::vector<Type> types(storage_buffers.size(), Type::eStorageBuffer);
    if (image != nullptr) {
        types.push_back(Type::eCombinedImageSampler);
    }
    if (!stored.empty()) {
        types.push_back(Type::eStorageImage);
    }
    const auto parts = std::make_shared<Parts>();
    parts->interface = gpu.gpu_->make_interface(
        vk::ShaderStageFlagBits::eCompute, types, push_constants_bytes,
        static_cast<std::uint32_t>(std::max<std::size_t>(stored.size(), 1)));
    parts->pipeline = gpu.gpu_->make_compute_pipeline(*parts->interface.layout, spirv);
    std::uint32_t binding = 0;
    for (const BufferRange& range : storage_buffers) {
        parts->interface.write(
            binding++, vk::DescriptorBufferInfo{range.buffer, range.offset_bytes, VK_WHOLE_SIZE});
    }
    if (image != nullptr) {
        constexpr auto EDGE = vk::SamplerAddressMode::eClampToEdge;
        parts->sampler = gpu.gpu_->device().createSamplerUnique(
            {.addressModeU = EDGE, .addressModeV = EDGE, .addressModeW = EDGE});
        parts->interface.write(binding++, image->view, static_cast<vk::ImageLayout>(image->layout),
                               *parts->sampler);
    }
    for (std::uint32_t i = 0; i < stored.size(); ++i) {
        parts->interface.write(binding, stored[i], vk::ImageLayout::eGeneral, {}, i);
    }
    parts_ = parts;
}

void ComputePipeline::record(VkCommandBuffer commands, VkExtent3D workgroups,
                             std::span<const std::byte> push_constants) const {
    parts_->interface.bind(commands, *parts_->pipeline, vk::PipelineBindPoint::eCompute);
    if (!push_constants.empty()) {
        vkCmdPushConstants(commands, *parts_->interface.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<std::uint32_t>(push_constants.size()),
                           push_constants.data());
    }
    vk::CommandBuffer(commands).dispatch(workgroups.width, workgroups.height, workgroups.depth);
}

}  // namespace quadtile::test
