#include <quadtile/kernel_parameters.h>
#include <quadtile/pyramid.hpp>

#include "map_resources.hpp"

namespace quadtile {

namespace {

using detail::ComputeProgram;
using detail::Descriptor;
using detail::DescriptorSet;

constexpr std::uint32_t BLOCK_EXTENT = 1U << PYRAMID_BLOCK_LEVEL;

PyramidParameters parameters_of(const MapShape& shape) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    return {.width = shape.width,
            .height = shape.height,
            .texel_width = 1.0F / static_cast<float>(shape.width),
            .texel_height = 1.0F / static_cast<float>(shape.height),
            .layers = shape.layers,
            .top_level = top,
            .state_words_per_layer = state_words_per_layer(shape.width, shape.height, top),
            .unorm_bits = detail::unorm_bits(shape.format)};
}

vk::DeviceSize state_size_bytes(const MapShape& shape) {
    const vk::DeviceSize words_per_layer = 1 + parameters_of(shape).state_words_per_layer;
    return words_per_layer * shape.layers * sizeof(std::uint32_t);
}

std::vector<vk::DescriptorType> binding_types() {
    std::vector<vk::DescriptorType> types{vk::DescriptorType::eCombinedImageSampler,
                                          vk::DescriptorType::eStorageBuffer};
    types.resize(types.size() + BUFFER_CHUNKS, vk::DescriptorType::eStorageBuffer);
    return types;
}

}  // namespace

VkFormat vk_format(TexelFormat format) noexcept {
    switch (format) {
        case TexelFormat::r32_float:
            return VK_FORMAT_R32_SFLOAT;
        case TexelFormat::r16_float:
            return VK_FORMAT_R16_SFLOAT;
        case TexelFormat::d32_float:
            return VK_FORMAT_D32_SFLOAT;
        case TexelFormat::r16_unorm:
            return VK_FORMAT_R16_UNORM;
        case TexelFormat::r8_unorm:
            break;
    }
    return VK_FORMAT_R8_UNORM;
}

struct Pyramid::Impl {
    explicit Impl(const Device& device)
        : program(device.context(), binding_types(), sizeof(PyramidParameters)),
          gather_sampler(program.make_sampler(vk::Filter::eNearest,
                                              vk::SamplerReductionMode::eWeightedAverage)),
          gather_pipeline(make_pipeline(false)) {
        if (program.context().info.features.sampler_minmax) {
            max_sampler = program.make_sampler(vk::Filter::eLinear, vk::SamplerReductionMode::eMax);
            max_pipeline = make_pipeline(true);
        }
    }

    [[nodiscard]] Unique<vk::Pipeline> make_pipeline(bool use_max_sampler) const {
        constexpr std::uint32_t MAX_SAMPLER = 1;  // constant_id in pyramid.comp
        return program.make_pipeline(detail::Kernel::pyramid, "pyramid",
                                     {{MAX_SAMPLER, use_max_sampler ? 1U : 0U},
                                      detail::pyramid_chunk_constant(program.context())});
    }

    [[nodiscard]] bool uses_max_sampler(TexelFormat format) const {
        const auto features =
            program.context()
                .physical_device
                .getFormatProperties(static_cast<vk::Format>(vk_format(format)), program.dispatch())
                .optimalTilingFeatures;
        // Unorm texels are never NaN: for them the sampler gives what comparing would.
        return detail::unorm_bits(format) != 0 && max_pipeline &&
               (features & vk::FormatFeatureFlagBits::eSampledImageFilterMinmax);
    }

    ComputeProgram program;
    Unique<vk::Sampler> gather_sampler;
    Unique<vk::Sampler> max_sampler;  // null without Features::sampler_minmax, as is its pipeline
    Unique<vk::Pipeline> gather_pipeline;
    Unique<vk::Pipeline> max_pipeline;
};

struct Pyramid::Binding::Impl {
    PyramidParameters parameters;
    vk::Pipeline pipeline;
    DescriptorSet descriptors;
};

Pyramid::Binding::Binding(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pyramid::Binding::Binding(Binding&&) noexcept = default;
Pyramid::Binding& Pyramid::Binding::operator=(Binding&&) noexcept = default;
Pyramid::Binding::~Binding() = default;

Pyramid::Pyramid(const Device& device) : impl_(std::make_shared<Impl>(device)) {}

Pyramid::Requirements Pyramid::requirements(const MapShape& shape) const {
    const detail::DeviceContext& context = impl_->program.context();
    detail::check_map(context, shape);
    return {.pyramid_size_bytes = detail::pyramid_size_bytes(shape),
            .state_size_bytes = state_size_bytes(shape),
            .alignment_bytes = detail::storage_alignment_bytes(context),
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
}

Pyramid::Binding Pyramid::bind(const MapShape& shape, const Resources& resources) const {
    detail::check_map(impl_->program.context(), shape);
    const bool max_sampler = impl_->uses_max_sampler(shape.format);
    std::vector<Descriptor> descriptors{
        Descriptor::sampled(max_sampler ? *impl_->max_sampler : *impl_->gather_sampler,
                            resources.map.view, resources.map.layout),
        Descriptor::storage_buffer(resources.state.buffer, resources.state.offset_bytes,
                                   state_size_bytes(shape))};
    detail::append_pyramid_chunks(descriptors, impl_->program.context(), shape, resources.pyramid);
    return Binding(std::make_unique<Binding::Impl>(
        parameters_of(shape), max_sampler ? *impl_->max_pipeline : *impl_->gather_pipeline,
        impl_->program.make_descriptors(descriptors)));
}

void Pyramid::record(VkCommandBuffer commands, const Binding& binding) const {
    const Binding::Impl& bound = *binding.impl_;
    const PyramidParameters& parameters = bound.parameters;
    const Dispatch& dispatch = impl_->program.dispatch();
    const vk::CommandBuffer buffer(commands);
    buffer.bindPipeline(vk::PipelineBindPoint::eCompute, bound.pipeline, dispatch);
    buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, impl_->program.layout(), 0,
                              bound.descriptors.set, {}, dispatch);
    buffer.pushConstants<PyramidParameters>(
        impl_->program.layout(), vk::ShaderStageFlagBits::eCompute, 0, parameters, dispatch);
    buffer.dispatch((parameters.width + BLOCK_EXTENT - 1) / BLOCK_EXTENT,
                    (parameters.height + BLOCK_EXTENT - 1) / BLOCK_EXTENT, parameters.layers,
                    dispatch);
}

}  // namespace quadtile
