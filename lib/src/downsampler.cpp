#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/downsampler.hpp>

#include "compute_program.hpp"
#include "dirty_regions.hpp"
#include "kernel_constants.hpp"
#include "memory.hpp"
#include "user_kernels.hpp"

#include "../reference/texel_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace quadtile {

namespace {

using detail::BindingType;
using detail::ComputeProgram;
using detail::Descriptor;
using detail::DescriptorSet;
using detail::DeviceContext;
using detail::ItemType;
using detail::vulkan_calls;
using reference::encoding_of;

using Format = vk::FormatFeatureFlagBits;
using Usage = vk::ImageUsageFlagBits;

constexpr std::uint32_t DIRTY_LIST_WORKGROUPS = 64;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, why);
}

[[noreturn]] void cannot(const std::string& why) {
    throw Error(ErrorCode::unsupported, why);
}

bool is_extreme(Reduction reduction) {
    return reduction == Reduction::max || reduction == Reduction::min ||
           reduction == Reduction::min_max;
}

bool is_sum(Reduction reduction) {
    return reduction == Reduction::mean || reduction == Reduction::sum;
}

bool is_depth(TexelFormat format) {
    return format == TexelFormat::d32_float || format == TexelFormat::d16_unorm;
}

// One channel has no more than 11 bits.
bool fits_halves(TexelFormat format) {
    const std::uint32_t encoding = encoding_of(format);
    return encoding != ENCODING_FLOAT32 && encoding != ENCODING_UNORM16;
}

vk::Format vulkan_format(TexelFormat format) {
    return static_cast<vk::Format>(vk_format(format));
}

// The format that texels of an image are written through, and read through one by one: sRGB codes
// are converted by the kernel.
vk::Format plain_format(TexelFormat format) {
    return vulkan_format(format == TexelFormat::rgba8_srgb ? TexelFormat::rgba8_unorm : format);
}

bool is_multi_dispatch(MipMethod method) {
    return method == MipMethod::per_level || method == MipMethod::subgroup;
}

// What a device can do with a format.
vk::FormatFeatureFlags features_of(const DeviceContext& context, vk::Format format) {
    return vulkan_calls("asking for the features of a format", [&] {
        return context.physical_device.getFormatProperties(format, context.dispatch)
            .optimalTilingFeatures;
    });
}

bool has_graphics(const DeviceContext& context) {
    const auto families = context.physical_device.getQueueFamilyProperties(context.dispatch);
    return static_cast<bool>(families[context.queue_family].queueFlags &
                             vk::QueueFlagBits::eGraphics);
}

// Why a device cannot store levels from a kernel, or empty.
std::string obstacle_to_storing(const DeviceContext& context, const DownsamplerOptions& options) {
    if (!context.info.features.storage_image_formats) {
        return "it lacks shaderStorageImageWriteWithoutFormat or "
               "shaderStorageImageExtendedFormats, or they are not enabled";
    }
    const auto limits = context.physical_device.getProperties(context.dispatch).limits;
    // downsample.comp: nodes, room, the sRGB tables, edge weights and what is beside them.
    const std::uint32_t item_bytes = 4 * channel_count(options.format);
    const std::uint32_t shared_bytes =
        (341 + 31 * 31 + 15 * 15) * item_bytes + sizeof(SrgbTables) + 2 * MAX_LEVELS * 4 + 64;
    if (limits.maxComputeSharedMemorySize < shared_bytes) {
        return "its workgroups have " + std::to_string(limits.maxComputeSharedMemorySize) +
               " bytes of shared memory, " + std::to_string(shared_bytes) + " are needed";
    }
    if (!(features_of(context, plain_format(options.format)) & Format::eStorageImage)) {
        return "it cannot store to images of format " + vk::to_string(plain_format(options.format));
    }
    return {};
}

// Why blits cannot make the levels, or empty.
std::string obstacle_to_blits(const DeviceContext& context, const DownsamplerOptions& options) {
    if (options.reduction != Reduction::mean) {
        return "blits make means only";
    }
    if (options.edge_rule == EdgeRule::round_up) {
        return "blits make levels whose sizes are rounded down, not EdgeRule::round_up";
    }
    if (is_depth(options.source_format)) {
        return "blits do not read depth formats";
    }
    if (options.copy_source && options.source_format != options.format) {
        return "blits cannot copy level 0 into another format";
    }
    if (!has_graphics(context)) {
        return "the queue family in use has no graphics, which blits need";
    }
    const vk::FormatFeatureFlags from = Format::eBlitSrc | Format::eSampledImageFilterLinear;
    const vk::FormatFeatureFlags source =
        features_of(context, vulkan_format(options.source_format));
    const vk::FormatFeatureFlags target = features_of(context, vulkan_format(options.format));
    if ((source & from) != from || (target & from) != from || !(target & Format::eBlitDst)) {
        return "it cannot blit with a linear filter from " +
               std::string(name_of(options.source_format)) + " to " + name_of(options.format);
    }
    return {};
}

// Why a sampler cannot reduce a quad as asked, or empty.
std::string obstacle_to_filtering(const DeviceContext& context, const DownsamplerOptions& options) {
    if (options.reduction == Reduction::custom) {
        return "a custom reduction needs each texel";
    }
    if (options.copy_source) {
        return "copying the source needs each texel";
    }
    const bool extreme = is_extreme(options.reduction);
    // Extremes of codes are those of colours.
    const vk::Format format =
        extreme ? plain_format(options.source_format) : vulkan_format(options.source_format);
    const auto features = features_of(context, format);
    if (extreme && !context.info.features.sampler_minmax) {
        return "the device lacks samplerFilterMinmax, or it is not enabled";
    }
    if (extreme && channel_count(options.source_format) > 1) {
        vk::PhysicalDeviceVulkan12Properties properties_1_2;
        vk::PhysicalDeviceProperties2 properties;
        properties.pNext = &properties_1_2;
        context.physical_device.getProperties2(&properties, context.dispatch);
        if (properties_1_2.filterMinmaxImageComponentMapping == 0) {
            return "its MIN and MAX samplers read one channel only";
        }
    }
    vk::FormatFeatureFlags needed = Format::eSampledImageFilterLinear;
    if (extreme) {
        needed |= Format::eSampledImageFilterMinmax;
    }
    if ((features & needed) != needed) {
        return "the device has no such filter for " + vk::to_string(format);
    }
    return {};
}

// Checks the options and replaces `automatic`.
DownsamplerOptions settled(const DeviceContext& context, DownsamplerOptions options) {
    reference::check_formats(options.reduction, options.source_format, options.format);
    if (options.reduction == Reduction::custom &&
        options.custom_glsl.empty() == options.custom_compiled.empty()) {
        refuse("Reduction::custom needs either custom_glsl or custom_compiled");
    }
    if (options.reduction != Reduction::custom &&
        !(options.custom_glsl.empty() && options.custom_compiled.empty())) {
        refuse("custom_glsl and custom_compiled are for Reduction::custom");
    }
    const std::string& device = context.info.name;
    const std::string storing = obstacle_to_storing(context, options);
    if (options.method == MipMethod::automatic) {
        const bool blits = !storing.empty() && obstacle_to_blits(context, options).empty();
        options.method = blits ? MipMethod::blit : MipMethod::spd;
    }
    if (options.method == MipMethod::blit) {
        const std::string obstacle = obstacle_to_blits(context, options);
        if (options.edge_rule == EdgeRule::round_up) {
            refuse(obstacle);
        }
        if (!obstacle.empty()) {
            cannot("MipMethod::blit on " + device + ": " + obstacle);
        }
        return options;
    }
    if (!storing.empty()) {
        cannot(device + " cannot store these levels: " + storing +
               (options.reduction == Reduction::mean ? "" : "; only means can be made by blits"));
    }
    if (!(features_of(context, plain_format(options.source_format)) & Format::eSampledImage)) {
        cannot(device + " cannot sample images of format " +
               vk::to_string(plain_format(options.source_format)));
    }

    const std::string filtering = obstacle_to_filtering(context, options);
    if (options.read == TexelRead::automatic) {
        const bool same =
            is_extreme(options.reduction) && encoding_of(options.source_format) >= ENCODING_UNORM8;
        options.read = same && filtering.empty() ? TexelRead::filtered : TexelRead::texels;
    }
    if (options.read == TexelRead::filtered && !filtering.empty()) {
        cannot("TexelRead::filtered: " + filtering);
    }
    if (options.exchange == Exchange::automatic) {
        options.exchange = context.info.features.subgroup_operations ? Exchange::subgroup
                                                                     : Exchange::shared_memory;
    }
    if (options.exchange == Exchange::subgroup && !context.info.features.subgroup_operations) {
        cannot("Exchange::subgroup: " + device +
               " lacks subgroup operations with full subgroups, "
               "or they are not enabled");
    }
    if (options.half_precision) {
        if (!context.info.features.float16) {
            cannot("half_precision: " + device +
                   " lacks shaderFloat16 or "
                   "shaderSubgroupExtendedTypes, or they are not enabled");
        }
        if (options.reduction == Reduction::custom || !fits_halves(options.source_format) ||
            !fits_halves(options.format)) {
            refuse(
                "half_precision is for formats with no more than 11 bits a channel and for no "
                "custom reduction");
        }
    }
    return options;
}

std::string size_of(std::uint32_t width, std::uint32_t height) {
    return std::to_string(width) + " x " + std::to_string(height);
}

// Levels that one dispatch can store (mip_images.glsl).
std::uint32_t image_count(const DeviceContext& context) {
    return std::min(MAX_LEVELS, context.max_storage_images);
}

}  // namespace

struct Downsampler::Impl {
    // A pipeline's kind; see kernel_constants.hpp.
    struct PipelineKey {
        bool first;  // dispatch of several
        bool odd_blocks;
        bool whole_blocks;
        detail::UpperLevels upper_levels;
        bool weighted;
        bool some_blocks;
        bool from_list;

        auto operator<=>(const PipelineKey&) const = default;
    };

    Impl(const Device& device, DownsamplerOptions requested)
        : options(settled(*device.context(), std::move(requested))),
          program(device.context(), "the downsampler", binding_types(*device.context()),
                  sizeof(DownsampleParameters)),
          lister(device.context(), "the lister of dirty blocks",
                 {{0, vk::DescriptorType::eStorageBuffer},
                  {1, vk::DescriptorType::eStorageBuffer},
                  {2, vk::DescriptorType::eStorageBuffer}},
                 sizeof(DirtyBlocksParameters)),
          context(device.context()) {
        if (options.method == MipMethod::blit) {
            return;
        }
        const bool filtered = options.read == TexelRead::filtered;
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
        std::memcpy(tables.mapped(), &reference::srgb_tables(), sizeof(SrgbTables));
        if (options.reduction == Reduction::custom) {
            for (const bool odd_blocks : {false, true}) {
                custom_code[odd_blocks ? 1 : 0] = detail::code_of(
                    detail::UserKernel::reduction(channel_count(options.format), odd_blocks,
                                                  options.exchange == Exchange::subgroup),
                    detail::UserFunction::reduction(options.custom_glsl, options.custom_compiled),
                    false, context->cache_directory);
            }
        }
        (void)pipeline({.first = true});  // so that what cannot work fails here
    }

    // See downsample.comp.
    static std::vector<BindingType> binding_types(const DeviceContext& context) {
        return {{0, vk::DescriptorType::eCombinedImageSampler},
                {1, vk::DescriptorType::eStorageBuffer},
                {2, vk::DescriptorType::eCombinedImageSampler},
                {3, vk::DescriptorType::eStorageBuffer},
                {4, vk::DescriptorType::eStorageBuffer},
                {5, vk::DescriptorType::eStorageImage, image_count(context)}};
    }

    [[nodiscard]] detail::KernelCode code(bool odd_blocks) const {
        const bool subgroups = options.exchange == Exchange::subgroup;
        if (options.reduction == Reduction::custom) {
            return {custom_code[odd_blocks ? 1 : 0], subgroups};
        }
        const ItemType items = options.half_precision          ? ItemType::halves
                               : is_extreme(options.reduction) ? ItemType::extremes
                                                               : ItemType::floats;
        return detail::downsample_code(items, channel_count(options.format), odd_blocks, subgroups);
    }

    // Compiles on first use.
    [[nodiscard]] vk::Pipeline pipeline(const PipelineKey& key) const {
        const std::lock_guard lock(mutex);
        Unique<vk::Pipeline>& made = pipelines[key];
        if (!made) {
            const std::uint32_t source = encoding_of(options.source_format);
            const std::uint32_t target = encoding_of(options.format);
            const bool in_codes =
                is_sum(options.reduction) && source >= ENCODING_UNORM8 && source == target;
            const bool subgroups = options.exchange == Exchange::subgroup && !key.odd_blocks;
            made = program.make_pipeline(
                code(key.odd_blocks), "downsample",
                {{detail::REDUCTION, static_cast<std::uint32_t>(options.reduction)},
                 {detail::EDGE_RULE, static_cast<std::uint32_t>(options.edge_rule)},
                 {detail::FILTERED, options.read == TexelRead::filtered ? 1U : 0U},
                 {detail::SOURCE_ENCODING, key.first ? source : target},
                 {detail::TARGET_ENCODING, target},
                 {detail::SOURCE_CHANNELS,
                  channel_count(key.first ? options.source_format : options.format)},
                 {detail::DYNAMIC_INDEXING,
                  context->info.features.storage_image_dynamic_indexing ? 1U : 0U},
                 {detail::MIP_IMAGES, image_count(*context)},
                 {detail::COPY_SOURCE, key.first && options.copy_source ? 1U : 0U},
                 {detail::BLOCKS_FROM_LIST, key.from_list ? 1U : 0U},
                 {detail::IN_CODES, in_codes ? 1U : 0U},
                 {detail::WEIGHTED, key.weighted ? 1U : 0U},
                 {detail::WHOLE_BLOCKS, key.whole_blocks ? 1U : 0U},
                 {detail::SOME_BLOCKS, key.some_blocks ? 1U : 0U},
                 {detail::WIDE_GROUPS, key.upper_levels.wide_groups ? 1U : 0U},
                 {detail::ONE_GROUP, key.upper_levels.one_group ? 1U : 0U},
                 {detail::CREW_SIZE,
                  key.upper_levels.crew_size(subgroups, context->info.subgroup_size)}});
        }
        return made.get();
    }

    [[nodiscard]] vk::Pipeline list_pipeline() const {
        const std::lock_guard lock(mutex);
        if (!lister_pipeline) {
            lister_pipeline = lister.make_pipeline(
                detail::Kernel::dirty_blocks, "dirty_blocks",
                {{detail::EDGE_RULE, static_cast<std::uint32_t>(options.edge_rule)}});
        }
        return lister_pipeline.get();
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
        parameters.state_words_per_layer = state_words_per_layer(
            shape.width, shape.height, shape.levels - 1, rule(), channel_count(options.format));
        return parameters;
    }

    [[nodiscard]] vk::DeviceSize state_size_bytes(const Shape& shape) const {
        const vk::DeviceSize words = 1 + parameters_of(shape).state_words_per_layer;
        return words * shape.layers * sizeof(std::uint32_t);
    }

    [[nodiscard]] std::uint64_t block_count(const Shape& shape) const {
        return std::uint64_t{blocks_along(shape.width, 0, BLOCK_LEVELS, rule())} *
               blocks_along(shape.height, 0, BLOCK_LEVELS, rule()) * shape.layers;
    }

    [[nodiscard]] vk::DeviceSize dirty_blocks_size_bytes(const Shape& shape) const {
        return sizeof(DirtyBlocksHeader) + 2 * block_count(shape) * sizeof(std::uint32_t);
    }

    // Whether some block of the image has odd edges that the edge rule treats specially; see
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

    void check_shape(const Shape& shape) const;
    [[nodiscard]] Requirements requirements(const Shape& shape) const;
    void check_images(const Shape& shape, const Resources& resources) const;

    const DownsamplerOptions options;
    ComputeProgram program;
    ComputeProgram lister;
    std::shared_ptr<DeviceContext> context;
    Unique<vk::Sampler> sampler;
    Unique<vk::Sampler> sampler_maximum;
    detail::Buffer tables;
    std::array<std::vector<std::uint32_t>, 2> custom_code;  // without and with odd blocks
    mutable std::mutex mutex;                               // of the pipelines
    mutable std::map<PipelineKey, Unique<vk::Pipeline>> pipelines;
    mutable Unique<vk::Pipeline> lister_pipeline;
};

struct Downsampler::Binding::Impl {
    // A dispatch that stores a window of levels (mip_images.glsl). Most devices need one window
    // for each level that is read, and spd reads the source alone.
    struct Pass {
        DownsampleParameters parameters;
        vk::Pipeline pipeline;
        DescriptorSet descriptors;
    };

    std::shared_ptr<DeviceContext> context;  // of the views
    Shape shape;
    std::vector<Unique<vk::ImageView>> views;
    std::vector<Pass> passes;
    // For record with rectangles.
    Downsampler::Impl::PipelineKey some_blocks_kind;
    // For record_indirect.
    vk::Pipeline list_pipeline;
    vk::Pipeline listed_pipeline;
    DescriptorSet list_descriptors;
    DirtyBlocksParameters list_parameters;
    BufferRange dirty_blocks;
    // For blits.
    ImageResource source;
    ImageResource destination;
};

Downsampler::Binding::Binding(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Downsampler::Binding::Binding(Binding&&) noexcept = default;
Downsampler::Binding& Downsampler::Binding::operator=(Binding&&) noexcept = default;
Downsampler::Binding::~Binding() = default;

Downsampler::Downsampler(const Device& device, DownsamplerOptions options)
    : impl_(std::make_shared<Impl>(device, std::move(options))) {}

const DownsamplerOptions& Downsampler::options() const noexcept {
    return impl_->options;
}

// ---- What the caller must bring
// ------------------------------------------------------------------

void Downsampler::Impl::check_shape(const Shape& shape) const {
    check_image({shape.width, shape.height, shape.layers, options.source_format});
    const std::uint32_t full = full_mip_levels(shape.width, shape.height, options.edge_rule);
    if (shape.levels == 0 || shape.levels > full) {
        refuse(std::to_string(shape.levels) + " levels were asked for; an image of " +
               size_of(shape.width, shape.height) + " texels has 1 to " + std::to_string(full) +
               ", level 0 included");
    }
    const DeviceInfo& info = context->info;
    if (shape.width > info.max_map_extent || shape.height > info.max_map_extent ||
        shape.layers > info.max_layers) {
        cannot("an image of " + size_of(shape.width, shape.height) + " texels with " +
               std::to_string(shape.layers) + " layers is too large for " + info.name +
               ": its images have at most " + std::to_string(info.max_map_extent) +
               " texels on a side and " + std::to_string(info.max_layers) + " layers");
    }
    // lavapipe (Mesa 22.3) loses threads that leave loops early, after some barriers: too many
    // here.
    if (info.type == "CPU" && options.reduction == Reduction::custom &&
        options.method == MipMethod::spd && has_odd_blocks(shape) &&
        shape.levels - 1 > BLOCK_LEVELS + step_levels(BLOCK_LEVELS, shape.levels - 1)) {
        cannot("custom reductions of " + size_of(shape.width, shape.height) +
               " texels in one dispatch go wrong on CPU drivers (" + info.name +
               "); use MipMethod::per_level there");
    }
    if (state_size_bytes(shape) > context->max_storage_buffer_range_bytes) {
        cannot("the state of " + std::to_string(shape.layers) + " layers of " +
               size_of(shape.width, shape.height) + " texels has " +
               std::to_string(state_size_bytes(shape)) + " bytes, a buffer of " + info.name +
               " at most " + std::to_string(context->max_storage_buffer_range_bytes) +
               "; use fewer layers at once");
    }
}

Downsampler::Requirements Downsampler::requirements(const Shape& shape) const {
    impl_->check_shape(shape);
    return impl_->requirements(shape);
}

Downsampler::Requirements Downsampler::Impl::requirements(const Shape& shape) const {
    const bool blits = options.method == MipMethod::blit;
    vk::ImageUsageFlags source = blits ? Usage::eTransferSrc : Usage::eSampled;
    vk::ImageUsageFlags destination =
        blits ? Usage::eTransferSrc | Usage::eTransferDst : vk::ImageUsageFlags(Usage::eStorage);
    if (is_multi_dispatch(options.method)) {
        destination |= Usage::eSampled;
    }
    // sRGB is read and written as codes; a filter reads it as light.
    const auto codes = vk::ImageCreateFlagBits::eMutableFormat;
    const bool reads_light = options.read == TexelRead::filtered && is_sum(options.reduction);
    vk::ImageCreateFlags source_flags;
    vk::ImageCreateFlags destination_flags;
    if (options.source_format == TexelFormat::rgba8_srgb && !blits && !reads_light) {
        source_flags = codes;
    }
    if (options.format == TexelFormat::rgba8_srgb && !blits) {
        destination_flags = codes | vk::ImageCreateFlagBits::eExtendedUsage;
    }
    VkExtent2D extent{shape.width, shape.height};
    if (options.edge_rule == EdgeRule::round_up) {
        // Up to the level where an axis has come down to one texel.
        const auto enough = [&](std::uint32_t texels) {
            const auto halvings = static_cast<std::uint32_t>(std::bit_width(texels - 1));
            const std::uint32_t unit = 1U << std::min(shape.levels - 1, halvings);
            return (texels + unit - 1) / unit * unit;
        };
        extent = {enough(shape.width), enough(shape.height)};
    }
    return {.state_size_bytes = state_size_bytes(shape),
            .dirty_blocks_size_bytes = dirty_blocks_size_bytes(shape),
            .alignment_bytes = detail::storage_alignment_bytes(*context),
            .state_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
            .dirty_blocks_usage =
                VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
            .source_usage = static_cast<VkImageUsageFlags>(source),
            .source_flags = static_cast<VkImageCreateFlags>(source_flags),
            .destination_usage = static_cast<VkImageUsageFlags>(destination),
            .destination_flags = static_cast<VkImageCreateFlags>(destination_flags),
            .destination_extent = extent};
}

void Downsampler::Impl::check_images(const Shape& shape, const Resources& resources) const {
    const auto check = [&](const ImageResource& image, const std::string& which, TexelFormat format,
                           VkImageUsageFlags usage, VkImageCreateFlags flags,
                           std::uint32_t levels) {
        const VkImageCreateInfo& created = image.created;
        if (image.image == VK_NULL_HANDLE) {
            refuse("the " + which + " image is null");
        }
        if (created.format != vk_format(format)) {
            refuse("the " + which + " image is of format " +
                   vk::to_string(static_cast<vk::Format>(created.format)) + ", " +
                   vk::to_string(vulkan_format(format)) + " was announced");
        }
        if ((created.usage & usage) != usage) {
            refuse("the " + which + " image was created without the usage " +
                   vk::to_string(vk::ImageUsageFlags(usage & ~created.usage)) +
                   "; see Downsampler::requirements");
        }
        if ((created.flags & flags) != flags) {
            refuse("the " + which + " image was created without the flags " +
                   vk::to_string(vk::ImageCreateFlags(flags & ~created.flags)) +
                   ", which sRGB formats need; see Downsampler::requirements");
        }
        if (created.arrayLayers < shape.layers) {
            refuse("the " + which + " image has " + std::to_string(created.arrayLayers) +
                   " layers, " + std::to_string(shape.layers) + " were announced");
        }
        if (created.imageType != VK_IMAGE_TYPE_2D || created.samples != VK_SAMPLE_COUNT_1_BIT) {
            refuse("the " + which + " image must be 2D with one sample a texel");
        }
        if (created.mipLevels < levels) {
            refuse("the " + which + " image has " + std::to_string(created.mipLevels) +
                   " mip levels, " + std::to_string(levels) + " were announced");
        }
    };
    const bool same = resources.source.image == resources.destination.image;
    const bool blits = options.method == MipMethod::blit;
    const Requirements needed = requirements(shape);
    check(resources.source, "source", options.source_format, needed.source_usage,
          needed.source_flags, 1);
    check(resources.destination, "destination", options.format, needed.destination_usage,
          needed.destination_flags, shape.levels);
    const VkExtent3D& source = resources.source.created.extent;
    if (source.width != shape.width || source.height != shape.height) {
        refuse("the source image has " + size_of(source.width, source.height) + " texels, " +
               size_of(shape.width, shape.height) + " were announced");
    }
    const VkExtent3D& destination = resources.destination.created.extent;
    for (std::uint32_t level = options.copy_source ? 0 : 1; level < shape.levels; ++level) {
        const std::uint32_t width = mip_extent(shape.width, level, rule());
        const std::uint32_t height = mip_extent(shape.height, level, rule());
        if (mip_extent(destination.width, level, EDGE_DROP) < width ||
            mip_extent(destination.height, level, EDGE_DROP) < height) {
            refuse("level " + std::to_string(level) + " of the destination image has " +
                   size_of(mip_extent(destination.width, level, EDGE_DROP),
                           mip_extent(destination.height, level, EDGE_DROP)) +
                   " texels, " + size_of(width, height) +
                   " are needed; make the image as large as Downsampler::requirements says");
        }
    }
    if (blits && (destination.width != shape.width || destination.height != shape.height)) {
        refuse("MipMethod::blit needs a destination of the source's extents");
    }
    if (same && options.copy_source) {
        refuse("copy_source needs a destination that is not the source");
    }
    if (resources.destination.layout != VK_IMAGE_LAYOUT_GENERAL ||
        (same && resources.source.layout != VK_IMAGE_LAYOUT_GENERAL)) {
        refuse("the destination must be in layout GENERAL");
    }
}

Downsampler::Binding Downsampler::bind(const Shape& shape, const Resources& resources) const {
    const Impl& impl = *impl_;
    impl.check_shape(shape);
    impl.check_images(shape, resources);
    auto bound = std::make_unique<Binding::Impl>();
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
        bound->views.push_back(vulkan_calls("creating the view of a mip level", [&] {
            auto view =
                impl.context->device.createImageViewUnique(info, nullptr, impl.program.dispatch());
            impl.context->name(*view, "mip level " + std::to_string(level));
            return view;
        }));
        return *bound->views.back();
    };
    const auto sampled_format = [&](TexelFormat format) {
        const bool light =
            impl.options.read == TexelRead::filtered && is_sum(impl.options.reduction);
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
        // The levels from the first on; the kernel does not look at the rest.
        std::vector<vk::ImageView> stored(levels.begin() + first, levels.end());
        stored.resize(images, stored.back());
        const BufferRange blocks = resources.dirty_blocks.buffer != VK_NULL_HANDLE
                                       ? resources.dirty_blocks
                                       : resources.state;
        const vk::DeviceSize blocks_size = resources.dirty_blocks.buffer != VK_NULL_HANDLE
                                               ? impl.dirty_blocks_size_bytes(shape)
                                               : impl.state_size_bytes(shape);
        return impl.program.make_descriptors(
            {Descriptor::sampled(*impl.sampler, view, layout),
             Descriptor::storage_buffer(resources.state.buffer, resources.state.offset_bytes,
                                        impl.state_size_bytes(shape)),
             Descriptor::sampled(*impl.sampler_maximum, view, layout),
             Descriptor::storage_buffer(impl.tables.handle(), 0, impl.tables.size_bytes()),
             Descriptor::storage_buffer(blocks.buffer, blocks.offset_bytes, blocks_size),
             Descriptor::storage_images(stored)});
    };
    const bool in_one_dispatch = impl.options.method == MipMethod::spd;
    Downsampler::Impl::PipelineKey kind{
        .first = true,
        .odd_blocks = impl.has_odd_blocks(shape),
        .whole_blocks = in_one_dispatch && shape.levels > BLOCK_LEVELS &&
                        detail::has_whole_blocks(shape.width, shape.height),
        .upper_levels = in_one_dispatch ? detail::upper_levels(shape.width, shape.height,
                                                               shape.levels - 1, impl.rule())
                                        : detail::UpperLevels{},
        .weighted = impl.options.reduction == Reduction::mean &&
                    (shape.width != shape.height || !std::has_single_bit(shape.width))};
    const vk::ImageView source_view = make_view(
        resources.source, sampled_format(impl.options.source_format), Usage::eSampled,
        is_depth(impl.options.source_format) ? vk::ImageAspectFlagBits::eDepth : colour, 0);
    DownsampleParameters parameters = impl.parameters_of(shape);
    const std::uint32_t top = shape.levels - 1;
    const std::uint32_t step = impl.options.method == MipMethod::per_level  ? 1
                               : impl.options.method == MipMethod::subgroup ? BLOCK_LEVELS
                                                                            : MAX_LEVELS;
    parameters.top_level = std::min(top, step);
    // Each window is a whole run from the base level: its levels are made of the same values as
    // where one window holds all, rounded or not.
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
    kind.from_list = true;
    if (resources.dirty_blocks.buffer != VK_NULL_HANDLE &&
        resources.dirty_rectangles.buffer != VK_NULL_HANDLE &&
        impl.options.method == MipMethod::spd) {
        bound->list_pipeline = impl.list_pipeline();
        bound->listed_pipeline = impl.pipeline(kind);
        bound->dirty_blocks = resources.dirty_blocks;
        bound->list_descriptors = impl.lister.make_descriptors(
            {Descriptor::storage_buffer(
                 resources.dirty_rectangles.buffer, resources.dirty_rectangles.offset_bytes,
                 4 * sizeof(std::uint32_t) +
                     sizeof(DirtyRectangle) * std::max(resources.dirty_rectangle_capacity, 1U)),
             Descriptor::storage_buffer(resources.dirty_blocks.buffer,
                                        resources.dirty_blocks.offset_bytes,
                                        impl.dirty_blocks_size_bytes(shape)),
             Descriptor::storage_buffer(resources.state.buffer, resources.state.offset_bytes,
                                        impl.state_size_bytes(shape))});
        bound->list_parameters = {.width = shape.width,
                                  .height = shape.height,
                                  .layers = shape.layers,
                                  .top_level = top,
                                  .state_words_per_layer = parameters.state_words_per_layer,
                                  .texel_words = channel_count(impl.options.format),
                                  .rectangle_capacity = resources.dirty_rectangle_capacity,
                                  .max_workgroup_count = impl.context->max_workgroup_count};
    }
    return Binding(std::move(bound));
}

// ---- Recording
// -----------------------------------------------------------------------------------

namespace {

// Levels by blits, each from the one below.
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

// Orders what follows behind the writes of dispatches, and behind their reads.
void record_barrier(vk::CommandBuffer commands, const Dispatch& dispatch,
                    vk::PipelineStageFlags stages = vk::PipelineStageFlagBits::eComputeShader,
                    vk::AccessFlags more = {}) {
    const vk::MemoryBarrier barrier(
        vk::AccessFlagBits::eShaderWrite,
        vk::AccessFlagBits::eShaderRead | vk::AccessFlagBits::eShaderWrite | more);
    commands.pipelineBarrier(stages, stages, {}, barrier, {}, {}, dispatch);
}

}  // namespace

void Downsampler::record(VkCommandBuffer commands, const Binding& binding) const {
    const Impl& impl = *impl_;
    const Binding::Impl& bound = *binding.impl_;
    const Dispatch& dispatch = impl.program.dispatch();
    const vk::CommandBuffer buffer(commands);
    const detail::DebugLabel label(*impl.context, buffer, "mip levels");
    if (impl.options.method == MipMethod::blit) {
        record_blits(buffer, dispatch, bound.shape, bound.source, bound.destination,
                     impl.options.copy_source);
        return;
    }
    for (const Binding::Impl::Pass& pass : bound.passes) {
        const DownsampleParameters& parameters = pass.parameters;
        if (&pass != &bound.passes.front()) {
            record_barrier(buffer, dispatch);
        }
        buffer.bindPipeline(vk::PipelineBindPoint::eCompute, pass.pipeline, dispatch);
        buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, impl.program.layout(), 0,
                                  pass.descriptors.set, {}, dispatch);
        buffer.pushConstants<DownsampleParameters>(
            impl.program.layout(), vk::ShaderStageFlagBits::eCompute, 0, parameters, dispatch);
        buffer.dispatch(
            blocks_along(parameters.width, parameters.base_level, BLOCK_LEVELS, impl.rule()),
            blocks_along(parameters.height, parameters.base_level, BLOCK_LEVELS, impl.rule()),
            parameters.layers, dispatch);
    }
}

void Downsampler::record(VkCommandBuffer commands, const Binding& binding,
                         std::span<const DirtyRectangle> rectangles) const {
    const Impl& impl = *impl_;
    const Binding::Impl& bound = *binding.impl_;
    if (impl.options.method != MipMethod::spd) {
        refuse("dirty rectangles need MipMethod::spd");
    }
    const std::vector<detail::DirtyRegion> regions =
        detail::dirty_regions(bound.shape.width, bound.shape.height, bound.shape.layers,
                              bound.shape.levels - 1, impl.rule(), rectangles);
    if (regions.empty() || bound.passes.empty()) {
        return;
    }
    const Dispatch& dispatch = impl.program.dispatch();
    const vk::CommandBuffer buffer(commands);
    const detail::DebugLabel label(*impl.context, buffer, "mip levels of dirty rectangles");
    buffer.bindPipeline(vk::PipelineBindPoint::eCompute, impl.pipeline(bound.some_blocks_kind),
                        dispatch);
    for (const Binding::Impl::Pass& pass : bound.passes) {
        if (&pass != &bound.passes.front()) {
            record_barrier(buffer, dispatch);
        }
        buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, impl.program.layout(), 0,
                                  pass.descriptors.set, {}, dispatch);
        // No barrier between them: together they count as one run.
        for (const detail::DirtyRegion& region : regions) {
            DownsampleParameters parameters = pass.parameters;
            parameters.first_block_x = region.first_x;
            parameters.first_block_y = region.first_y;
            parameters.first_layer = region.layer;
            std::ranges::copy(region.expected, parameters.expected);
            buffer.pushConstants<DownsampleParameters>(
                impl.program.layout(), vk::ShaderStageFlagBits::eCompute, 0, parameters, dispatch);
            buffer.dispatch(region.columns, region.rows, 1, dispatch);
        }
    }
}

void Downsampler::record_indirect(VkCommandBuffer commands, const Binding& binding) const {
    const Impl& impl = *impl_;
    const Binding::Impl& bound = *binding.impl_;
    if (impl.options.method != MipMethod::spd) {
        refuse("dirty rectangles need MipMethod::spd");
    }
    if (!bound.list_pipeline) {
        refuse("record_indirect needs dirty_blocks and dirty_rectangles among the resources");
    }
    const Dispatch& dispatch = impl.program.dispatch();
    const vk::CommandBuffer buffer(commands);
    const detail::DebugLabel label(*impl.context, buffer, "mip levels of listed rectangles");
    constexpr auto stages =
        vk::PipelineStageFlagBits::eComputeShader | vk::PipelineStageFlagBits::eDrawIndirect;
    for (const Binding::Impl::Pass& pass : bound.passes) {
        if (&pass != &bound.passes.front()) {
            record_barrier(buffer, dispatch, stages);
        }
        // For each, as the blocks take their marks and expectations back.
        buffer.bindPipeline(vk::PipelineBindPoint::eCompute, bound.list_pipeline, dispatch);
        buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, impl.lister.layout(), 0,
                                  bound.list_descriptors.set, {}, dispatch);
        buffer.pushConstants<DirtyBlocksParameters>(impl.lister.layout(),
                                                    vk::ShaderStageFlagBits::eCompute, 0,
                                                    bound.list_parameters, dispatch);
        buffer.dispatch(std::min(DIRTY_LIST_WORKGROUPS, impl.context->max_workgroup_count), 1, 1,
                        dispatch);
        record_barrier(buffer, dispatch, stages, vk::AccessFlagBits::eIndirectCommandRead);
        buffer.bindPipeline(vk::PipelineBindPoint::eCompute, bound.listed_pipeline, dispatch);
        buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, impl.program.layout(), 0,
                                  pass.descriptors.set, {}, dispatch);
        buffer.pushConstants<DownsampleParameters>(
            impl.program.layout(), vk::ShaderStageFlagBits::eCompute, 0, pass.parameters, dispatch);
        buffer.dispatchIndirect(bound.dirty_blocks.buffer, bound.dirty_blocks.offset_bytes,
                                dispatch);
    }
}

}  // namespace quadtile
