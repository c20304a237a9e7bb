#include "renderer.hpp"

#include "quadtile_shadow_view_shaders.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Point = vk::PipelineBindPoint;
using Stage = vk::PipelineStageFlagBits;

constexpr std::uint32_t SHADE_WORKGROUP = 8;  // pixels on a side

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
    gpu_.wait_idle();
}

// ---- Construction

void Renderer::configure(vk::Extent2D extent, const ShadowOptions& options) {
    if (targets_ && targets_->extent == extent && targets_->options == options) {
        return;
    }
    auto made = std::make_unique<Targets>(gpu_, device_, scene_, extent, options,
                                          TargetPasses{*surface_pass_, *kept_atlas_pass_});
    gpu_.wait_idle();
    targets_ = std::move(made);
    has_atlas_ = false;
}

void Renderer::make_pipelines() {
    const vk::PipelineLayout layout =
        *targets_->interface.layout;  // those of later targets are the same
    const auto surfaces = [&](app::SpirV vertex_shader, app::SpirV fragment_shader) {
        return gpu_.make_draw_pipeline(layout, *surface_pass_,
                                       {.vertex_shader = vertex_shader,
                                        .fragment_shader = fragment_shader,
                                        .vertices = vertices_with(2),
                                        .colours = 2,
                                        .compare = vk::CompareOp::eGreater});
    };
    surfaces_ = {surfaces(app::SURFACE_VERT, app::SURFACE_FRAG),
                 surfaces(app::MASKED_SURFACE_VERT, app::MASKED_SURFACE_FRAG)};
    clear_slots_ = gpu_.make_draw_pipeline(
        layout, *kept_atlas_pass_,
        {.vertex_shader = app::CLEAR_SLOTS_VERT, .colours = 0, .compare = vk::CompareOp::eAlways});
    slots_ = make_depth_pipelines(gpu_, layout, *kept_atlas_pass_, app::SLOTS_VERT);
    if (targets_->moving) {
        merge_atlases_ = gpu_.make_compute_pipeline(*targets_->moving->interface.layout,
                                                    app::MERGE_ATLASES_COMP);
    }
    shade_ = gpu_.make_compute_pipeline(layout, app::SHADE_COMP);
}

CasterPipelines make_depth_pipelines(const app::Gpu& gpu, vk::PipelineLayout layout,
                                     vk::RenderPass pass, app::SpirV vertex_shader) {
    app::DrawState state{.vertex_shader = vertex_shader,
                         .vertices = vertices_with(1),
                         .colours = 0,
                         .compare = vk::CompareOp::eLess,
                         .clamps_depth = gpu.physical_device().getFeatures().depthClamp == VK_TRUE};
    vk::UniquePipeline whole = gpu.make_draw_pipeline(layout, pass, state);
    state.fragment_shader = app::MASK_FRAG;
    return {std::move(whole), gpu.make_draw_pipeline(layout, pass, state)};
}

ShadowFrame Renderer::shadow_frame(const FrameSettings& settings) const {
    ShadowView view{.background_depth = 0.0F};
    const glm::mat4 camera = settings.camera.clip_from_world(aspect());
    std::memcpy(view.clip_from_world.data(), &camera, sizeof(camera));
    return make_shadow_frame(
        targets_->options, view, targets_->extent,
        projections_of(settings.lights, scene_.bounds, settings.camera.position));
}

void Renderer::check(const FrameSettings& settings) const {
    if (layers_of(settings.lights) > targets_->options.lights) {
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

void Renderer::record_surfaces(vk::CommandBuffer commands, const FrameSettings& settings) {
    check(settings);
    // Whatever still uses the last frame.
    app::memory_barrier(commands, {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite},
                        {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite});
    record_changes(commands, settings);
    timer_.begin(commands);
    const std::array<vk::ClearValue, 3> background{};  // depth 0: as far as can be
    begin_pass(commands, *surface_pass_, *targets_->surface_framebuffer, targets_->extent,
               background);
    const Viewpoint viewpoint{settings.camera.clip_from_world(aspect()),
                              glm::vec4(settings.camera.position, 1.0F)};
    targets_->interface.bind(commands, *surfaces_.whole, viewpoint);
    draw_visible(commands, scene_, surfaces_, viewpoint.clip_from_world, first_cluster());
    commands.endRenderPass();
    timer_.mark(commands, SURFACES);
    const DrawnFrame frame = make_drawn_frame(settings, *targets_);
    commands.updateBuffer<DrawnFrame>(*targets_->drawn_frame.handle, 0, frame);
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eVertexShader | Stage::eComputeShader, Access::eShaderRead});
}

void Renderer::record_changes(vk::CommandBuffer commands, const FrameSettings& settings) {
    const bool leaves_change = std::exchange(has_leaves_, settings.has_leaves) != has_leaves_;
    const bool boxes_move = scene_.moving && second_ != settings.second;
    has_changed_ = leaves_change || boxes_move;
    if (!has_changed_) {
        return;
    }
    commands.updateBuffer<std::uint32_t>(*scene_.change_count.handle, 0, leaves_change ? 1U : 0U);
    commands.updateBuffer<ShadowChange>(*scene_.changes.handle, 0, scene_.leaves);
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    if (boxes_move) {
        scene_.moving->record(commands, settings.second);
        second_ = settings.second;
    }
}

void Renderer::record_shadows(vk::CommandBuffer commands, const FrameSettings& settings) {
    timer_.mark(commands, SHADOWS);
    record_fit(commands, settings);
    record_slots(commands);
    timer_.mark(commands, MAPS);
    record_header(commands);
}

void Renderer::record_fit(vk::CommandBuffer commands, const FrameSettings& settings) {
    const app::Scope writes{Stage::eComputeShader | Stage::eTransfer,
                            Access::eShaderWrite | Access::eTransferWrite};
    targets_->fitter.record(commands, targets_->binding, shadow_frame(settings),
                            has_changed_ ? &targets_->changes : nullptr);
    app::memory_barrier(commands, writes,
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    timer_.mark(commands, FITTED);
    targets_->fitter.record_cull(commands, targets_->objects);
    if (targets_->moving) {
        app::memory_barrier(commands, writes,  // both write the same instances
                            {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
        targets_->fitter.record_cull(commands, targets_->moving->objects);
    }
    app::memory_barrier(
        commands, writes,
        {Stage::eDrawIndirect | Stage::eVertexShader | Stage::eComputeShader | Stage::eTransfer,
         Access::eIndirectCommandRead | Access::eShaderRead | Access::eTransferRead});
    timer_.mark(commands, CULLED);
}

void Renderer::record_slots(vk::CommandBuffer commands) {
    begin_atlas_pass(commands, targets_->atlas, offsetof(ShadowHeader, static_vertex_count));
    draw_casters(commands, targets_->draws, first_cluster(), scene_.masked_clusters,
                 scene_.static_clusters);
    commands.endRenderPass();
    if (const auto& moving = targets_->moving) {
        begin_atlas_pass(commands, moving->atlas, offsetof(ShadowHeader, render_vertex_count));
        draw_casters(commands, moving->draws, 0, 0, scene_.moving->count());
        commands.endRenderPass();
        moving->interface.bind(commands, *merge_atlases_, shadow_parameters(targets_->options));
        commands.dispatch(targets_->options.max_tiles, 1, 1);
        app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                            {Stage::eComputeShader, Access::eShaderRead});
    }
    has_atlas_ = true;
}

void Renderer::begin_atlas_pass(vk::CommandBuffer commands, const Atlas& atlas,
                                vk::DeviceSize cleared) const {
    const vk::ClearValue nothing_near{.depthStencil = {.depth = 1.0F}};
    begin_pass(commands, has_atlas_ ? *kept_atlas_pass_ : *cleared_atlas_pass_, *atlas.framebuffer,
               atlas.image.extent, std::span(&nothing_near, 1));
    targets_->interface.bind(commands, *clear_slots_, Point::eGraphics);
    commands.drawIndirect(*targets_->memory.handle, targets_->needed.header_offset_bytes + cleared,
                          1, 0);
}

void Renderer::draw_casters(vk::CommandBuffer commands, const app::Buffer& draws,
                            std::uint32_t first, std::uint32_t masked_count,
                            std::uint32_t count) const {
    constexpr std::uint32_t STRIDE = sizeof(vk::DrawIndexedIndirectCommand);
    const auto draw = [&](vk::Pipeline pipeline, std::uint32_t begin, std::uint32_t end) {
        commands.bindPipeline(Point::eGraphics, pipeline);
        commands.drawIndexedIndirect(*draws.handle, vk::DeviceSize{STRIDE} * begin, end - begin,
                                     STRIDE);
    };
    draw(*slots_.masked, first, masked_count);
    draw(*slots_.whole, std::max(first, masked_count), count);
}

void Renderer::record_picture(vk::CommandBuffer commands) const {
    targets_->interface.bind(commands, *shade_, Point::eCompute);
    commands.dispatch((targets_->extent.width + SHADE_WORKGROUP - 1) / SHADE_WORKGROUP,
                      (targets_->extent.height + SHADE_WORKGROUP - 1) / SHADE_WORKGROUP, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                        {Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                         Access::eShaderRead | Access::eTransferRead});
    timer_.mark(commands, SHADED);
}

void Renderer::record_header(vk::CommandBuffer commands) const {
    commands.copyBuffer(*targets_->memory.handle, *targets_->header.handle,
                        vk::BufferCopy{.srcOffset = targets_->needed.header_offset_bytes,
                                       .size = sizeof(ShadowHeader)});
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
    record_surfaces(commands, settings);
    record_shadows(commands, settings);
    record_picture(commands);
}

ShadowHeader Renderer::header() const {
    ShadowHeader header;
    std::memcpy(&header, targets_->header.mapped, sizeof(header));
    return header;
}

// ---- Draws

void set_viewport(vk::CommandBuffer commands, const vk::Rect2D& area) {
    commands.setViewport(0, vk::Viewport{.x = static_cast<float>(area.offset.x),
                                         .y = static_cast<float>(area.offset.y),
                                         .width = static_cast<float>(area.extent.width),
                                         .height = static_cast<float>(area.extent.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, area);
}

void draw_visible(vk::CommandBuffer commands, const SceneBuffers& scene,
                  const CasterPipelines& pipelines, const glm::mat4& clip_from_world,
                  std::size_t first) {
    const glm::mat4 rows = glm::transpose(clip_from_world);
    const std::array planes{rows[3] + rows[0], rows[3] - rows[0], rows[3] + rows[1],
                            rows[3] - rows[1], rows[3] - rows[2]};
    // Tests the corner that is farthest inside.
    const auto is_outside = [](const ShadowObject& box, const glm::vec4& plane) {
        return plane.x * (plane.x > 0.0F ? box.high[0] : box.low[0]) +
                   plane.y * (plane.y > 0.0F ? box.high[1] : box.low[1]) +
                   plane.z * (plane.z > 0.0F ? box.high[2] : box.low[2]) + plane.w <
               0.0F;
    };
    std::uint32_t first_index = 0;  // of consecutive ones to draw
    std::uint32_t count = 0;
    const auto draw = [&] {
        if (count > 0) {
            commands.drawIndexed(count, 1, first_index, 0, 0);
        }
    };
    commands.bindPipeline(Point::eGraphics, *pipelines.masked);
    for (std::size_t i = first; i < scene.clusters.size(); ++i) {
        if (i == scene.masked_clusters) {
            draw();
            count = 0;
            commands.bindPipeline(Point::eGraphics, *pipelines.whole);
        }
        const ShadowObject& cluster = scene.clusters[i];
        if (std::ranges::any_of(
                planes, [&](const glm::vec4& plane) { return is_outside(cluster, plane); })) {
            continue;
        }
        if (first_index + count != cluster.first_index) {
            draw();
            first_index = cluster.first_index;
            count = 0;
        }
        count += cluster.index_count;
    }
    draw();
}

}  // namespace quadtile::shadow
