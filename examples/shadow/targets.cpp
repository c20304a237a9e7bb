#include "targets.hpp"

#include <glm/glm.hpp>
#include <glm/gtc/type_ptr.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using ImageUsage = vk::ImageUsageFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

// ---- Render passes

constexpr vk::VertexInputBindingDescription VERTEX{.stride = sizeof(Vertex)};
constexpr std::array<vk::VertexInputAttributeDescription, 2> ATTRIBUTES{
    {{.location = 0, .format = vk::Format::eR32G32B32Sfloat, .offset = offsetof(Vertex, position)},
     {.location = 1, .format = vk::Format::eR8G8B8A8Unorm, .offset = offsetof(Vertex, colour)}}};

}  // namespace

vk::UniqueRenderPass make_surface_pass(vk::Device device) {
    return app::make_render_pass(
        device, std::array{app::cleared(DEPTH_FORMAT, Layout::eDepthStencilReadOnlyOptimal),
                           app::cleared(ALBEDO_FORMAT, Layout::eGeneral),
                           app::cleared(NORMAL_FORMAT, Layout::eGeneral)});
}

vk::UniqueRenderPass make_atlas_pass(vk::Device device, AtlasContents contents) {
    vk::AttachmentDescription attachment =
        app::cleared(DEPTH_FORMAT, Layout::eDepthStencilReadOnlyOptimal);
    if (contents == AtlasContents::kept) {
        attachment.loadOp = vk::AttachmentLoadOp::eLoad;
        attachment.initialLayout = Layout::eDepthStencilReadOnlyOptimal;
    }
    return app::make_render_pass(device, std::array{attachment});
}

vk::PipelineVertexInputStateCreateInfo vertices_with(std::uint32_t attributes) {
    return {.vertexBindingDescriptionCount = 1,
            .pVertexBindingDescriptions = &VERTEX,
            .vertexAttributeDescriptionCount = attributes,
            .pVertexAttributeDescriptions = ATTRIBUTES.data()};
}

// ---- Resources

namespace {

// Pairs of a cluster and a tile for which there is room.
constexpr std::uint64_t INSTANCES_PER_CLUSTER = 32;
constexpr std::uint64_t LEAST_INSTANCES = 1U << 18U;
constexpr std::uint64_t MOST_INSTANCES = 1U << 24U;

template <typename T>
app::Buffer upload(app::Gpu& gpu, std::span<const T> values, vk::BufferUsageFlags usage) {
    const T none{};  // no buffer is empty
    return gpu.upload(std::as_bytes(values.empty() ? std::span(&none, 1) : values), usage);
}

// One of the fitter's.
app::Image make_image(const app::Gpu& gpu, const VkImageCreateInfo& needed,
                      vk::ImageUsageFlags more_usage) {
    vk::ImageCreateInfo create;
    create = needed;
    create.usage |= more_usage;
    return gpu.make_image(create, vk::ImageViewType::e2DArray);
}

app::Buffer make_draws(const app::Gpu& gpu, std::uint32_t count) {
    return gpu.make_buffer(count * sizeof(vk::DrawIndexedIndirectCommand),
                           Usage::eStorageBuffer | Usage::eIndirectBuffer);
}

ShadowChange change_of(std::span<const ShadowObject> static_clusters) {
    glm::vec3 low(std::numeric_limits<float>::infinity());
    glm::vec3 high = -low;
    for (const ShadowObject& cluster : static_clusters) {
        low = glm::min(low, glm::make_vec3(cluster.low));
        high = glm::max(high, glm::make_vec3(cluster.high));
    }
    return {{low.x, low.y, low.z}, 1, {high.x, high.y, high.z}, 0};
}

std::uint32_t instance_capacity(const ShadowOptions& options, const SceneBuffers& scene) {
    return options.max_tiles +
           static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
               INSTANCES_PER_CLUSTER * scene.clusters.size(), LEAST_INSTANCES, MOST_INSTANCES));
}

}  // namespace

SceneBuffers::SceneBuffers(app::Gpu& gpu, const Geometry& geometry)
    : vertices(
          upload<Vertex>(gpu, geometry.vertices, Usage::eVertexBuffer | Usage::eStorageBuffer)),
      indices(upload<std::uint32_t>(gpu, geometry.indices, Usage::eIndexBuffer)),
      mask_vertices(upload<MaskVertex>(gpu, geometry.mask_vertices, Usage::eStorageBuffer)),
      masks(upload<Mask>(gpu, geometry.masks, Usage::eStorageBuffer)),
      mask_bits(upload<std::uint32_t>(gpu, geometry.mask_bits, Usage::eStorageBuffer)),
      masked_clusters(geometry.masked_clusters),
      objects(upload<ShadowObject>(
          gpu,
          std::span(geometry.clusters).first(geometry.clusters.size() - geometry.moving.size()),
          Usage::eStorageBuffer)),
      static_clusters(
          static_cast<std::uint32_t>(geometry.clusters.size() - geometry.moving.size())),
      leaves(change_of(std::span(geometry.clusters).first(masked_clusters))),
      change_capacity(1 + CHANGES_PER_BOX * static_cast<std::uint32_t>(geometry.moving.size())),
      changes(gpu.make_buffer(change_capacity * sizeof(ShadowChange),
                              Usage::eStorageBuffer | Usage::eTransferDst)),
      change_count(
          gpu.make_buffer(sizeof(std::uint32_t), Usage::eStorageBuffer | Usage::eTransferDst)),
      clusters(geometry.clusters),
      bounds(geometry.bounds) {
    if (!geometry.moving.empty()) {
        moving.emplace(gpu, geometry, *vertices.handle, *changes.handle, *change_count.handle);
    }
}

Atlas::Atlas(const app::Gpu& gpu, std::uint32_t extent, vk::RenderPass pass)
    : image(gpu.make_image({extent, extent}, DEPTH_FORMAT,
                           ImageUsage::eDepthStencilAttachment | ImageUsage::eSampled,
                           vk::ImageViewType::e2D)),
      framebuffer(gpu.make_framebuffer(pass, image.extent, std::array{*image.view})) {}

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
      surface_framebuffer(gpu.make_framebuffer(
          passes.surfaces, extent, std::array{*depth.view, *albedo.view, *normals.view})),
      memory(
          gpu.make_buffer(needed.memory_size_bytes,
                          static_cast<vk::BufferUsageFlags>(needed.usage) | Usage::eTransferSrc)),
      importance(make_image(gpu, needed.importance, {})),
      page_table(make_image(gpu, needed.page_table, ImageUsage::eSampled)),
      atlas(gpu, options.atlas_extent, passes.atlas),
      both_atlas(scene.moving
                     ? std::optional(gpu.make_image(atlas.image.extent, vk::Format::eR32Sfloat,
                                                    ImageUsage::eSampled | ImageUsage::eStorage,
                                                    vk::ImageViewType::e2D))
                     : std::nullopt),
      draws(make_draws(gpu, scene.static_clusters)),
      instances(gpu.make_buffer(instance_capacity(options, scene) * sizeof(std::uint32_t),
                                Usage::eStorageBuffer)),
      binding(fitter.bind({.memory = {.buffer = *memory.handle},
                           .importance = *importance.handle,
                           .page_table = *page_table.handle,
                           .depth = *depth.view,
                           .depth_layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
                           .atlas = looked_up().view,
                           .atlas_layout = static_cast<VkImageLayout>(looked_up().layout)})),
      objects(fitter.bind_objects(binding, {.objects = {.buffer = *scene.objects.handle},
                                            .object_count = scene.static_clusters,
                                            .draws = {.buffer = *draws.handle},
                                            .instances = {.buffer = *instances.handle},
                                            .instance_capacity = instance_capacity(options, scene),
                                            .is_static = true})),
      changes(fitter.bind_changes({.boxes = {.buffer = *scene.changes.handle},
                                   .count = {.buffer = *scene.change_count.handle},
                                   .capacity = scene.change_capacity})),
      drawn_frame(gpu.make_buffer(sizeof(DrawnFrame), Usage::eStorageBuffer | Usage::eTransferDst)),
      header(gpu.make_buffer(sizeof(ShadowHeader), Usage::eTransferDst, app::MemoryUse::readback)),
      sampler(
          gpu.device().createSamplerUnique({.addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                            .addressModeV = vk::SamplerAddressMode::eClampToEdge,
                                            .addressModeW = vk::SamplerAddressMode::eClampToEdge})),
      interface(gpu.make_interface(vk::ShaderStageFlagBits::eCompute |
                                       vk::ShaderStageFlagBits::eVertex |
                                       vk::ShaderStageFlagBits::eFragment,
                                   {Type::eStorageBuffer,         // DrawnFrame
                                    Type::eStorageBuffer,         // ShadowFrame
                                    Type::eStorageBuffer,         // tiles
                                    Type::eCombinedImageSampler,  // page table
                                    Type::eCombinedImageSampler,  // atlas
                                    Type::eStorageBuffer,         // tiles to draw
                                    Type::eStorageBuffer,         // instances
                                    Type::eCombinedImageSampler,  // depth
                                    Type::eCombinedImageSampler,  // normals
                                    Type::eCombinedImageSampler,  // albedo
                                    Type::eStorageImage,          // colour
                                    Type::eStorageBuffer,         // mask vertices
                                    Type::eStorageBuffer,         // masks
                                    Type::eStorageBuffer},        // their bits
                                   sizeof(Viewpoint))) {
    std::memset(header.mapped, 0, sizeof(ShadowHeader));
    if (scene.moving) {
        moving = make_moving(scene, passes);
    }
    write_descriptors(scene);
    gpu.run([&](vk::CommandBuffer commands) { record_first_contents(commands); });
}

Targets::Moving Targets::make_moving(const SceneBuffers& scene, const TargetPasses& passes) const {
    app::Buffer moving_draws = make_draws(gpu, scene.moving->count());
    const ShadowFitter::ObjectBinding moving_objects =
        fitter.bind_objects(binding, {.objects = {.buffer = scene.moving->objects()},
                                      .object_count = scene.moving->count(),
                                      .draws = {.buffer = *moving_draws.handle},
                                      .instances = {.buffer = *instances.handle},
                                      .instance_capacity = instance_capacity(options, scene)});
    Moving made{Atlas(gpu, options.atlas_extent, passes.atlas), std::move(moving_draws),
                moving_objects,
                gpu.make_interface(
                    vk::ShaderStageFlagBits::eCompute,
                    {Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
                     Type::eCombinedImageSampler, Type::eCombinedImageSampler, Type::eStorageImage},
                    sizeof(ShadowParameters))};
    made.interface.write(0, part(needed.header_offset_bytes, sizeof(ShadowHeader)));
    made.interface.write(1, tiles_part());
    made.interface.write(2, render_part());
    for (const std::uint32_t number : {3U, 4U}) {
        const Atlas& from = number == 3 ? atlas : made.atlas;
        made.interface.write(number, *from.image.view, Layout::eDepthStencilReadOnlyOptimal,
                             *sampler);
    }
    made.interface.write(5, *both_atlas->view, Layout::eGeneral);
    return made;
}

Targets::LookedUp Targets::looked_up() const {
    return both_atlas ? LookedUp{*both_atlas->view, Layout::eGeneral}
                      : LookedUp{*atlas.image.view, Layout::eDepthStencilReadOnlyOptimal};
}

void Targets::write_descriptors(const SceneBuffers& scene) {
    const auto sampled = [&](std::uint32_t number, const app::Image& image,
                             Layout layout = Layout::eGeneral) {
        interface.write(number, *image.view, layout, *sampler);
    };
    interface.write(0, std::array{*drawn_frame.handle});
    interface.write(1, part(needed.frame_offset_bytes, sizeof(ShadowFrame)));
    interface.write(2, tiles_part());
    sampled(3, page_table);
    interface.write(4, looked_up().view, looked_up().layout, *sampler);
    interface.write(5, render_part());
    interface.write(6, std::array{*instances.handle});
    sampled(7, depth, Layout::eDepthStencilReadOnlyOptimal);
    sampled(8, normals);
    sampled(9, albedo);
    interface.write(10, *colour.view, Layout::eGeneral);
    interface.write(
        11, std::array{*scene.mask_vertices.handle, *scene.masks.handle, *scene.mask_bits.handle});
}

void Targets::record_first_contents(vk::CommandBuffer commands) const {
    const app::Scope nothing{Stage::eTopOfPipe, {}};
    const app::Scope anything{Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite};
    for (const app::Image* const image :
         {&importance, &page_table, &colour, both_atlas ? &*both_atlas : nullptr}) {
        if (image != nullptr) {
            app::change_layout(commands, *image->handle, Layout::eUndefined, Layout::eGeneral,
                               nothing, anything);
        }
    }
    app::change_layout(commands, *atlas.image.handle, Layout::eUndefined,
                       Layout::eDepthStencilReadOnlyOptimal, nothing, anything,
                       {vk::ImageAspectFlagBits::eDepth, 0, 1, 0, 1});
    commands.fillBuffer(*memory.handle, 0, VK_WHOLE_SIZE, 0);
    commands.clearColorImage(*importance.handle, Layout::eGeneral, vk::ClearColorValue{},
                             app::COLOUR_RANGE);
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite}, anything);
}

// ---- Input of shaders

namespace {

static_assert(static_cast<std::uint32_t>(Filter::hard) == FILTER_HARD &&
              static_cast<std::uint32_t>(Filter::box) == FILTER_BOX &&
              static_cast<std::uint32_t>(Filter::soft) == FILTER_SOFT &&
              static_cast<std::uint32_t>(Light::Kind::sun) == LIGHT_SUN &&
              static_cast<std::uint32_t>(Light::Kind::spot) == LIGHT_SPOT &&
              static_cast<std::uint32_t>(Light::Kind::point) == LIGHT_POINT);

void copy(const glm::vec3& from, float (&to)[3]) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

// Sets the camera's rays: the inverse of the rows for x, y and w.
void set_rays(DrawnFrame& frame, const glm::mat4& clip_from_world) {
    glm::dmat3 clip_from_direction;
    for (int column = 0; column < 3; ++column) {
        clip_from_direction[column] = {clip_from_world[column][0], clip_from_world[column][1],
                                       clip_from_world[column][3]};
    }
    const glm::dmat3 direction_from_clip = glm::inverse(clip_from_direction);
    copy(direction_from_clip[0], frame.ray_by_x);
    copy(direction_from_clip[1], frame.ray_by_y);
    copy(direction_from_clip[2], frame.ray);
}

DrawnLight drawn_light(const Light& light) {
    DrawnLight drawn{};
    copy(glm::normalize(light.direction), drawn.direction);
    drawn.kind = static_cast<std::uint32_t>(light.kind);
    copy(light.position, drawn.position);
    drawn.cone_cosine = std::cos(glm::radians(0.5F * light.angle_degrees));
    copy(light.colour, drawn.colour);
    drawn.radius = disc_radius(light);
    drawn.range = light.range;
    return drawn;
}

}  // namespace

DrawnFrame make_drawn_frame(const FrameSettings& settings, const Targets& targets) {
    DrawnFrame frame{};
    const vk::Extent2D extent = targets.extent;
    const float aspect = static_cast<float>(extent.width) / static_cast<float>(extent.height);
    copy(settings.camera.position, frame.camera);
    frame.nearest = settings.camera.nearest;
    set_rays(frame, settings.camera.clip_from_world(aspect));
    frame.width = extent.width;
    frame.height = extent.height;
    frame.shows_tiles = settings.shows_tiles ? 1 : 0;
    frame.shadow_filter = static_cast<std::uint32_t>(settings.filter);
    frame.shadow = shadow_parameters(targets.options);
    std::uint32_t layer = 0;
    for (const Light& light : settings.lights) {
        if (light.is_on) {
            DrawnLight& drawn = frame.lights[frame.light_count++];
            drawn = drawn_light(light);
            drawn.layer = layer;
        }
        layer += light.layers();
    }
    return frame;
}

}  // namespace quadtile::shadow
