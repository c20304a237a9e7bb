#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/subdivider.hpp>

#include "device/memory.hpp"
#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "values/texel_codec.hpp"

namespace quadtile {

namespace {

using detail::ComputeProgram;
using detail::Descriptor;
using detail::DescriptorSet;

DownsampleParameters parameters_of(const MapShape& shape) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    DownsampleParameters parameters{};
    parameters.width = shape.width;
    parameters.height = shape.height;
    parameters.layers = shape.layers;
    parameters.top_level = top;
    parameters.base_texel_width = 1.0F / static_cast<float>(shape.width);
    parameters.base_texel_height = 1.0F / static_cast<float>(shape.height);
    parameters.state_words_per_layer =
        detail::state_words_per_layer(shape.width, shape.height, top, EDGE_ROUND_UP, 1, 1);
    parameters.pitch = pyramid_pitch(shape.width);
    parameters.floats_per_layer = pyramid_pitch(shape.width) * pyramid_rows(shape.height);
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

// Returns the bindings of downsample.comp with PYRAMID.
std::vector<detail::BindingType> binding_types() {
    std::vector<detail::BindingType> types{{0, vk::DescriptorType::eCombinedImageSampler},
                                           {1, vk::DescriptorType::eStorageBuffer}};
    for (std::uint32_t chunk = 0; chunk < BUFFER_CHUNKS; ++chunk) {
        types.push_back({5 + chunk, vk::DescriptorType::eStorageBuffer});
    }
    return types;
}

}  // namespace

struct Pyramid::Impl {
    explicit Impl(const Device& device)
        : program(device.context(), "the pyramid", binding_types(), sizeof(DownsampleParameters)),
          gather(program.make_sampler(vk::Filter::eNearest,
                                      vk::SamplerReductionMode::eWeightedAverage)) {
        if (program.context().info.features.sampler_minmax) {
            maximum = program.make_sampler(vk::Filter::eLinear, vk::SamplerReductionMode::eMax);
        }
        (void)pipeline(false, ENCODING_FLOAT32, true, true, {});  // fails here if it cannot work
    }

    // Returns the pipeline for an encoding. `filtered`: by the sampler of maxima. `one_chunk`: one
    // descriptor reaches the whole pyramid. `upper_levels`: the levels above the blocks.
    [[nodiscard]] vk::Pipeline pipeline(bool filtered, std::uint32_t encoding, bool one_chunk,
                                        bool whole_blocks,
                                        const detail::UpperLevels& upper_levels) const {
        const DeviceInfo& info = program.context().info;
        return program.pipeline(
            detail::kernel_code("pyramid", info.features.subgroup_operations),
            {{detail::FILTERED, filtered ? 1U : 0U},
             {detail::SOURCE_ENCODING, encoding},
             {detail::PYRAMID_CHUNK_SHIFT, program.context().float_chunk_shift},
             {detail::PYRAMID_IN_ONE_CHUNK, one_chunk ? 1U : 0U},
             {detail::WHOLE_BLOCKS, whole_blocks ? 1U : 0U},
             {detail::GROUP_LEVELS, upper_levels.group_levels},
             {detail::ONE_GROUP, upper_levels.one_group ? 1U : 0U},
             {detail::BY_STEPS, program.context().hands_over() ? 0U : 1U},
             {detail::CREW_SIZE,
              upper_levels.crew_size(info.features.subgroup_operations, info.subgroup_size)}});
    }

    // Unorm texels are never NaN, so the sampler returns the same as comparisons.
    [[nodiscard]] bool filters(TexelFormat format) const {
        const vk::FormatFeatureFlags features =
            detail::features_of(program.context(), detail::vulkan_format(format));
        const auto needed = vk::FormatFeatureFlagBits::eSampledImageFilterMinmax |
                            vk::FormatFeatureFlagBits::eSampledImageFilterLinear;
        return detail::encoding_of(format) >= ENCODING_UNORM8 && maximum &&
               (features & needed) == needed;
    }

    ComputeProgram program;
    Unique<vk::Sampler> gather;
    Unique<vk::Sampler> maximum;  // with Features::sampler_minmax
};

struct Pyramid::Binding::Impl {
    DownsampleParameters parameters;
    bool by_steps;
    vk::Pipeline pipeline;
    DescriptorSet descriptors;
};

Pyramid::Pyramid(const Device& device) : impl_(std::make_shared<Impl>(device)) {}

Pyramid::Requirements Pyramid::requirements(const MapShape& shape) const {
    const detail::DeviceContext& context = impl_->program.context();
    detail::check_map(context, shape);
    detail::check_pyramid(context, shape);
    return {.pyramid_size_bytes = detail::pyramid_size_bytes(shape),
            .state_size_bytes = state_size_bytes(shape),
            .alignment_bytes = detail::storage_alignment_bytes(context),
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
}

Pyramid::Binding Pyramid::bind(const MapShape& shape, const Resources& resources) const {
    detail::check_map(impl_->program.context(), shape);
    detail::check_pyramid(impl_->program.context(), shape);
    const detail::DeviceContext& context = impl_->program.context();
    const bool filters = impl_->filters(shape.format);
    const std::uint32_t encoding = detail::encoding_of(shape.format);
    const vk::Pipeline pipeline =
        impl_->pipeline(filters, encoding, detail::pyramid_is_one_chunk(context, shape),
                        detail::has_whole_blocks(shape.width, shape.height),
                        detail::upper_levels(shape.width, shape.height,
                                             top_level(shape.width, shape.height), EDGE_ROUND_UP));
    std::vector<Descriptor> descriptors{
        Descriptor::sampled(filters ? *impl_->maximum : *impl_->gather, resources.map.view,
                            resources.map.layout),
        Descriptor::storage_buffer(resources.state, state_size_bytes(shape))};
    detail::append_pyramid_chunks(descriptors, context, shape, resources.pyramid);
    return Binding(std::make_shared<Binding::Impl>(
        Binding::Impl{parameters_of(shape), !context.hands_over(), pipeline,
                      impl_->program.make_descriptors(descriptors)}));
}

void Pyramid::record(VkCommandBuffer commands, const Binding& binding) const {
    const Binding::Impl& bound = *binding.impl_;
    const vk::CommandBuffer buffer(commands);
    const detail::DebugLabel label(impl_->program.context(), buffer, "pyramid");
    detail::record_downsampling(buffer, impl_->program, bound.pipeline, bound.descriptors.set,
                                bound.parameters, EDGE_ROUND_UP, bound.by_steps);
}

}  // namespace quadtile
