#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/downsampler.hpp>

#include "device/compute_program.hpp"
#include "device/memory.hpp"
#include "glsl/user_kernels.hpp"
#include "recording/downsampler_checks.hpp"
#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "values/refuse.hpp"
#include "values/texel_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace quadtile {

namespace {

using detail::BindingType;
using detail::cannot;
using detail::ComputeProgram;
using detail::counted;
using detail::Descriptor;
using detail::DescriptorSet;
using detail::DeviceContext;
using detail::encoding_of;
using detail::is_depth;
using detail::is_extreme;
using detail::is_multi_dispatch;
using detail::is_sum;
using detail::plain_format;
using detail::refuse;
using detail::size_of;
using detail::vulkan_format;

using Usage = vk::ImageUsageFlagBits;

// Returns the levels that one dispatch can store (downsample.glsl).
std::uint32_t image_count(const DeviceContext& context) {
    return std::min(MAX_LEVELS, context.max_storage_images);
}

}  // namespace

struct Downsampler::Impl {
    // Kind of a pipeline; see kernel_constants.hpp.
    struct Kind {
        bool first;  // whether it is the first dispatch of several
        bool odd_blocks;
        bool whole_blocks;
        detail::UpperLevels upper_levels;
        bool weighted;
        bool some_blocks;
        bool by_steps;  // a dispatch for each hand-over
    };

    Impl(const Device& device, DownsamplerOptions requested)
        : options(detail::settled(*device.context(), std::move(requested))),
          program(device.context(), "the downsampler", binding_types(*device.context()),
                  sizeof(DownsampleParameters)),
          context(device.context()) {
        if (options.method == MipMethod::blit) {
            return;
        }
        const bool filtered = options.filtered;
        const bool extreme = is_extreme(options.reduction);
        const auto filter = filtered ? vk::Filter::eLinear : vk::Filter::eNearest;
        const auto mode = [&](vk::SamplerReductionMode reduction) {
            return filtered && extreme ? reduction : vk::SamplerReductionMode::eWeightedAverage;
        };
        const bool border = is_sum(options.reduction);
        sampler = program.make_sampler(
            filter,
            mode(options.reduction == Reduction::max ? vk::SamplerReductionMode::eMax
                                                     : vk::SamplerReductionMode::eMin),
            border);
        sampler_maximum =
            program.make_sampler(filter, mode(vk::SamplerReductionMode::eMax), border);
        tables =
            detail::Buffer({context}, "the sRGB tables", sizeof(SrgbTables),
                           vk::BufferUsageFlagBits::eStorageBuffer, detail::MemoryKind::upload);
        std::memcpy(tables.mapped(), &detail::srgb_tables(), sizeof(SrgbTables));
        if (options.reduction == Reduction::custom) {
            for (const bool odd_blocks : {false, true}) {
                custom_code[odd_blocks ? 1 : 0] = detail::code_of(
                    detail::UserKernel::reduction(channel_count(options.format), odd_blocks,
                                                  context->info.features.subgroup_operations),
                    options.custom_glsl);
            }
        }
        (void)pipeline({.first = true});  // fails here if it cannot work
    }

    // Returns the bindings of downsample.comp.
    static std::vector<BindingType> binding_types(const DeviceContext& context) {
        return {{0, vk::DescriptorType::eCombinedImageSampler},
                {1, vk::DescriptorType::eStorageBuffer},
                {2, vk::DescriptorType::eCombinedImageSampler},
                {3, vk::DescriptorType::eStorageBuffer},
                {5, vk::DescriptorType::eStorageImage, image_count(context)}};
    }

    // Returns the channels of the kernel's items (kernels.cmake).
    [[nodiscard]] std::uint32_t item_channels(bool odd_blocks) const {
        const std::uint32_t channels = channel_count(options.format);
        const bool widens = odd_blocks && channels == 2 && is_sum(options.reduction);
        return widens ? 4 : channels;
    }

    // Returns downsample.comp. `odd_blocks`: the edge rule treats some blocks specially.
    [[nodiscard]] detail::KernelCode code(bool odd_blocks) const {
        const bool subgroups = context->info.features.subgroup_operations;
        if (options.reduction == Reduction::custom) {
            return {"downsample with a reduction", custom_code[odd_blocks ? 1 : 0], subgroups};
        }
        const std::string items = is_extreme(options.reduction) ? "extremes_" : "floats_";
        const std::string channels = std::to_string(item_channels(odd_blocks));
        return detail::kernel_code("downsample_" + items + channels + (odd_blocks ? "_odd" : ""),
                                   subgroups);
    }

    [[nodiscard]] vk::Pipeline pipeline(const Kind& kind) const {
        const std::uint32_t source = encoding_of(options.source_format);
        const std::uint32_t target = encoding_of(options.format);
        const bool in_codes =
            is_sum(options.reduction) && source >= ENCODING_UNORM8 && source == target;
        const detail::KernelCode kernel = code(kind.odd_blocks);
        return program.pipeline(
            kernel, {{detail::REDUCTION, static_cast<std::uint32_t>(options.reduction)},
                     {detail::EDGE_RULE, static_cast<std::uint32_t>(options.edge_rule)},
                     {detail::FILTERED, options.filtered ? 1U : 0U},
                     {detail::SOURCE_ENCODING, kind.first ? source : target},
                     {detail::TARGET_ENCODING, target},
                     {detail::SOURCE_CHANNELS,
                      channel_count(kind.first ? options.source_format : options.format)},
                     {detail::DYNAMIC_INDEXING,
                      context->info.features.storage_image_dynamic_indexing ? 1U : 0U},
                     {detail::MIP_IMAGES, image_count(*context)},
                     {detail::COPY_SOURCE, kind.first && options.copy_source ? 1U : 0U},
                     {detail::IN_CODES, in_codes ? 1U : 0U},
                     {detail::WEIGHTED, kind.weighted ? 1U : 0U},
                     {detail::WHOLE_BLOCKS, kind.whole_blocks ? 1U : 0U},
                     {detail::SOME_BLOCKS, kind.some_blocks ? 1U : 0U},
                     {detail::GROUP_LEVELS, kind.upper_levels.group_levels},
                     {detail::ONE_GROUP, kind.upper_levels.one_group ? 1U : 0U},
                     {detail::BY_STEPS, kind.by_steps ? 1U : 0U},
                     {detail::CREW_SIZE, kind.upper_levels.crew_size(
                                             kernel.uses_subgroups, context->info.subgroup_size)}});
    }

    [[nodiscard]] std::uint32_t rule() const {
        return static_cast<std::uint32_t>(options.edge_rule);
    }

    [[nodiscard]] DownsampleParameters parameters_of(const Shape& shape) const {
        DownsampleParameters parameters{};
        parameters.width = shape.width;
        parameters.height = shape.height;
        parameters.layers = shape.layers;
        parameters.top_level = shape.levels - 1;
        parameters.base_texel_width = 1.0F / static_cast<float>(shape.width);
        parameters.base_texel_height = 1.0F / static_cast<float>(shape.height);
        const std::uint32_t channels = item_channels(has_odd_blocks(shape));
        parameters.state_words_per_layer = detail::state_words_per_layer(
            shape.width, shape.height, shape.levels - 1, rule(), channels, channels);
        return parameters;
    }

    [[nodiscard]] vk::DeviceSize state_size_bytes(const Shape& shape) const {
        const vk::DeviceSize words = 1 + parameters_of(shape).state_words_per_layer;
        return words * shape.layers * sizeof(std::uint32_t);
    }

    // Returns whether a block of the image has odd edges that the edge rule treats specially; see
    // is_even in downsample_odd_blocks.glsl.
    [[nodiscard]] bool has_odd_blocks(const Shape& shape) const {
        const bool nothing_outside_matters =
            options.reduction != Reduction::custom && !is_multi_dispatch(options.method);
        if (options.edge_rule == EdgeRule::round_up && nothing_outside_matters) {
            return false;
        }
        const bool powers = std::has_single_bit(shape.width) && std::has_single_bit(shape.height);
        return !powers || (shape.width != shape.height && !nothing_outside_matters);
    }

    struct Blocks;
    // Records the passes; `some` null: for all blocks, as always by steps.
    void record(VkCommandBuffer commands, const Binding::Impl& bound, const Blocks* some) const;
    void check_shape(const Shape& shape) const;
    [[nodiscard]] Requirements requirements(const Shape& shape) const;

    const DownsamplerOptions options;
    ComputeProgram program;
    std::shared_ptr<DeviceContext> context;
    Unique<vk::Sampler> sampler;
    Unique<vk::Sampler> sampler_maximum;
    detail::Buffer tables;
    std::array<std::vector<std::uint32_t>, 2> custom_code;  // without and with odd blocks
};

struct Downsampler::Binding::Impl {
    // A dispatch that stores a window of levels (downsample.glsl). Most devices need one window per
    // level that is read, and spd reads only the source.
    struct Pass {
        DownsampleParameters parameters;
        vk::Pipeline pipeline;
        DescriptorSet descriptors;
    };

    std::shared_ptr<DeviceContext> context;  // of the views
    Shape shape;
    std::vector<Unique<vk::ImageView>> views;
    std::vector<Pass> passes;
    // for record with a rectangle
    Downsampler::Impl::Kind some_blocks_kind;
    // for blits
    ImageResource source;
    ImageResource destination;
};

Downsampler::Downsampler(const Device& device, DownsamplerOptions options)
    : impl_(std::make_shared<Impl>(device, std::move(options))) {}

const DownsamplerOptions& Downsampler::options() const noexcept {
    return impl_->options;
}

// ---- The caller's resources -----------------------------------------------------------------

void Downsampler::Impl::check_shape(const Shape& shape) const {
    check_image({shape.width, shape.height, shape.layers, options.source_format});
    const std::uint32_t full = full_mip_levels(shape.width, shape.height, options.edge_rule);
    if (shape.levels == 0 || shape.levels > full) {
        refuse(shape.levels, " levels were asked for; an image of ",
               size_of(shape.width, shape.height), " texels has 1 to ", full, ", level 0 included");
    }
    detail::check_extents(*context, "an image",
                          {shape.width, shape.height, shape.layers, options.source_format});
    const DeviceInfo& info = context->info;
    // LOST_THREADS (cpu_drivers.glsl): this kernel has too many early ends of loops.
    if (info.type == "CPU" && options.reduction == Reduction::custom &&
        options.method == MipMethod::spd && has_odd_blocks(shape) &&
        shape.levels - 1 > BLOCK_LEVELS + step_levels(BLOCK_LEVELS, shape.levels - 1)) {
        cannot("custom reductions of ", size_of(shape.width, shape.height),
               " texels in one dispatch go wrong on CPU drivers (", info.name,
               "); use MipMethod::per_level there");
    }
    detail::check_reach(*context, "the state of " + counted(shape.layers, "layer"),
                        state_size_bytes(shape));
}

Downsampler::Requirements Downsampler::requirements(const Shape& shape) const {
    impl_->check_shape(shape);
    return impl_->requirements(shape);
}

Downsampler::Requirements Downsampler::Impl::requirements(const Shape& shape) const {
    Requirements needed = detail::image_requirements(options, shape);
    needed.state_size_bytes = state_size_bytes(shape);
    needed.alignment_bytes = detail::storage_alignment_bytes(*context);
    needed.state_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    return needed;
}

Downsampler::Binding Downsampler::bind(const Shape& shape, const Resources& resources) const {
    const Impl& impl = *impl_;
    impl.check_shape(shape);
    detail::check_images(impl.options, impl.requirements(shape), shape, resources);
    auto bound = std::make_shared<Binding::Impl>();
    bound->context = impl.context;
    bound->shape = shape;
    bound->source = resources.source;
    bound->destination = resources.destination;
    if (impl.options.method == MipMethod::blit) {
        return Binding(std::move(bound));
    }
    if (resources.state.buffer == VK_NULL_HANDLE) {
        refuse("the state buffer is null");
    }

    const auto make_view = [&](const ImageResource& image, vk::Format format, Usage usage,
                               vk::ImageAspectFlags aspect, std::uint32_t level) {
        vk::ImageViewUsageCreateInfo usage_info(usage);
        vk::ImageViewCreateInfo info({}, image.image, vk::ImageViewType::e2DArray, format, {},
                                     {aspect, level, 1, 0, shape.layers});
        info.pNext = &usage_info;
        bound->views.push_back(impl.context->calls("creating the view of a mip level", [&] {
            auto view =
                impl.context->device.createImageViewUnique(info, nullptr, impl.program.dispatch());
            impl.context->name(*view, "mip level " + std::to_string(level));
            return view;
        }));
        return *bound->views.back();
    };
    const auto sampled_format = [&](TexelFormat format) {
        const bool light = impl.options.filtered && is_sum(impl.options.reduction);
        return light ? vulkan_format(format) : plain_format(format);
    };
    const auto colour = vk::ImageAspectFlagBits::eColor;
    std::vector<vk::ImageView> levels;
    const std::uint32_t first_stored = impl.options.copy_source || shape.levels == 1 ? 0 : 1;
    for (std::uint32_t level = first_stored; level < shape.levels; ++level) {
        levels.push_back(make_view(resources.destination, plain_format(impl.options.format),
                                   Usage::eStorage, colour, level));
    }
    levels.insert(levels.begin(), first_stored, levels.front());

    const std::uint32_t images = image_count(*impl.context);
    const auto descriptors_for = [&](vk::ImageView view, VkImageLayout layout,
                                     std::uint32_t first) {
        // The levels from the first on; the kernel ignores the rest.
        std::vector<vk::ImageView> stored(levels.begin() + first, levels.end());
        stored.resize(images, stored.back());
        return impl.program.make_descriptors(
            {Descriptor::sampled(*impl.sampler, view, layout),
             Descriptor::storage_buffer(resources.state, impl.state_size_bytes(shape)),
             Descriptor::sampled(*impl.sampler_maximum, view, layout),
             Descriptor::storage_buffer({impl.tables.handle()}, impl.tables.size_bytes()),
             Descriptor::storage_images(stored)});
    };
    const bool in_one_dispatch = impl.options.method == MipMethod::spd;
    Downsampler::Impl::Kind kind{
        .first = true,
        .odd_blocks = impl.has_odd_blocks(shape),
        .whole_blocks = in_one_dispatch && shape.levels > BLOCK_LEVELS &&
                        detail::has_whole_blocks(shape.width, shape.height),
        .upper_levels = in_one_dispatch ? detail::upper_levels(shape.width, shape.height,
                                                               shape.levels - 1, impl.rule())
                                        : detail::UpperLevels{},
        .weighted = impl.options.reduction == Reduction::mean &&
                    (shape.width != shape.height || !std::has_single_bit(shape.width)),
        .by_steps = in_one_dispatch && !impl.context->hands_over()};
    const vk::ImageView source_view = make_view(
        resources.source, sampled_format(impl.options.source_format), Usage::eSampled,
        is_depth(impl.options.source_format) ? vk::ImageAspectFlagBits::eDepth : colour, 0);
    DownsampleParameters parameters = impl.parameters_of(shape);
    const std::uint32_t top = shape.levels - 1;
    const std::uint32_t step = impl.options.method == MipMethod::per_level  ? 1
                               : impl.options.method == MipMethod::subgroup ? BLOCK_LEVELS
                                                                            : MAX_LEVELS;
    parameters.top_level = std::min(top, step);
    // Each window is a whole run from the base level, so its levels are made from the same values
    // as if one window held all levels, rounded or not.
    const auto add_passes = [&](vk::ImageView view, VkImageLayout layout) {
        const std::uint32_t base = parameters.base_level;
        const bool all_fit = images == MAX_LEVELS;
        parameters.first_image = all_fit || (base == 0 && impl.options.copy_source) ? 0 : 1;
        for (; base + parameters.first_image <= parameters.top_level;
             parameters.first_image += images) {
            bound->passes.push_back({parameters, impl.pipeline(kind),
                                     descriptors_for(view, layout, base + parameters.first_image)});
        }
    };
    if (top > 0 || impl.options.copy_source) {
        add_passes(source_view, resources.source.layout);
    }
    const VkExtent3D& extent = resources.destination.created.extent;
    for (std::uint32_t base = step; base < top; base += step) {
        kind.first = false;
        parameters.base_level = base;
        parameters.top_level = std::min(top, base + step);
        parameters.base_texel_width =
            1.0F / static_cast<float>(mip_extent(extent.width, base, EDGE_DROP));
        parameters.base_texel_height =
            1.0F / static_cast<float>(mip_extent(extent.height, base, EDGE_DROP));
        const vk::ImageView view =
            make_view(resources.destination, sampled_format(impl.options.format), Usage::eSampled,
                      colour, base);
        add_passes(view, VK_IMAGE_LAYOUT_GENERAL);
    }
    kind.some_blocks = true;
    bound->some_blocks_kind = kind;
    return Binding(std::move(bound));
}

// ---- Recording -------------------------------------------------------------------------------

namespace {

void check_rectangle(const DirtyRectangle& rectangle, const Downsampler::Shape& shape) {
    const std::string text = "a rectangle of " + size_of(rectangle.width, rectangle.height) +
                             " texels at (" + std::to_string(rectangle.x) + ", " +
                             std::to_string(rectangle.y) + ") of layer " +
                             std::to_string(rectangle.layer);
    if (rectangle.width == 0 || rectangle.height == 0) {
        refuse(text, " is empty");
    }
    if (rectangle.layer >= shape.layers || rectangle.x >= shape.width ||
        rectangle.y >= shape.height || rectangle.width > shape.width - rectangle.x ||
        rectangle.height > shape.height - rectangle.y) {
        refuse(text, " is not inside the image of ", size_of(shape.width, shape.height),
               " texels and ", counted(shape.layers, "layer"));
    }
}

// Records each level from the one below, with the driver's rounding; with `copy_source` level 0
// too.
void record_blits(vk::CommandBuffer commands, const Dispatch& dispatch,
                  const Downsampler::Shape& shape, const ImageResource& source,
                  const ImageResource& destination, bool copy_source) {
    const auto layers_of = [&](std::uint32_t level) {
        return vk::ImageSubresourceLayers(vk::ImageAspectFlagBits::eColor, level, 0, shape.layers);
    };
    const auto corner = [&](std::uint32_t level) {
        return vk::Offset3D(static_cast<std::int32_t>(mip_extent(shape.width, level, EDGE_DROP)),
                            static_cast<std::int32_t>(mip_extent(shape.height, level, EDGE_DROP)),
                            1);
    };
    const auto source_layout = static_cast<vk::ImageLayout>(source.layout);
    const auto general = vk::ImageLayout::eGeneral;
    if (copy_source) {
        const vk::ImageCopy region(layers_of(0), {}, layers_of(0), {},
                                   {shape.width, shape.height, 1});
        commands.copyImage(source.image, source_layout, destination.image, general, region,
                           dispatch);
    }
    for (std::uint32_t level = 1; level < shape.levels; ++level) {
        if (level > 1) {
            const vk::MemoryBarrier barrier(vk::AccessFlagBits::eTransferWrite,
                                            vk::AccessFlagBits::eTransferRead);
            commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer,
                                     vk::PipelineStageFlagBits::eTransfer, {}, barrier, {}, {},
                                     dispatch);
        }
        const vk::ImageBlit region(layers_of(level - 1), {vk::Offset3D(), corner(level - 1)},
                                   layers_of(level), {vk::Offset3D(), corner(level)});
        commands.blitImage(level == 1 ? source.image : destination.image,
                           level == 1 ? source_layout : general, destination.image, general, region,
                           vk::Filter::eLinear, dispatch);
    }
}

}  // namespace

// Blocks of the image that a recording makes, in one layer or in all.
struct Downsampler::Impl::Blocks {
    std::uint32_t first_x;
    std::uint32_t first_y;
    std::uint32_t last_x;
    std::uint32_t last_y;
    std::uint32_t layer;
};

void Downsampler::Impl::record(VkCommandBuffer commands, const Binding::Impl& bound,
                               const Blocks* some) const {
    const vk::CommandBuffer buffer(commands);
    const detail::DebugLabel label(
        *context, buffer, some == nullptr ? "mip levels" : "mip levels of a dirty rectangle");
    for (const Binding::Impl::Pass& pass : bound.passes) {
        if (&pass != &bound.passes.front()) {
            program.barrier(buffer);
        }
        DownsampleParameters parameters = pass.parameters;
        const bool by_steps = bound.some_blocks_kind.by_steps;
        if (some == nullptr || by_steps) {
            detail::record_downsampling(buffer, program, pass.pipeline, pass.descriptors.set,
                                        parameters, rule(), by_steps);
            continue;
        }
        parameters.first_block = some->first_x | some->first_y << 16U;
        parameters.last_block = some->last_x | some->last_y << 16U;
        parameters.first_layer = some->layer;
        program.bind(buffer, pipeline(bound.some_blocks_kind), pass.descriptors.set, parameters);
        buffer.dispatch(some->last_x - some->first_x + 1, some->last_y - some->first_y + 1, 1,
                        program.dispatch());
    }
}

void Downsampler::record(VkCommandBuffer commands, const Binding& binding) const {
    const Binding::Impl& bound = *binding.impl_;
    if (impl_->options.method != MipMethod::blit) {
        impl_->record(commands, bound, nullptr);
        return;
    }
    const vk::CommandBuffer buffer(commands);
    const detail::DebugLabel label(*impl_->context, buffer, "mip levels");
    record_blits(buffer, impl_->program.dispatch(), bound.shape, bound.source, bound.destination,
                 impl_->options.copy_source);
}

void Downsampler::record(VkCommandBuffer commands, const Binding& binding,
                         const DirtyRectangle& rectangle) const {
    const Binding::Impl& bound = *binding.impl_;
    if (impl_->options.method != MipMethod::spd) {
        refuse("a dirty rectangle needs MipMethod::spd");
    }
    check_rectangle(rectangle, bound.shape);
    const auto block_along = [&](std::uint32_t texel, std::uint32_t extent) {
        return std::min(texel >> BLOCK_LEVELS,
                        blocks_along(extent, 0, BLOCK_LEVELS, impl_->rule()) - 1);
    };
    const Impl::Blocks blocks{
        block_along(rectangle.x, bound.shape.width), block_along(rectangle.y, bound.shape.height),
        block_along(rectangle.x + rectangle.width - 1, bound.shape.width),
        block_along(rectangle.y + rectangle.height - 1, bound.shape.height), rectangle.layer};
    impl_->record(commands, bound, &blocks);
}

}  // namespace quadtile
