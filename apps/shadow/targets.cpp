#include "targets.hpp"

#include "pipelines.hpp"
#include "shaders/frame.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using ImageUsage = vk::ImageUsageFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

// Pairs of a cluster and a tile for which there is room.
constexpr std::uint64_t INSTANCES_PER_CLUSTER = 32;
constexpr std::uint64_t LEAST_INSTANCES = 1U << 18U;
constexpr std::uint64_t MOST_INSTANCES = 1U << 24U;

template <typename T>
app::Buffer upload(app::Gpu& gpu, const std::vector<T>& values, vk::BufferUsageFlags usage) {
    return gpu.upload(std::as_bytes(std::span(values)), usage);
}

// One of the fitter's.
app::Image make_image(const app::Gpu& gpu, const VkImageCreateInfo& needed,
                      vk::ImageUsageFlags more_usage) {
    vk::ImageCreateInfo create;
    create = needed;
    create.usage |= more_usage;
    return gpu.make_image(create, vk::ImageViewType::e2DArray);
}

std::uint32_t instance_capacity(const ShadowOptions& options, const SceneBuffers& scene) {
    return options.max_tiles +
           static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
               INSTANCES_PER_CLUSTER * scene.clusters.size(), LEAST_INSTANCES, MOST_INSTANCES));
}

vk::UniqueFramebuffer make_framebuffer(vk::Device device, vk::RenderPass pass, vk::Extent2D extent,
                                       std::span<const vk::ImageView> views) {
    return device.createFramebufferUnique(
        {.renderPass = pass,
         .attachmentCount = static_cast<std::uint32_t>(views.size()),
         .pAttachments = views.data(),
         .width = extent.width,
         .height = extent.height,
         .layers = 1});
}

}  // namespace

SceneBuffers::SceneBuffers(app::Gpu& gpu, const Geometry& geometry)
    : vertices(upload(gpu, geometry.vertices, Usage::eVertexBuffer)),
      indices(upload(gpu, geometry.indices, Usage::eIndexBuffer)),
      objects(upload(gpu, geometry.clusters, Usage::eStorageBuffer)),
      clusters(geometry.clusters),
      bounds(geometry.bounds) {}

std::vector<vk::DescriptorSetLayoutBinding> frame_bindings() {
    constexpr auto COMPUTE = vk::ShaderStageFlagBits::eCompute;
    constexpr auto VERTEX = vk::ShaderStageFlagBits::eVertex;
    return {{0, Type::eStorageBuffer, 1, COMPUTE | VERTEX},  // DrawnFrame
            {1, Type::eStorageBuffer, 1, COMPUTE | VERTEX},  // ShadowFrame
            {2, Type::eStorageBuffer, 1, COMPUTE | VERTEX},  // tiles
            {3, Type::eCombinedImageSampler, 1, COMPUTE},    // page table
            {4, Type::eCombinedImageSampler, 1, COMPUTE},    // atlas
            {5, Type::eStorageBuffer, 1, VERTEX},            // tiles to draw
            {6, Type::eStorageBuffer, 1, VERTEX},            // instances
            {7, Type::eCombinedImageSampler, 1, COMPUTE},    // depth
            {8, Type::eCombinedImageSampler, 1, COMPUTE},    // normals
            {9, Type::eCombinedImageSampler, 1, COMPUTE},    // albedo
            {10, Type::eStorageImage, 1, COMPUTE},           // colour
            {11, Type::eStorageImage, 1, COMPUTE}};          // mask
}

std::vector<vk::DescriptorSetLayoutBinding> reference_bindings() {
    return {{0, Type::eStorageImage, 1, vk::ShaderStageFlagBits::eCompute}};
}

Targets::Targets(app::Gpu& gpu_, const quadtile::Device& device, const SceneBuffers& scene,
                 vk::Extent2D extent_, const ShadowOptions& options_, const TargetPasses& passes)
    : gpu(gpu_),
      options(options_),
      extent(extent_),
      fitter(device, options),
      needed(fitter.requirements()),
      depth(gpu.make_image(
          extent, DEPTH_FORMAT,
          ImageUsage::eDepthStencilAttachment | ImageUsage::eSampled | ImageUsage::eTransferSrc,
          vk::ImageViewType::e2D)),
      albedo(gpu.make_image(extent, ALBEDO_FORMAT,
                            ImageUsage::eColorAttachment | ImageUsage::eSampled,
                            vk::ImageViewType::e2D)),
      normals(gpu.make_image(
          extent, NORMAL_FORMAT,
          ImageUsage::eColorAttachment | ImageUsage::eSampled | ImageUsage::eTransferSrc,
          vk::ImageViewType::e2D)),
      colour(gpu.make_image(extent, vk::Format::eR8G8B8A8Unorm,
                            ImageUsage::eStorage | ImageUsage::eSampled | ImageUsage::eTransferSrc,
                            vk::ImageViewType::e2D)),
      mask(gpu.make_image(extent, vk::Format::eR32Uint,
                          ImageUsage::eStorage | ImageUsage::eSampled | ImageUsage::eTransferSrc |
                              ImageUsage::eTransferDst,
                          vk::ImageViewType::e2D)),
      surface_framebuffer(make_framebuffer(gpu.device(), passes.surfaces, extent,
                                           std::array{*depth.view, *albedo.view, *normals.view})),
      memory(
          gpu.make_buffer(needed.memory_size_bytes,
                          static_cast<vk::BufferUsageFlags>(needed.usage) | Usage::eTransferSrc)),
      importance(make_image(gpu, needed.importance, {})),
      page_table(make_image(gpu, needed.page_table, ImageUsage::eSampled)),
      atlas(gpu.make_image(
          {options.atlas_extent, options.atlas_extent}, DEPTH_FORMAT,
          ImageUsage::eDepthStencilAttachment | ImageUsage::eSampled | ImageUsage::eTransferSrc,
          vk::ImageViewType::e2D)),
      atlas_framebuffer(
          make_framebuffer(gpu.device(), passes.atlas, atlas.extent, std::array{*atlas.view})),
      draws(gpu.make_buffer(scene.clusters.size() * sizeof(vk::DrawIndexedIndirectCommand),
                            Usage::eStorageBuffer | Usage::eIndirectBuffer)),
      instances(gpu.make_buffer(instance_capacity(options, scene) * sizeof(std::uint32_t),
                                Usage::eStorageBuffer)),
      binding(fitter.bind({.memory = {.buffer = *memory.handle},
                           .importance = *importance.handle,
                           .page_table = *page_table.handle,
                           .depth = *depth.view,
                           .depth_layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
                           .lit = *mask.view})),
      objects(fitter.bind_objects(
          binding, {.objects = {.buffer = *scene.objects.handle},
                    .object_count = static_cast<std::uint32_t>(scene.clusters.size()),
                    .draws = {.buffer = *draws.handle},
                    .instances = {.buffer = *instances.handle},
                    .instance_capacity = instance_capacity(options, scene)})),
      drawn_frame(gpu.make_buffer(sizeof(DrawnFrame), Usage::eStorageBuffer | Usage::eTransferDst)),
      header(gpu.make_buffer(sizeof(ShadowHeader), Usage::eTransferDst, app::MemoryUse::readback)),
      sampler(
          gpu.device().createSamplerUnique({.addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                            .addressModeV = vk::SamplerAddressMode::eClampToEdge,
                                            .addressModeW = vk::SamplerAddressMode::eClampToEdge})),
      descriptors(gpu.make_descriptors(frame_bindings())),
      reference_descriptors(gpu.make_descriptors(reference_bindings())),
      pictures{.extent = extent,
               .colour = *colour.view,
               .colour_image = *colour.handle,
               .depth = *depth.view,
               .depth_image = *depth.handle,
               .normals = *normals.view,
               .normals_image = *normals.handle,
               .mask = *mask.view,
               .mask_image = *mask.handle} {
    std::memset(header.mapped, 0, sizeof(ShadowHeader));
    write_descriptors();
    set_reference({});
    gpu.run([&](vk::CommandBuffer commands) { record_first_contents(commands); });
}

void Targets::write_descriptors() {
    const auto buffer = [&](std::uint32_t number, const app::Buffer& whole,
                            vk::DeviceSize offset_bytes = 0,
                            vk::DeviceSize size_bytes = VK_WHOLE_SIZE) {
        app::write_buffer(gpu.device(), descriptors.set, number,
                          {*whole.handle, offset_bytes, size_bytes});
    };
    const auto image = [&](std::uint32_t number, Type type, const app::Image& of,
                           Layout layout = Layout::eGeneral) {
        app::write_image(gpu.device(), descriptors.set, number, type, *of.view, layout,
                         type == Type::eCombinedImageSampler ? *sampler : vk::Sampler());
    };
    buffer(0, drawn_frame);
    buffer(1, memory, needed.frame_offset_bytes, sizeof(ShadowFrame));
    buffer(2, memory, needed.tiles_offset_bytes, options.max_tiles * sizeof(ShadowTile));
    image(3, Type::eCombinedImageSampler, page_table);
    image(4, Type::eCombinedImageSampler, atlas, Layout::eDepthStencilReadOnlyOptimal);
    buffer(5, memory, needed.render_offset_bytes, options.max_tiles * sizeof(std::uint32_t));
    buffer(6, instances);
    image(7, Type::eCombinedImageSampler, depth, Layout::eDepthStencilReadOnlyOptimal);
    image(8, Type::eCombinedImageSampler, normals);
    image(9, Type::eCombinedImageSampler, albedo);
    image(10, Type::eStorageImage, colour);
    image(11, Type::eStorageImage, mask);
}

void Targets::set_reference(vk::ImageView reference) {
    const vk::ImageView view = reference ? reference : *mask.view;
    if (view == reference_) {
        return;
    }
    gpu.device().waitIdle();  // a frame may still use the descriptor
    reference_ = view;
    app::write_image(gpu.device(), reference_descriptors.set, 0, Type::eStorageImage, view);
}

void Targets::record_first_contents(vk::CommandBuffer commands) const {
    const app::Scope nothing{Stage::eTopOfPipe, {}};
    const app::Scope anything{Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite};
    for (const app::Image* const image : {&importance, &page_table, &colour, &mask}) {
        app::change_layout(commands, *image->handle, Layout::eUndefined, Layout::eGeneral, nothing,
                           anything);
    }
    commands.fillBuffer(*memory.handle, 0, VK_WHOLE_SIZE, 0);
    for (const app::Image* const image : {&importance, &mask}) {
        commands.clearColorImage(*image->handle, Layout::eGeneral, vk::ClearColorValue{},
                                 vk::ImageSubresourceRange{vk::ImageAspectFlagBits::eColor, 0, 1, 0,
                                                           VK_REMAINING_ARRAY_LAYERS});
    }
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite}, anything);
}

}  // namespace quadtile::shadow
