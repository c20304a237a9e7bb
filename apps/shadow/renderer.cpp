#include "renderer.hpp"

#include "quadtile_shadow_renderer_shaders.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Point = vk::PipelineBindPoint;
using Stage = vk::PipelineStageFlagBits;

constexpr std::uint32_t SHADE_WORKGROUP = 8;  // pixels on a side
// Farthest distance of a spot / nearest one. Casters before the nearest are clamped to it.
constexpr float SPOT_DEPTH_RATIO = 200.0F;

enum Mark : std::uint32_t { START, SURFACES, SHADOWS, FITTED, CULLED, MAPS, SHADED, MARKS };

void check_features(const app::Gpu& gpu, std::size_t clusters) {
    const vk::PhysicalDeviceFeatures has = gpu.physical_device().getFeatures();
    const auto check = [](vk::Bool32 is_there, const char* name) {
        if (is_there == VK_FALSE) {
            throw std::runtime_error(std::string("this device cannot draw shadow maps: it lacks ") +
                                     name + "; choose another device");
        }
    };
    check(has.multiDrawIndirect, "multiDrawIndirect");
    check(has.drawIndirectFirstInstance, "drawIndirectFirstInstance");
    check(has.shaderClipDistance, "shaderClipDistance");
    if (clusters > gpu.physical_device().getProperties().limits.maxDrawIndirectCount) {
        throw std::runtime_error(
            "the scene has too many triangles for this device's maxDrawIndirectCount; choose a "
            "smaller scene");
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

Renderer::Renderer(app::Gpu& gpu, const quadtile::Device& device, const Geometry& geometry,
                   vk::Extent2D extent, const ShadowOptions& options)
    : gpu_(gpu),
      device_(device),
      scene_(gpu, geometry),
      surface_pass_(make_surface_pass(gpu.device())),
      cleared_atlas_pass_(make_atlas_pass(gpu.device(), AtlasContents::cleared)),
      kept_atlas_pass_(make_atlas_pass(gpu.device(), AtlasContents::kept)),
      timer_(gpu, MARKS) {
    check_features(gpu, scene_.clusters.size());
    configure(extent, options);
    make_pipelines();
}

Renderer::~Renderer() {
    // Unfinished work must not lose its memory; after a device loss there is none.
    (void)VULKAN_HPP_DEFAULT_DISPATCHER.vkDeviceWaitIdle(gpu_.device());
}

// ---- Construction

void Renderer::configure(vk::Extent2D extent, const ShadowOptions& options) {
    if (targets_ && targets_->extent == extent && targets_->options == options) {
        return;
    }
    auto made = std::make_unique<Targets>(gpu_, device_, scene_, extent, options,
                                          TargetPasses{*surface_pass_, *kept_atlas_pass_});
    gpu_.device().waitIdle();
    targets_ = std::move(made);
    atlas_technique_.reset();
}

void Renderer::make_pipelines() {
    const vk::PipelineLayout layout =
        *targets_->interface.layout;  // those of later targets are the same
    const bool clamps = gpu_.physical_device().getFeatures().depthClamp == VK_TRUE;
    surfaces_ = gpu_.make_draw_pipeline(layout, *surface_pass_,
                                        {.vertex_shader = app::SURFACE_VERT,
                                         .fragment_shader = app::SURFACE_FRAG,
                                         .vertices = vertices_with(2),
                                         .colours = 2,
                                         .compare = vk::CompareOp::eGreater});
    clear_slots_ = gpu_.make_draw_pipeline(
        layout, *kept_atlas_pass_,
        {.vertex_shader = app::CLEAR_SLOTS_VERT, .colours = 0, .compare = vk::CompareOp::eAlways});
    const auto make_depths = [&](vk::RenderPass pass, app::SpirV vertex_shader) {
        return gpu_.make_draw_pipeline(layout, pass,
                                       {.vertex_shader = vertex_shader,
                                        .vertices = vertices_with(1),
                                        .colours = 0,
                                        .compare = vk::CompareOp::eLess,
                                        .clamps_depth = clamps});
    };
    view_depths_ = make_depths(*cleared_atlas_pass_, app::VIEW_VERT);
    slots_ = make_depths(*kept_atlas_pass_, app::SLOTS_VERT);
    shade_ = gpu_.make_compute_pipeline(layout, app::SHADE_COMP);
}

// ---- Lights

std::vector<ShadowProjection> Renderer::projections(const FrameSettings& settings) const {
    std::vector<ShadowProjection> all;
    for (const Light& light : settings.lights) {
        const std::array direction{light.direction.x, light.direction.y, light.direction.z};
        const std::size_t first = all.size();
        const float farthest =
            1.01F * glm::length(glm::max(light.position - low_of(scene_.bounds),
                                         high_of(scene_.bounds) - light.position));
        const float nearest = farthest / SPOT_DEPTH_RATIO;
        const std::array position{light.position.x, light.position.y, light.position.z};
        if (light.kind == Light::Kind::sun && light.nearest_extent > 0.0F) {
            const glm::vec3& eye = settings.camera.position;
            std::ranges::copy(
                directional_shadow_levels(direction, scene_.bounds, {eye.x, eye.y, eye.z},
                                          light.nearest_extent, light.levels),
                std::back_inserter(all));
        } else if (light.kind == Light::Kind::sun) {
            all.push_back(directional_shadow_projection(direction, scene_.bounds));
        } else if (light.kind == Light::Kind::spot) {
            all.push_back(spot_shadow_projection(position, direction, light.angle_degrees, nearest,
                                                 farthest));
        } else {
            std::ranges::copy(point_shadow_projections(position, nearest, farthest),
                              std::back_inserter(all));
        }
        for (std::size_t i = first; i < all.size(); ++i) {
            all[i].weight = light.weight;
        }
    }
    return all;
}

ShadowFrame Renderer::shadow_frame(const FrameSettings& settings) const {
    ShadowView view{.background_depth = 0.0F};
    const glm::mat4 camera = settings.camera.clip_from_world(aspect(), CAMERA_NEAREST);
    std::memcpy(view.clip_from_world.data(), &camera, sizeof(camera));
    return make_shadow_frame(targets_->options, view, targets_->extent, projections(settings));
}

void Renderer::check(const FrameSettings& settings) const {
    if (layers_of(settings.lights) != targets_->options.lights) {
        throw std::runtime_error(
            "the lights of a frame have " + std::to_string(layers_of(settings.lights)) +
            " layers, but the renderer has room for " + std::to_string(targets_->options.lights));
    }
}

// ---- A frame

void Renderer::begin_pass(vk::CommandBuffer commands, vk::RenderPass pass,
                          vk::Framebuffer framebuffer, vk::Extent2D extent,
                          std::span<const vk::ClearValue> clear) const {
    app::begin_render_pass(commands, pass, framebuffer, extent, clear);
    set_viewport(commands, {.extent = extent});
    commands.bindVertexBuffers(0, *scene_.vertices.handle, vk::DeviceSize{0});
    commands.bindIndexBuffer(*scene_.indices.handle, 0, vk::IndexType::eUint32);
}

void Renderer::draw_visible(vk::CommandBuffer commands, const Viewpoint& viewpoint) const {
    targets_->interface.push(commands, viewpoint);
    for (const IndexRange& range : visible_ranges(scene_.clusters, viewpoint.clip_from_world)) {
        commands.drawIndexed(range.count, 1, range.first, 0, 0);
    }
}

void Renderer::record_depth(vk::CommandBuffer commands, const FrameSettings& settings) {
    check(settings);
    // Whatever still uses the last frame.
    app::memory_barrier(commands, {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite},
                        {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite});
    has_moved_ = scene_.moving && second_ != settings.second;
    if (has_moved_) {
        scene_.moving->record(commands, settings.second);
        second_ = settings.second;
    }
    timer_.begin(commands);
    const std::array<vk::ClearValue, 3> background{};  // depth 0: as far as can be
    begin_pass(commands, *surface_pass_, *targets_->surface_framebuffer, targets_->extent,
               background);
    commands.bindPipeline(Point::eGraphics, *surfaces_);
    draw_visible(commands, {settings.camera.clip_from_world(aspect(), CAMERA_NEAREST),
                            glm::vec4(settings.camera.position, 1.0F)});
    commands.endRenderPass();
    timer_.mark(commands, SURFACES);
}

void Renderer::record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                              vk::ImageView traced_light) {
    check(settings);
    if (settings.technique == Technique::rays && !traced_light) {
        throw std::runtime_error("Technique::rays needs the light of ray casting");
    }
    const bool is_fitted = settings.technique == Technique::fitted;
    const std::vector<FixedView> views =
        is_fitted ? std::vector<FixedView>()
                  : fixed_views(settings, projections(settings), scene_.bounds, aspect(),
                                targets_->options.atlas_extent);
    targets_->set_traced_light(traced_light);
    const DrawnFrame frame = make_drawn_frame(settings, *targets_, scene_.bounds, views);
    commands.updateBuffer<DrawnFrame>(*targets_->drawn_frame.handle, 0, frame);
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eVertexShader | Stage::eComputeShader, Access::eShaderRead});

    timer_.mark(commands, SHADOWS);
    if (is_fitted) {
        record_fit(commands, settings);
        record_slots(commands);
    } else {
        timer_.mark(commands, FITTED);
        timer_.mark(commands, CULLED);
        if (!views.empty()) {
            record_views(commands, views);
        }
    }
    timer_.mark(commands, MAPS);
    record_shade(commands);
    timer_.mark(commands, SHADED);
    record_header(commands, settings.technique);
    if (settings.technique != Technique::rays) {
        atlas_technique_ = settings.technique;
    }
}

void Renderer::record_fit(vk::CommandBuffer commands, const FrameSettings& settings) {
    const app::Scope writes{Stage::eComputeShader | Stage::eTransfer,
                            Access::eShaderWrite | Access::eTransferWrite};
    if (atlas_technique_ != Technique::fitted) {
        // The fitter's state does not match the atlas.
        commands.fillBuffer(*targets_->memory.handle, 0, VK_WHOLE_SIZE, 0);
        app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                            {Stage::eComputeShader | Stage::eTransfer,
                             Access::eShaderRead | Access::eShaderWrite | Access::eTransferWrite});
    }
    targets_->fitter.record(commands, targets_->binding, shadow_frame(settings),
                            has_moved_ ? &*targets_->changes : nullptr);
    app::memory_barrier(commands, writes,
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    timer_.mark(commands, FITTED);
    targets_->fitter.record_cull(commands, targets_->objects);
    app::memory_barrier(
        commands, writes,
        {Stage::eDrawIndirect | Stage::eVertexShader | Stage::eComputeShader | Stage::eTransfer,
         Access::eIndirectCommandRead | Access::eShaderRead | Access::eTransferRead});
    timer_.mark(commands, CULLED);
}

void Renderer::record_slots(vk::CommandBuffer commands) const {
    const vk::ClearValue nothing_near{.depthStencil = {.depth = 1.0F}};
    const vk::RenderPass pass = atlas_technique_ ? *kept_atlas_pass_ : *cleared_atlas_pass_;
    begin_pass(commands, pass, *targets_->atlas_framebuffer, targets_->atlas.extent,
               std::span(&nothing_near, 1));
    targets_->interface.bind(commands, *clear_slots_, Point::eGraphics);
    commands.drawIndirect(
        *targets_->memory.handle,
        targets_->needed.header_offset_bytes + offsetof(ShadowHeader, render_vertex_count), 1, 0);
    targets_->interface.bind(commands, *slots_, Point::eGraphics);
    commands.drawIndexedIndirect(*targets_->draws.handle, 0,
                                 static_cast<std::uint32_t>(scene_.clusters.size()),
                                 sizeof(vk::DrawIndexedIndirectCommand));
    commands.endRenderPass();
}

void Renderer::record_views(vk::CommandBuffer commands, std::span<const FixedView> views) const {
    const vk::ClearValue nothing_near{.depthStencil = {.depth = 1.0F}};
    begin_pass(commands, *cleared_atlas_pass_, *targets_->atlas_framebuffer, targets_->atlas.extent,
               std::span(&nothing_near, 1));
    commands.bindPipeline(Point::eGraphics, *view_depths_);
    for (const FixedView& view : views) {
        set_viewport(commands,
                     {{static_cast<std::int32_t>(view.x), static_cast<std::int32_t>(view.y)},
                      {view.width, view.height}});
        draw_visible(commands, {view.clip_from_world, {}});
    }
    commands.endRenderPass();
}

void Renderer::record_shade(vk::CommandBuffer commands) const {
    targets_->interface.bind(commands, *shade_, Point::eCompute);
    commands.dispatch((targets_->extent.width + SHADE_WORKGROUP - 1) / SHADE_WORKGROUP,
                      (targets_->extent.height + SHADE_WORKGROUP - 1) / SHADE_WORKGROUP, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                        {Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                         Access::eShaderRead | Access::eTransferRead});
}

void Renderer::record_header(vk::CommandBuffer commands, Technique technique) const {
    if (technique == Technique::fitted) {
        commands.copyBuffer(*targets_->memory.handle, *targets_->header.handle,
                            vk::BufferCopy{.srcOffset = targets_->needed.header_offset_bytes,
                                           .size = sizeof(ShadowHeader)});
    } else {
        commands.fillBuffer(*targets_->header.handle, 0, VK_WHOLE_SIZE, 0);
    }
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eHost, Access::eHostRead});
}

Timings Renderer::timings() const {
    const auto marks = timer_.marks();
    if (!marks) {
        return {};
    }
    const auto between = [&](Mark from, Mark to) { return 1e3 * ((*marks)[to] - (*marks)[from]); };
    return {.depth = between(START, SURFACES),
            .fit = between(SHADOWS, FITTED),
            .cull = between(FITTED, CULLED),
            .maps = between(CULLED, MAPS),
            .shade = between(MAPS, SHADED)};
}

void Renderer::record(vk::CommandBuffer commands, const FrameSettings& settings) {
    record_depth(commands, settings);
    record_shadows(commands, settings);
}

ShadowHeader Renderer::header() const {
    ShadowHeader header;
    std::memcpy(&header, targets_->header.mapped, sizeof(header));
    return header;
}

}  // namespace quadtile::shadow
