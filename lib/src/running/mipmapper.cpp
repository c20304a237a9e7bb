#include <quadtile/limits.h>
#include <quadtile/downsampler.hpp>
#include <quadtile/error.hpp>

#include "device/staging.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace quadtile {

namespace {

using detail::Buffer;
using detail::Commands;
using detail::counted;
using detail::DeviceContext;
using detail::MemoryKind;
using detail::size_of;

using Access = vk::AccessFlagBits;
using Stage = vk::PipelineStageFlagBits;
using Usage = vk::ImageUsageFlagBits;

// Throws Error(unsupported) if the device does not support such an image; `name` is for messages.
void check_support(const DeviceContext& context, const std::string& name,
                   const vk::ImageCreateInfo& info) {
    vk::ImageFormatProperties most;
    const vk::Result result = context.physical_device.getImageFormatProperties(
        info.format, info.imageType, info.tiling, info.usage, info.flags, &most, context.dispatch);
    const std::string what = name + " of format " + vk::to_string(info.format) + ", " +
                             size_of(info.extent.width, info.extent.height) + " texels, " +
                             counted(info.arrayLayers, "layer");
    if (result == vk::Result::eErrorFormatNotSupported) {
        detail::cannot(context.info.name, " cannot have ", what, " with usage ",
                       vk::to_string(info.usage), "; choose another format");
    }
    if (result != vk::Result::eSuccess) {
        throw detail::error_from(result, "querying the limits of " + name);
    }
    if (info.extent.width > most.maxExtent.width || info.extent.height > most.maxExtent.height ||
        info.arrayLayers > most.maxArrayLayers || info.mipLevels > most.maxMipLevels) {
        detail::cannot(context.info.name, " cannot have ", what, ": ",
                       size_of(most.maxExtent.width, most.maxExtent.height), " texels, ",
                       most.maxArrayLayers, " layers and ", most.maxMipLevels,
                       " mip levels are the most; use a smaller image");
    }
}

// Returns an image without a view, because no view would be valid for all formats and usages
// together.
detail::Image make_image(const std::shared_ptr<DeviceContext>& context, const std::string& name,
                         const vk::ImageCreateInfo& info) {
    check_support(*context, name, info);
    return {{context}, name, info};
}

// Resources for images of one shape.
struct MipResources {
    Downsampler::Shape shape;
    std::optional<detail::Image> source;  // none: the source is level 0 of the destination
    detail::Image destination;
    Buffer state;
    Downsampler::Binding binding;
    vk::ImageLayout source_layout;

    [[nodiscard]] vk::Image source_image() const {
        return (source ? *source : destination).handle();
    }
};

// Pipelines and images, which are kept between calls.
struct MipEngine {
    MipEngine(const Device& device, const DownsamplerOptions& options,
              std::chrono::milliseconds gpu_timeout)
        : context(device.context()),
          downsampler(device, options),
          commands(context, gpu_timeout),
          timestamps(context),
          upload_staging({context}, "the staging of the source", MemoryKind::upload),
          readback_staging({context}, "the staging of the levels", MemoryKind::readback) {}

    [[nodiscard]] bool is_at_work() const noexcept { return commands.is_at_work(); }

    void prepare(const Downsampler::Shape& shape);
    // Records all levels, ordered behind and before all other work, and timestamps of both ends.
    void record(vk::CommandBuffer buffer);
    // Makes all levels. Afterwards `clean` is false if the run was lost.
    void run();
    void read_back(std::vector<MipChain::Level>& levels, std::uint32_t first_level);

    std::shared_ptr<DeviceContext> context;
    Downsampler downsampler;
    Commands commands;
    detail::Timestamps timestamps;
    detail::Staging upload_staging;
    detail::Staging readback_staging;
    std::optional<MipResources> resources;
    bool clean = true;  // whether the last run succeeded; else counters may not be 0
};

void MipEngine::prepare(const Downsampler::Shape& shape) {
    commands.refuse_if_hung();
    if (resources && resources->shape == shape && clean) {
        return;
    }
    resources.reset();  // before the new ones, so that both never take memory together
    const DownsamplerOptions& options = downsampler.options();
    const Downsampler::Requirements needed = downsampler.requirements(shape);
    const VkExtent2D extent{shape.width, shape.height};
    const bool one_image = options.source_format == options.format && !options.copy_source &&
                           needed.destination_extent.width == extent.width &&
                           needed.destination_extent.height == extent.height;
    const vk::ImageUsageFlags source_usage =
        vk::ImageUsageFlags(needed.source_usage) | Usage::eTransferDst;
    const vk::ImageCreateFlags source_flags(needed.source_flags);
    vk::ImageUsageFlags destination_usage =
        vk::ImageUsageFlags(needed.destination_usage) | Usage::eTransferSrc;
    vk::ImageCreateFlags destination_flags(needed.destination_flags);
    std::optional<detail::Image> source;
    if (one_image) {
        destination_usage |= source_usage;
        destination_flags |= source_flags;
    } else {
        source = make_image(
            context, "the source image",
            detail::image_info({extent.width, extent.height, shape.layers, options.source_format},
                               1, source_usage, source_flags));
    }
    const auto [width, height] = needed.destination_extent;
    detail::Image destination =
        make_image(context, "the image of the levels",
                   detail::image_info({width, height, shape.layers, options.format}, shape.levels,
                                      destination_usage, destination_flags));
    Buffer state({context}, "the downsampler's state", needed.state_size_bytes,
                 vk::BufferUsageFlags(needed.state_usage) | vk::BufferUsageFlagBits::eTransferDst |
                     vk::BufferUsageFlagBits::eTransferSrc,
                 MemoryKind::device);

    const vk::ImageLayout source_layout = one_image ? vk::ImageLayout::eGeneral
                                          : options.method == MipMethod::blit
                                              ? vk::ImageLayout::eTransferSrcOptimal
                                              : vk::ImageLayout::eShaderReadOnlyOptimal;
    const ImageResource written = destination.resource(vk::ImageLayout::eGeneral);
    auto binding =
        downsampler.bind(shape, {.source = source ? source->resource(source_layout) : written,
                                 .destination = written,
                                 .state = {state.handle()}});

    // Stored before use: if the run hangs, they must stay.
    resources.emplace(MipResources{shape, std::move(source), std::move(destination),
                                   std::move(state), std::move(binding), source_layout});
    clean = false;
    commands.run("preparing the images", [&](vk::CommandBuffer buffer) {
        const Dispatch& d = context->dispatch;
        buffer.fillBuffer(resources->state.handle(), 0, VK_WHOLE_SIZE, 0, d);
        const vk::ImageMemoryBarrier to_general(
            {}, {}, vk::ImageLayout::eUndefined, vk::ImageLayout::eGeneral, VK_QUEUE_FAMILY_IGNORED,
            VK_QUEUE_FAMILY_IGNORED, resources->destination.handle(),
            {vk::ImageAspectFlagBits::eColor, 0, shape.levels, 0, shape.layers});
        buffer.pipelineBarrier(Stage::eTopOfPipe, Stage::eBottomOfPipe, {}, {}, {}, to_general, d);
    });
    clean = true;
}

void MipEngine::record(vk::CommandBuffer buffer) {
    const Dispatch& d = context->dispatch;
    const auto barrier = [&] {
        const vk::MemoryBarrier all(Access::eMemoryWrite,
                                    Access::eMemoryRead | Access::eMemoryWrite);
        buffer.pipelineBarrier(Stage::eAllCommands, Stage::eAllCommands, {}, all, {}, {}, d);
    };
    timestamps.reset(buffer);
    barrier();
    timestamps.write(buffer);
    downsampler.record(buffer, resources->binding);
    timestamps.write(buffer);
    barrier();
    if (downsampler.options().method != MipMethod::blit) {
        buffer.copyBuffer(resources->state.handle(), readback_staging.handle(),
                          vk::BufferCopy(0, 0, readback_staging.size_bytes()), d);
        const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
        buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {}, d);
    }
}

void MipEngine::run() {
    const std::uint32_t layers = resources->shape.layers;
    readback_staging.reserve(layers * sizeof(std::uint32_t));
    clean = false;
    commands.run("making the levels", [&](vk::CommandBuffer buffer) { record(buffer); });
    if (downsampler.options().method != MipMethod::blit) {
        std::vector<std::uint32_t> words(layers);
        std::memcpy(words.data(), readback_staging.bytes(0, layers * sizeof(std::uint32_t)).data(),
                    layers * sizeof(std::uint32_t));
        if (std::ranges::find(words, LOST_RUN) != words.end()) {
            context->note_lost_run("the mip levels");
            return;
        }
    }
    clean = true;
}

void MipEngine::read_back(std::vector<MipChain::Level>& levels, std::uint32_t first_level) {
    std::vector<detail::ReadLevel> read;
    for (std::size_t level = first_level; level < levels.size(); ++level) {
        const ImageShape& shape = levels[level].shape;
        levels[level].texels.resize(std::size_t{shape.width} * shape.height * shape.layers *
                                    texel_size_bytes(shape.format));
        read.push_back({shape, levels[level].texels.data()});
    }
    detail::read_image("reading the levels back", commands, context->dispatch, readback_staging,
                       resources->destination.handle(), read, first_level);
}

}  // namespace

struct Mipmapper::Impl {
    std::unique_ptr<MipEngine, detail::DestroyUnlessAtWork> engine;
};

Mipmapper::Mipmapper(const Device& device, const DownsamplerOptions& options,
                     std::chrono::milliseconds gpu_timeout)
    : impl_(new Impl{std::unique_ptr<MipEngine, detail::DestroyUnlessAtWork>(
          new MipEngine(device, options, gpu_timeout))}) {}
Mipmapper::Mipmapper(Mipmapper&&) noexcept = default;
Mipmapper& Mipmapper::operator=(Mipmapper&&) noexcept = default;
Mipmapper::~Mipmapper() = default;

const DownsamplerOptions& Mipmapper::options() const noexcept {
    return impl_->engine->downsampler.options();
}

MipChain Mipmapper::make(const ImageView& image, std::uint32_t levels) {
    MipEngine& engine = *impl_->engine;
    const ImageShape& source = image.shape;
    check_image(source);
    check_texels(image);
    const DownsamplerOptions& how = options();
    if (source.format != how.source_format) {
        detail::refuse("the image is of format ", name_of(source.format),
                       ", but this Mipmapper was made for ", name_of(how.source_format),
                       "; make another with that source_format");
    }
    if (levels == 0) {
        levels = full_mip_levels(source.width, source.height, how.edge_rule);
    }
    engine.prepare({source.width, source.height, source.layers, levels});
    detail::upload_image("uploading the image", engine.commands, engine.context->dispatch,
                         engine.upload_staging,
                         {engine.resources->source_image(), engine.resources->source_layout,
                          Stage::eAllCommands, Access::eMemoryRead},
                         source, detail::layers_of(image));
    engine.run();
    if (!engine.clean) {
        return make(image, levels);
    }

    MipChain chain;
    if (const std::vector<double> intervals = engine.timestamps.intervals_ms();
        !intervals.empty()) {
        chain.gpu_time_us = intervals[0] * 1000.0;
    }
    const auto rule = static_cast<std::uint32_t>(how.edge_rule);
    for (std::uint32_t level = 0; level < levels; ++level) {
        chain.levels.push_back({{mip_extent(source.width, level, rule),
                                 mip_extent(source.height, level, rule), source.layers, how.format},
                                {}});
    }
    if (!how.copy_source) {
        const auto* const texels = static_cast<const std::byte*>(image.texels);
        const std::size_t size_bytes = std::size_t{source.width} * source.height * source.layers *
                                       texel_size_bytes(source.format);
        chain.levels[0] = {source, {texels, texels + size_bytes}};
    }
    engine.read_back(chain.levels, how.copy_source ? 0 : 1);
    return chain;
}

}  // namespace quadtile
