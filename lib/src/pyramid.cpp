#include <quadtile/kernel_parameters.h>
#include <quadtile/pyramid.hpp>

#include "map_resources.hpp"

#include <optional>

namespace quadtile {

namespace {

using detail::ComputeProgram;
using detail::Descriptor;
using detail::DescriptorSet;

constexpr std::uint32_t BLOCK_EXTENT = 1U << PYRAMID_STEP_LEVELS;

PyramidParameters parameters_of(const MapShape& shape) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    PyramidParameters parameters{
        .width = shape.width,
        .height = shape.height,
        .texel_width = 1.0F / static_cast<float>(shape.width),
        .texel_height = 1.0F / static_cast<float>(shape.height),
        .layers = shape.layers,
        .top_level = top,
        .state_words_per_layer = state_words_per_layer(shape.width, shape.height, top),
        .unorm_bits = detail::unorm_bits(shape.format),
        .pitch = pyramid_pitch(shape.width),
        .floats_per_layer = pyramid_pitch(shape.width) * pyramid_rows(shape.height),
        .level_start = {}};
    for (std::uint32_t level = 1; level <= top; ++level) {
        parameters.level_start[level - 1] =
            pyramid_index(shape.width, shape.height, level, 0, 0, 0);
    }
    return parameters;
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
    // How texels are read: by gathers, or by a sampler with MAX reduction.
    struct Reading {
        Unique<vk::Sampler> sampler;
        Unique<vk::Pipeline> pipeline;            // for any pyramid
        Unique<vk::Pipeline> one_chunk_pipeline;  // where one descriptor reaches all of it: faster
    };

    explicit Impl(const Device& device)
        : program(device.context(), binding_types(), sizeof(PyramidParameters)),
          gather(make_reading(vk::Filter::eNearest, vk::SamplerReductionMode::eWeightedAverage)) {
        if (program.context().info.features.sampler_minmax) {
            maximum = make_reading(vk::Filter::eLinear, vk::SamplerReductionMode::eMax);
        }
    }

    [[nodiscard]] Reading make_reading(vk::Filter filter,
                                       vk::SamplerReductionMode reduction) const {
        const auto make_pipeline = [&](bool one_chunk) {
            constexpr std::uint32_t MAX_SAMPLER = 1;           // constant_ids in pyramid.comp
            constexpr std::uint32_t PYRAMID_IN_ONE_CHUNK = 4;  // and pyramid_chunks.glsl
            return program.make_pipeline(
                detail::Kernel::pyramid, "pyramid",
                {{MAX_SAMPLER, reduction == vk::SamplerReductionMode::eMax ? 1U : 0U},
                 detail::pyramid_chunk_constant(program.context()),
                 {PYRAMID_IN_ONE_CHUNK, one_chunk ? 1U : 0U}});
        };
        return {program.make_sampler(filter, reduction), make_pipeline(false), make_pipeline(true)};
    }

    [[nodiscard]] const Reading& reading_for(TexelFormat format) const {
        const auto features =
            program.context()
                .physical_device
                .getFormatProperties(static_cast<vk::Format>(vk_format(format)), program.dispatch())
                .optimalTilingFeatures;
        // Unorm texels are never NaN: for them the sampler gives what comparing would.
        const bool max_sampler = detail::unorm_bits(format) != 0 && maximum &&
                                 (features & vk::FormatFeatureFlagBits::eSampledImageFilterMinmax);
        return max_sampler ? *maximum : gather;
    }

    ComputeProgram program;
    Reading gather;
    std::optional<Reading> maximum;  // with Features::sampler_minmax
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
    const detail::DeviceContext& context = impl_->program.context();
    const Impl::Reading& reading = impl_->reading_for(shape.format);
    std::vector<Descriptor> descriptors{
        Descriptor::sampled(*reading.sampler, resources.map.view, resources.map.layout),
        Descriptor::storage_buffer(resources.state.buffer, resources.state.offset_bytes,
                                   state_size_bytes(shape))};
    detail::append_pyramid_chunks(descriptors, context, shape, resources.pyramid);
    return Binding(std::make_unique<Binding::Impl>(parameters_of(shape),
                                                   detail::pyramid_is_one_chunk(context, shape)
                                                       ? *reading.one_chunk_pipeline
                                                       : *reading.pipeline,
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
