#include "renderer.hpp"

#include "quadtile_shadow_renderer_shaders.hpp"

#include "drawn_frame.hpp"
#include "fixed_views.hpp"
#include "frame_timer.hpp"
#include "pipelines.hpp"
#include "shaders/frame.h"
#include "targets.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Point = vk::PipelineBindPoint;
using Stage = vk::PipelineStageFlagBits;

constexpr std::uint32_t SHADE_WORKGROUP = 8;  // pixels on a side
// Of a spot's nearest and farthest distance. Depth clamping makes casters before it cast.
constexpr float SPOT_DEPTH_RATIO = 200.0F;

enum Mark : std::uint32_t { START, SURFACES, SHADOWS, FITTED, CULLED, MAPS, SHADED, MARKS };

// Push constants of the vertex shaders.
struct Viewpoint {
    glm::mat4 clip_from_world;
    glm::vec4 camera_position;
};

void check_features(const app::Gpu& gpu, std::size_t clusters) {
    const vk::PhysicalDeviceFeatures has = gpu.physical_device().getFeatures();
    const auto check = [](vk::Bool32 is_there, const char* name) {
        if (is_there == VK_FALSE) {
            throw std::runtime_error(std::string("this device cannot draw shadow maps: it lacks ") +
                                     name + "; choose another one");
        }
    };
    check(has.multiDrawIndirect, "multiDrawIndirect");
    check(has.drawIndirectFirstInstance, "drawIndirectFirstInstance");
    check(has.shaderClipDistance, "shaderClipDistance");
    if (clusters > gpu.physical_device().getProperties().limits.maxDrawIndirectCount) {
        throw std::runtime_error(
            "the scene has too many triangles for this device's "
            "maxDrawIndirectCount; choose a smaller one");
    }
}

void set_viewport(vk::CommandBuffer commands, const vk::Rect2D& area) {
    commands.setViewport(0, vk::Viewport{.x = static_cast<float>(area.offset.x),
                                         .y = static_cast<float>(area.offset.y),
                                         .width = static_cast<float>(area.extent.width),
                                         .height = static_cast<float>(area.extent.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, area);
}

}  // namespace

struct Renderer::Impl {
    Impl(app::Gpu& gpu_, const quadtile::Device& device_, const Geometry& geometry,
         vk::Extent2D extent, const ShadowOptions& options)
        : gpu(gpu_),
          device(device_),
          scene(gpu, geometry),
          surface_pass(make_surface_pass(gpu.device())),
          cleared_atlas_pass(make_atlas_pass(gpu.device(), AtlasContents::cleared)),
          kept_atlas_pass(make_atlas_pass(gpu.device(), AtlasContents::kept)),
          timer(gpu, MARKS) {
        check_features(gpu, scene.clusters.size());
        configure(extent, options);
        make_pipelines();
    }

    void configure(vk::Extent2D extent, const ShadowOptions& options);
    void make_pipelines();

    void bind(vk::CommandBuffer commands, Point point, vk::Pipeline pipeline) const;
    void begin_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                    vk::Extent2D extent, std::span<const vk::ClearValue> clear) const;
    void draw_visible(vk::CommandBuffer commands, const Viewpoint& viewpoint) const;

    void check(const FrameSettings& settings) const;
    void record_depth(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                        vk::ImageView reference);
    void record_fit(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_slots(vk::CommandBuffer commands) const;
    void record_views(vk::CommandBuffer commands, std::span<const FixedView> views) const;
    void record_shade(vk::CommandBuffer commands) const;
    void record_header(vk::CommandBuffer commands, Technique technique) const;

    [[nodiscard]] float aspect() const {
        return static_cast<float>(targets->extent.width) /
               static_cast<float>(targets->extent.height);
    }
    [[nodiscard]] std::vector<ShadowProjection> projections(const FrameSettings& settings) const;
    [[nodiscard]] ShadowFrame shadow_frame(const FrameSettings& settings) const;
    [[nodiscard]] Timings timings();

    app::Gpu& gpu;
    quadtile::Device device;
    SceneBuffers scene;
    vk::UniqueRenderPass surface_pass;
    vk::UniqueRenderPass cleared_atlas_pass;
    vk::UniqueRenderPass kept_atlas_pass;
    FrameTimer timer;
    Timings last_timings;
    std::unique_ptr<Targets> targets;
    std::optional<Technique> atlas_technique;  // that has drawn the atlas last; none: nothing has

    vk::UniquePipelineLayout layout;
    vk::UniquePipeline surfaces;
    vk::UniquePipeline view_depths;
    vk::UniquePipeline clear_slots;
    vk::UniquePipeline slots;
    vk::UniquePipeline shade;
};

// ---- What is made once

void Renderer::Impl::configure(vk::Extent2D extent, const ShadowOptions& options) {
    if (targets && targets->extent == extent && targets->options == options) {
        return;
    }
    auto made = std::make_unique<Targets>(gpu, device, scene, extent, options,
                                          TargetPasses{*surface_pass, *kept_atlas_pass});
    gpu.device().waitIdle();
    targets = std::move(made);
    atlas_technique.reset();
}

void Renderer::Impl::make_pipelines() {
    const vk::Device vulkan = gpu.device();
    const std::array sets{*targets->descriptors.layout, *targets->reference_descriptors.layout};
    const vk::PushConstantRange constants{.stageFlags = vk::ShaderStageFlagBits::eVertex,
                                          .size = sizeof(Viewpoint)};
    layout = vulkan.createPipelineLayoutUnique(
        vk::PipelineLayoutCreateInfo{}.setSetLayouts(sets).setPushConstantRanges(constants));
    const bool clamps = gpu.physical_device().getFeatures().depthClamp == VK_TRUE;
    surfaces = gpu.make_draw_pipeline(*layout, *surface_pass,
                                      {.vertex_shader = app::SURFACE_VERT,
                                       .fragment_shader = app::SURFACE_FRAG,
                                       .vertices = vertices_with(2),
                                       .colours = 2,
                                       .compare = vk::CompareOp::eGreater});
    clear_slots = gpu.make_draw_pipeline(
        *layout, *kept_atlas_pass,
        {.vertex_shader = app::CLEAR_SLOTS_VERT, .colours = 0, .compare = vk::CompareOp::eAlways});
    const auto make_depths = [&](vk::RenderPass pass, app::SpirV vertex_shader) {
        return gpu.make_draw_pipeline(*layout, pass,
                                      {.vertex_shader = vertex_shader,
                                       .vertices = vertices_with(1),
                                       .colours = 0,
                                       .compare = vk::CompareOp::eLess,
                                       .clamps_depth = clamps});
    };
    view_depths = make_depths(*cleared_atlas_pass, app::VIEW_VERT);
    slots = make_depths(*kept_atlas_pass, app::SLOTS_VERT);
    shade = gpu.make_compute_pipeline(*layout, app::SHADE_COMP);
}

// ---- Lights

std::vector<ShadowProjection> Renderer::Impl::projections(const FrameSettings& settings) const {
    std::vector<ShadowProjection> all;
    for (const Light& light : settings.lights) {
        const std::array direction{light.direction.x, light.direction.y, light.direction.z};
        if (light.kind == Light::Kind::sun) {
            all.push_back(directional_shadow_projection(direction, scene.bounds));
            continue;
        }
        const glm::vec3 low(scene.bounds.low[0], scene.bounds.low[1], scene.bounds.low[2]);
        const glm::vec3 high(scene.bounds.high[0], scene.bounds.high[1], scene.bounds.high[2]);
        const float farthest =
            1.01F * glm::length(glm::max(light.position - low, high - light.position));
        all.push_back(spot_shadow_projection({light.position.x, light.position.y, light.position.z},
                                             direction, light.angle_degrees,
                                             farthest / SPOT_DEPTH_RATIO, farthest));
    }
    return all;
}

ShadowFrame Renderer::Impl::shadow_frame(const FrameSettings& settings) const {
    ShadowView view{.background_depth = 0.0F};
    const glm::mat4 camera = settings.camera.clip_from_world(aspect(), CAMERA_NEAREST);
    std::memcpy(view.clip_from_world.data(), &camera, sizeof(camera));
    return make_shadow_frame(targets->options, view, targets->extent, projections(settings));
}

void Renderer::Impl::check(const FrameSettings& settings) const {
    if (settings.lights.size() != targets->options.lights) {
        throw std::runtime_error("a frame has " + std::to_string(settings.lights.size()) +
                                 " lights, but the renderer was made for " +
                                 std::to_string(targets->options.lights));
    }
}

// ---- A frame

void Renderer::Impl::bind(vk::CommandBuffer commands, Point point, vk::Pipeline pipeline) const {
    commands.bindPipeline(point, pipeline);
    commands.bindDescriptorSets(point, *layout, 0,
                                {targets->descriptors.set, targets->reference_descriptors.set}, {});
}

void Renderer::Impl::begin_pass(vk::CommandBuffer commands, vk::RenderPass pass,
                                vk::Framebuffer framebuffer, vk::Extent2D extent,
                                std::span<const vk::ClearValue> clear) const {
    const vk::Rect2D area{.extent = extent};
    commands.beginRenderPass({.renderPass = pass,
                              .framebuffer = framebuffer,
                              .renderArea = area,
                              .clearValueCount = static_cast<std::uint32_t>(clear.size()),
                              .pClearValues = clear.data()},
                             vk::SubpassContents::eInline);
    set_viewport(commands, area);
    commands.bindVertexBuffers(0, *scene.vertices.handle, vk::DeviceSize{0});
    commands.bindIndexBuffer(*scene.indices.handle, 0, vk::IndexType::eUint32);
}

void Renderer::Impl::draw_visible(vk::CommandBuffer commands, const Viewpoint& viewpoint) const {
    commands.pushConstants<Viewpoint>(*layout, vk::ShaderStageFlagBits::eVertex, 0, viewpoint);
    for (const IndexRange& range : visible_ranges(scene.clusters, viewpoint.clip_from_world)) {
        commands.drawIndexed(range.count, 1, range.first, 0, 0);
    }
}

void Renderer::Impl::record_depth(vk::CommandBuffer commands, const FrameSettings& settings) {
    check(settings);
    // Whatever still uses the last frame.
    app::memory_barrier(commands, {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite},
                        {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite});
    timer.record_reset(commands);
    timer.record_mark(commands, START);
    const std::array<vk::ClearValue, 3> background{};  // depth 0: as far as can be
    begin_pass(commands, *surface_pass, *targets->surface_framebuffer, targets->extent, background);
    commands.bindPipeline(Point::eGraphics, *surfaces);
    draw_visible(commands, {settings.camera.clip_from_world(aspect(), CAMERA_NEAREST),
                            glm::vec4(settings.camera.position, 1.0F)});
    commands.endRenderPass();
    timer.record_mark(commands, SURFACES);
}

void Renderer::Impl::record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                                    vk::ImageView reference) {
    check(settings);
    const bool is_fitted = settings.technique == Technique::fitted;
    const std::vector<FixedView> views =
        is_fitted ? std::vector<FixedView>()
                  : fixed_views(settings, projections(settings), scene.bounds, aspect(),
                                targets->options.atlas_extent);
    targets->set_reference(reference);
    const DrawnFrame frame = make_drawn_frame(settings, targets->options, targets->extent,
                                              scene.bounds, views, static_cast<bool>(reference));
    commands.updateBuffer<DrawnFrame>(*targets->drawn_frame.handle, 0, frame);
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eVertexShader | Stage::eComputeShader, Access::eShaderRead});

    timer.record_mark(commands, SHADOWS);
    if (is_fitted) {
        record_fit(commands, settings);
        record_slots(commands);
    } else {
        timer.record_mark(commands, FITTED);
        timer.record_mark(commands, CULLED);
        record_views(commands, views);
    }
    timer.record_mark(commands, MAPS);
    record_shade(commands);
    timer.record_mark(commands, SHADED);
    record_header(commands, settings.technique);
    atlas_technique = settings.technique;
}

void Renderer::Impl::record_fit(vk::CommandBuffer commands, const FrameSettings& settings) {
    const app::Scope writes{Stage::eComputeShader | Stage::eTransfer,
                            Access::eShaderWrite | Access::eTransferWrite};
    if (atlas_technique != Technique::fitted) {
        // What the fitter knows of the atlas is not so, or there is nothing.
        commands.fillBuffer(*targets->memory.handle, 0, VK_WHOLE_SIZE, 0);
        app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                            {Stage::eComputeShader | Stage::eTransfer,
                             Access::eShaderRead | Access::eShaderWrite | Access::eTransferWrite});
    }
    targets->fitter.record(commands, targets->binding, shadow_frame(settings));
    app::memory_barrier(commands, writes,
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    timer.record_mark(commands, FITTED);
    targets->fitter.record_cull(commands, targets->objects);
    app::memory_barrier(
        commands, writes,
        {Stage::eDrawIndirect | Stage::eVertexShader | Stage::eComputeShader | Stage::eTransfer,
         Access::eIndirectCommandRead | Access::eShaderRead | Access::eTransferRead});
    timer.record_mark(commands, CULLED);
}

void Renderer::Impl::record_slots(vk::CommandBuffer commands) const {
    const vk::ClearValue nothing_near{.depthStencil = {.depth = 1.0F}};
    const vk::RenderPass pass = atlas_technique ? *kept_atlas_pass : *cleared_atlas_pass;
    begin_pass(commands, pass, *targets->atlas_framebuffer, targets->atlas.extent,
               std::span(&nothing_near, 1));
    bind(commands, Point::eGraphics, *clear_slots);
    commands.drawIndirect(
        *targets->memory.handle,
        targets->needed.header_offset_bytes + offsetof(ShadowHeader, render_vertex_count), 1, 0);
    bind(commands, Point::eGraphics, *slots);
    commands.drawIndexedIndirect(*targets->draws.handle, 0,
                                 static_cast<std::uint32_t>(scene.clusters.size()),
                                 sizeof(vk::DrawIndexedIndirectCommand));
    commands.endRenderPass();
}

void Renderer::Impl::record_views(vk::CommandBuffer commands,
                                  std::span<const FixedView> views) const {
    const vk::ClearValue nothing_near{.depthStencil = {.depth = 1.0F}};
    begin_pass(commands, *cleared_atlas_pass, *targets->atlas_framebuffer, targets->atlas.extent,
               std::span(&nothing_near, 1));
    commands.bindPipeline(Point::eGraphics, *view_depths);
    for (const FixedView& view : views) {
        set_viewport(commands,
                     {{static_cast<std::int32_t>(view.x), static_cast<std::int32_t>(view.y)},
                      {view.width, view.height}});
        draw_visible(commands, {view.clip_from_world, {}});
    }
    commands.endRenderPass();
}

void Renderer::Impl::record_shade(vk::CommandBuffer commands) const {
    bind(commands, Point::eCompute, *shade);
    commands.dispatch((targets->extent.width + SHADE_WORKGROUP - 1) / SHADE_WORKGROUP,
                      (targets->extent.height + SHADE_WORKGROUP - 1) / SHADE_WORKGROUP, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                        {Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                         Access::eShaderRead | Access::eTransferRead});
}

void Renderer::Impl::record_header(vk::CommandBuffer commands, Technique technique) const {
    if (technique == Technique::fitted) {
        commands.copyBuffer(*targets->memory.handle, *targets->header.handle,
                            vk::BufferCopy{.srcOffset = targets->needed.header_offset_bytes,
                                           .size = sizeof(ShadowHeader)});
    } else {
        commands.fillBuffer(*targets->header.handle, 0, VK_WHOLE_SIZE, 0);
    }
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eHost, Access::eHostRead});
}

Timings Renderer::Impl::timings() {
    if (const auto marks = timer.marks()) {
        const auto between = [&](Mark from, Mark to) { return (*marks)[to] - (*marks)[from]; };
        last_timings = {.depth = between(START, SURFACES),
                        .fit = between(SHADOWS, FITTED),
                        .cull = between(FITTED, CULLED),
                        .maps = between(CULLED, MAPS),
                        .shade = between(MAPS, SHADED)};
    }
    return last_timings;
}

// ---- The interface

Renderer::Renderer(app::Gpu& gpu, const quadtile::Device& device, const Geometry& geometry,
                   vk::Extent2D extent, const ShadowOptions& options)
    : impl_(std::make_unique<Impl>(gpu, device, geometry, extent, options)) {}

Renderer::~Renderer() {
    // What has not ended must not lose its memory; after a loss nothing is left that could.
    (void)VULKAN_HPP_DEFAULT_DISPATCHER.vkDeviceWaitIdle(impl_->gpu.device());
}

void Renderer::configure(vk::Extent2D extent, const ShadowOptions& options) {
    impl_->configure(extent, options);
}

void Renderer::record(vk::CommandBuffer commands, const FrameSettings& settings) {
    impl_->record_depth(commands, settings);
    impl_->record_shadows(commands, settings, {});
}

void Renderer::record_depth(vk::CommandBuffer commands, const FrameSettings& settings) {
    impl_->record_depth(commands, settings);
}

void Renderer::record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                              vk::ImageView reference) {
    impl_->record_shadows(commands, settings, reference);
}

const Pictures& Renderer::pictures() const {
    return impl_->targets->pictures;
}

const ShadowOptions& Renderer::options() const {
    return impl_->targets->options;
}

Timings Renderer::timings() const {
    return impl_->timings();
}

ShadowHeader Renderer::header() const {
    ShadowHeader header;
    std::memcpy(&header, impl_->targets->header.mapped, sizeof(header));
    return header;
}

std::vector<ShadowProjection> Renderer::projections(const FrameSettings& settings) const {
    return impl_->projections(settings);
}

ShadowFrame Renderer::shadow_frame(const FrameSettings& settings) const {
    return impl_->shadow_frame(settings);
}

const ShadowFitter& Renderer::fitter() const {
    return impl_->targets->fitter;
}

vk::Buffer Renderer::fitter_memory() const {
    return *impl_->targets->memory.handle;
}

vk::Image Renderer::page_table() const {
    return *impl_->targets->page_table.handle;
}

vk::ImageView Renderer::atlas() const {
    return *impl_->targets->atlas.view;
}

vk::Image Renderer::atlas_image() const {
    return *impl_->targets->atlas.handle;
}

}  // namespace quadtile::shadow
