#include "recording/downsampler_checks.hpp"

#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>

#include "device/memory.hpp"
#include "values/refuse.hpp"
#include "values/texel_codec.hpp"

#include <algorithm>
#include <bit>

namespace quadtile::detail {

bool is_multi_dispatch(MipMethod method) {
    return method == MipMethod::per_level || method == MipMethod::subgroup;
}

vk::Format plain_format(TexelFormat format) {
    return vulkan_format(format == TexelFormat::rgba8_srgb ? TexelFormat::rgba8_unorm : format);
}

namespace {

using Format = vk::FormatFeatureFlagBits;
using Usage = vk::ImageUsageFlagBits;

bool has_graphics(const DeviceContext& context) {
    const auto families = context.physical_device.getQueueFamilyProperties(context.dispatch);
    return static_cast<bool>(families[context.queue_family].queueFlags &
                             vk::QueueFlagBits::eGraphics);
}

// Returns why a device cannot store levels from a kernel; empty: it can.
std::string obstacle_to_storing(const DeviceContext& context, const DownsamplerOptions& options) {
    if (!context.info.features.storage_image_formats) {
        return "it lacks shaderStorageImageWriteWithoutFormat or "
               "shaderStorageImageExtendedFormats, or they are not enabled";
    }
    const auto limits = context.physical_device.getProperties(context.dispatch).limits;
    // Shared memory of downsample.comp: nodes, room, sRGB tables, edge weights, smaller variables.
    const std::uint32_t channels = channel_count(options.format);
    const std::uint32_t item_bytes =
        4 * (channels == 2 && is_sum(options.reduction) ? 4 : channels);
    const std::uint32_t shared_bytes =
        (341 + 31 * 31 + 15 * 15) * item_bytes + sizeof(SrgbTables) + 2 * MAX_LEVELS * 4 + 64;
    if (limits.maxComputeSharedMemorySize < shared_bytes) {
        return "its workgroups have " + std::to_string(limits.maxComputeSharedMemorySize) +
               " bytes of shared memory, but " + std::to_string(shared_bytes) + " bytes are needed";
    }
    if (!(features_of(context, plain_format(options.format)) & Format::eStorageImage)) {
        return "it cannot store to images of format " + vk::to_string(plain_format(options.format));
    }
    return {};
}

// Returns why blits cannot make the levels; empty: they can.
std::string obstacle_to_blits(const DeviceContext& context, const DownsamplerOptions& options) {
    if (options.reduction != Reduction::mean) {
        return "blits can only make means";
    }
    if (options.edge_rule == EdgeRule::round_up) {
        return "blits round the sizes of levels down, unlike EdgeRule::round_up";
    }
    if (is_depth(options.source_format)) {
        return "blits do not read depth formats";
    }
    if (options.copy_source && options.source_format != options.format) {
        return "blits cannot copy level 0 into another format";
    }
    if (!has_graphics(context)) {
        return "blits need a queue family with graphics, which the one in use lacks";
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

// Returns why a sampler cannot reduce a quad as requested; empty: it can.
std::string obstacle_to_filtering(const DeviceContext& context, const DownsamplerOptions& options) {
    if (options.reduction == Reduction::custom) {
        return "a custom reduction needs unfiltered texels";
    }
    if (options.copy_source) {
        return "copying the source needs unfiltered texels";
    }
    const bool extreme = is_extreme(options.reduction);
    // The extremes of codes are the codes of the extreme colours.
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
            return "its MIN and MAX samplers read only one channel";
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

}  // namespace

DownsamplerOptions settled(const DeviceContext& context, DownsamplerOptions options) {
    check_formats(options.reduction, options.source_format, options.format);
    const bool is_custom = options.reduction == Reduction::custom;
    refuse_if(is_custom && options.custom_glsl.empty(), "Reduction::custom needs custom_glsl");
    refuse_if(!is_custom && !options.custom_glsl.empty(), "custom_glsl is for Reduction::custom");
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
            cannot("MipMethod::blit on ", device, ": ", obstacle);
        }
        return options;
    }
    if (!storing.empty()) {
        cannot(device, " cannot store these levels: ", storing,
               (options.reduction == Reduction::mean
                    ? ""
                    : "; blits, which need no such stores, can only make means"));
    }
    if (!(features_of(context, plain_format(options.source_format)) & Format::eSampledImage)) {
        cannot(device, " cannot sample images of format ",
               vk::to_string(plain_format(options.source_format)));
    }

    const std::string filtering = obstacle_to_filtering(context, options);
    if (options.filtered && !filtering.empty()) {
        cannot("DownsamplerOptions::filtered: ", filtering);
    }
    // There it is exact.
    const bool is_exact =
        is_extreme(options.reduction) && encoding_of(options.source_format) >= ENCODING_UNORM8;
    options.filtered = options.filtered || (is_exact && filtering.empty());
    return options;
}

Downsampler::Requirements image_requirements(const DownsamplerOptions& options,
                                             const Downsampler::Shape& shape) {
    const bool blits = options.method == MipMethod::blit;
    vk::ImageUsageFlags source = blits ? Usage::eTransferSrc : Usage::eSampled;
    vk::ImageUsageFlags destination =
        blits ? Usage::eTransferSrc | Usage::eTransferDst : vk::ImageUsageFlags(Usage::eStorage);
    if (is_multi_dispatch(options.method)) {
        destination |= Usage::eSampled;
    }
    // sRGB is read and written as codes; a filter reads it as light.
    const auto codes = vk::ImageCreateFlagBits::eMutableFormat;
    const bool reads_light = options.filtered && is_sum(options.reduction);
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
        // Up to the level at which an axis has one texel.
        const auto enough = [&](std::uint32_t texels) {
            const auto halvings = static_cast<std::uint32_t>(std::bit_width(texels - 1));
            const std::uint32_t unit = 1U << std::min(shape.levels - 1, halvings);
            return (texels + unit - 1) / unit * unit;
        };
        extent = {enough(shape.width), enough(shape.height)};
    }
    Downsampler::Requirements needed{};
    needed.source_usage = static_cast<VkImageUsageFlags>(source);
    needed.source_flags = static_cast<VkImageCreateFlags>(source_flags);
    needed.destination_usage = static_cast<VkImageUsageFlags>(destination);
    needed.destination_flags = static_cast<VkImageCreateFlags>(destination_flags);
    needed.destination_extent = extent;
    return needed;
}

void check_images(const DownsamplerOptions& options, const Downsampler::Requirements& needed,
                  const Downsampler::Shape& shape, const Downsampler::Resources& resources) {
    const auto check = [&](const ImageResource& image, const std::string& which, TexelFormat format,
                           VkImageUsageFlags usage, VkImageCreateFlags flags,
                           std::uint32_t levels) {
        const VkImageCreateInfo& created = image.created;
        const std::string the_image = "the " + which + " image ";
        refuse_if(image.image == VK_NULL_HANDLE, the_image, "is null");
        refuse_if(created.format != vk_format(format), the_image, "is of format ",
                  vk::to_string(static_cast<vk::Format>(created.format)), ", ",
                  vk::to_string(vulkan_format(format)), " was announced");
        refuse_if((created.usage & usage) != usage, the_image, "was created without the usage ",
                  vk::to_string(vk::ImageUsageFlags(usage & ~created.usage)),
                  "; see Downsampler::requirements");
        refuse_if((created.flags & flags) != flags, the_image, "was created without the flags ",
                  vk::to_string(vk::ImageCreateFlags(flags & ~created.flags)),
                  ", which sRGB formats need; see Downsampler::requirements");
        refuse_if(created.arrayLayers < shape.layers, the_image, "has ", created.arrayLayers,
                  " layers, ", shape.layers, " were announced");
        refuse_if(created.imageType != VK_IMAGE_TYPE_2D || created.samples != VK_SAMPLE_COUNT_1_BIT,
                  the_image, "must be 2D with one sample per texel");
        refuse_if(created.mipLevels < levels, the_image, "has ", created.mipLevels, " mip levels, ",
                  levels, " were announced");
    };
    const bool same = resources.source.image == resources.destination.image;
    const bool blits = options.method == MipMethod::blit;
    check(resources.source, "source", options.source_format, needed.source_usage,
          needed.source_flags, 1);
    check(resources.destination, "destination", options.format, needed.destination_usage,
          needed.destination_flags, shape.levels);
    const VkExtent3D& source = resources.source.created.extent;
    refuse_if(source.width != shape.width || source.height != shape.height, "the source image has ",
              size_of(source.width, source.height), " texels, ", size_of(shape.width, shape.height),
              " were announced");
    const VkExtent3D& destination = resources.destination.created.extent;
    const auto rule = static_cast<std::uint32_t>(options.edge_rule);
    for (std::uint32_t level = options.copy_source ? 0 : 1; level < shape.levels; ++level) {
        const std::uint32_t width = mip_extent(shape.width, level, rule);
        const std::uint32_t height = mip_extent(shape.height, level, rule);
        const std::uint32_t has_width = mip_extent(destination.width, level, EDGE_DROP);
        const std::uint32_t has_height = mip_extent(destination.height, level, EDGE_DROP);
        if (has_width < width || has_height < height) {
            refuse("level ", level, " of the destination image has ",
                   size_of(has_width, has_height), " texels, ", size_of(width, height),
                   " are needed; make the image as large as Downsampler::requirements says");
        }
    }
    refuse_if(blits && (destination.width != shape.width || destination.height != shape.height),
              "MipMethod::blit needs a destination of the source's extents");
    refuse_if(same && options.copy_source,
              "copy_source needs a destination that is not the source");
    refuse_if(resources.destination.layout != VK_IMAGE_LAYOUT_GENERAL ||
                  (same && resources.source.layout != VK_IMAGE_LAYOUT_GENERAL),
              "the destination must be in layout GENERAL");
}

}  // namespace quadtile::detail
