#include "traffic.hpp"

#include "measurement.hpp"
#include "mip_images.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace quadtile::bench {

namespace {

constexpr std::uint32_t TRAFFIC_SPIRV[] = {
#include "bench_traffic.spv.inc"
};

// As in traffic.comp.
constexpr std::uint32_t BLOCK_EXTENT = 64;
constexpr std::uint32_t STORED_LEVELS = 16;
struct TrafficParameters {
    std::uint32_t width;
    std::uint32_t height;
    float texel_width;  // 1 / width
    float texel_height;
    std::uint32_t top_level;
};

void check_result(VkResult result, const char* call) {
    if (result != VK_SUCCESS) {
        throw Error(ErrorCode::vulkan, std::string(call) + " failed", result);
    }
}

// Calls a vkCreate function and owns what it makes.
template <typename Handle, typename Info>
test::Owned<Handle> make(VkDevice device, const char* call,
                         VkResult(VKAPI_PTR* create)(VkDevice, const Info*,
                                                     const VkAllocationCallbacks*, Handle*),
                         typename test::Owned<Handle>::Destroy destroy, const Info& info) {
    Handle handle = VK_NULL_HANDLE;
    check_result(create(device, &info, nullptr, &handle), call);
    return {device, handle, destroy};
}

std::uint32_t blocks(std::uint32_t extent) {
    return (extent + BLOCK_EXTENT - 1) / BLOCK_EXTENT;
}

test::Image make_image(test::Gpu& gpu, const ImageShape& shape, std::uint32_t levels) {
    if (!gpu.device().info().features.storage_image_formats ||
        gpu.properties().limits.maxPerStageDescriptorStorageImages < STORED_LEVELS) {
        throw Error(ErrorCode::unsupported, "the device cannot store mip levels from a kernel");
    }
    return make_mip_image(gpu, shape, levels,
                          VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT);
}

// The texel of level 1 that the kernel writes: of the texels a b above c d, the first channels of
// c d b a, as a gather delivers them; cut off after the format's channels.
void first_channels(const std::byte* texels, const ImageShape& shape, std::uint32_t x,
                    std::uint32_t y, std::byte* gathered) {
    const std::size_t texel_size = texel_size_bytes(shape.format);
    const std::size_t channels = channel_count(shape.format);
    const std::array<std::array<std::uint32_t, 2>, 4> order = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const std::size_t column = std::min(2 * x + order[channel][0], shape.width - 1);
        const std::size_t row = std::min(2 * y + order[channel][1], shape.height - 1);
        std::memcpy(gathered + channel * texel_size / channels,
                    texels + (row * shape.width + column) * texel_size, texel_size / channels);
    }
}

}  // namespace

Traffic::Traffic(test::Gpu& gpu, const ImageShape& shape, TexelOrder order)
    : shape_(shape),
      levels_(full_mip_levels(shape.width, shape.height, EdgeRule::fold)),
      image_(make_image(gpu, shape, levels_)) {
    fill_with_random_rows(gpu, image_, shape.format);
    const VkDevice device = gpu.device().handle();
    for (std::uint32_t level = 0; level < levels_; ++level) {
        level_views_.push_back(
            make(device, "vkCreateImageView", vkCreateImageView, vkDestroyImageView,
                 VkImageViewCreateInfo{
                     .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                     .image = image_.handle(),
                     .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                     .format = vk_format(shape.format),
                     .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, level, 1, 0, shape.layers},
                 }));
    }
    sampler_ = make(device, "vkCreateSampler", vkCreateSampler, vkDestroySampler,
                    VkSamplerCreateInfo{
                        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                    });

    const std::array bindings = {
        VkDescriptorSetLayoutBinding{.binding = 0,
                                     .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                     .descriptorCount = 1,
                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT},
        VkDescriptorSetLayoutBinding{.binding = 1,
                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                     .descriptorCount = STORED_LEVELS,
                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT}};
    set_layout_ = make(device, "vkCreateDescriptorSetLayout", vkCreateDescriptorSetLayout,
                       vkDestroyDescriptorSetLayout,
                       VkDescriptorSetLayoutCreateInfo{
                           .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                           .bindingCount = static_cast<std::uint32_t>(bindings.size()),
                           .pBindings = bindings.data(),
                       });
    const VkDescriptorSetLayout set_layout = set_layout_.get();
    const std::array pool_sizes = {
        VkDescriptorPoolSize{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
        VkDescriptorPoolSize{VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, STORED_LEVELS}};
    descriptor_pool_ =
        make(device, "vkCreateDescriptorPool", vkCreateDescriptorPool, vkDestroyDescriptorPool,
             VkDescriptorPoolCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                 .maxSets = 1,
                 .poolSizeCount = static_cast<std::uint32_t>(pool_sizes.size()),
                 .pPoolSizes = pool_sizes.data(),
             });
    const VkDescriptorSetAllocateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = descriptor_pool_.get(),
        .descriptorSetCount = 1,
        .pSetLayouts = &set_layout,
    };
    check_result(vkAllocateDescriptorSets(device, &set_info, &set_), "vkAllocateDescriptorSets");

    const VkDescriptorImageInfo source = {sampler_.get(), image_.view(), image_.layout()};
    std::vector<VkDescriptorImageInfo> stored;
    for (std::uint32_t level = 1; level <= STORED_LEVELS;
         ++level) {  // beyond the top: not looked at
        stored.push_back(
            {VK_NULL_HANDLE, level_views_[std::min(level, levels_ - 1)].get(), image_.layout()});
    }
    const std::array writes = {
        VkWriteDescriptorSet{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                             .dstSet = set_,
                             .dstBinding = 0,
                             .descriptorCount = 1,
                             .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                             .pImageInfo = &source},
        VkWriteDescriptorSet{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                             .dstSet = set_,
                             .dstBinding = 1,
                             .descriptorCount = STORED_LEVELS,
                             .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                             .pImageInfo = stored.data()}};
    vkUpdateDescriptorSets(device, static_cast<std::uint32_t>(writes.size()), writes.data(), 0,
                           nullptr);

    const VkPushConstantRange push_constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                                sizeof(TrafficParameters)};
    layout_ =
        make(device, "vkCreatePipelineLayout", vkCreatePipelineLayout, vkDestroyPipelineLayout,
             VkPipelineLayoutCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                 .setLayoutCount = 1,
                 .pSetLayouts = &set_layout,
                 .pushConstantRangeCount = 1,
                 .pPushConstantRanges = &push_constants,
             });
    const auto shader =
        make(device, "vkCreateShaderModule", vkCreateShaderModule, vkDestroyShaderModule,
             VkShaderModuleCreateInfo{
                 .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                 .codeSize = sizeof(TRAFFIC_SPIRV),
                 .pCode = TRAFFIC_SPIRV,
             });
    const VkBool32 by_rows = order == TexelOrder::rows ? VK_TRUE : VK_FALSE;
    const VkSpecializationMapEntry entry = {0, 0, sizeof(by_rows)};
    const VkSpecializationInfo constants = {1, &entry, sizeof(by_rows), &by_rows};
    const VkComputePipelineCreateInfo pipeline_info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = shader.get(),
                .pName = "main",
                .pSpecializationInfo = &constants,
            },
        .layout = layout_.get(),
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    check_result(
        vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline),
        "vkCreateComputePipelines");
    pipeline_ = {device, pipeline, vkDestroyPipeline};
}

void Traffic::record(VkCommandBuffer commands) const {
    const TrafficParameters parameters = {shape_.width, shape_.height,
                                          1.0F / static_cast<float>(shape_.width),
                                          1.0F / static_cast<float>(shape_.height), levels_ - 1};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_.get());
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_.get(), 0, 1, &set_, 0,
                            nullptr);
    vkCmdPushConstants(commands, layout_.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(parameters),
                       &parameters);
    vkCmdDispatch(commands, blocks(shape_.width), blocks(shape_.height), shape_.layers);
}

void Traffic::check(test::Gpu& gpu) const {
    const auto run = [&] { gpu.run([&](VkCommandBuffer commands) { record(commands); }); };
    // Level 1 shows that each quad was read.
    const std::size_t texel_size = texel_size_bytes(shape_.format);
    if (levels_ > 1) {
        run();
        const std::vector<std::byte> source = gpu.download(image_, 0);
        const std::vector<std::byte> level = gpu.download(image_, 1);
        const std::uint32_t width = std::max(shape_.width / 2, 1U);
        const std::uint32_t height = std::max(shape_.height / 2, 1U);
        std::vector<std::byte> expected(level.size());
        std::byte* texel = expected.data();
        for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
            const std::byte* const texels = source.data() + source.size() / shape_.layers * layer;
            for (std::uint32_t i = 0; i < width * height; ++i) {
                first_channels(texels, shape_, i % width, i / width, texel);
                texel += texel_size;
            }
        }
        if (level != expected) {
            throw WrongResult("the kernel did not read each texel once");
        }
    }
    // Two constant images, one after the other, show that each texel of all levels is written.
    for (const auto value : {std::byte{0x3c}, std::byte{0x3d}}) {
        const std::vector<std::byte> constant(
            std::size_t{shape_.width} * shape_.height * shape_.layers * texel_size, value);
        gpu.upload(image_, constant.data());
        run();
        for (std::uint32_t level = 1; level < levels_; ++level) {
            const std::vector<std::byte> texels = gpu.download(image_, level);
            if (std::ranges::any_of(texels, [&](std::byte byte) { return byte != value; })) {
                throw WrongResult("the kernel did not write each texel of level " +
                                  std::to_string(level));
            }
        }
    }
}

}  // namespace quadtile::bench
