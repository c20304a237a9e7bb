#include "rig.hpp"

#include "quadtile_shadow_rig_shaders.hpp"

#include <glm/gtc/type_ptr.hpp>

#include <array>
#include <cstring>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

constexpr std::uint32_t WORKGROUP = 8;  // pixels on a side

}  // namespace

Difference Comparison::difference(std::uint32_t lights) const {
    Difference difference;
    for (std::size_t i = 0; i < receivers.size(); ++i) {
        if (receivers[i].share < 0.0F) {
            continue;
        }
        const std::uint32_t decided = lights & ~truth[i].undecided;
        const std::uint32_t drawn = receivers[i].lit & decided;
        const std::uint32_t reached = truth[i].reached & decided;
        ++difference.surfaces;
        difference.undecided += decided != lights ? 1 : 0;
        difference.wrong += drawn != reached ? 1 : 0;
        difference.wrongly_shadowed += (~drawn & reached) != 0 ? 1 : 0;
    }
    return difference;
}

Rig::Rig(Machine& machine, const Geometry& geometry, vk::Extent2D extent,
         const ShadowOptions& options)
    : gpu_(machine.gpu),
      extent_(extent),
      geometry_(geometry),
      renderer_(gpu_, machine.device, geometry, extent, options),
      rays_(geometry_),
      timer_(gpu_),
      views_pass_(make_atlas_pass(gpu_.device(), AtlasContents::cleared)),
      view_depths_(make_depth_pipelines(gpu_, *renderer_.targets().interface.layout, *views_pass_,
                                        app::VIEW_VERT)),
      interface_(gpu_.make_interface(
          vk::ShaderStageFlagBits::eCompute,
          {Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
           Type::eCombinedImageSampler, Type::eCombinedImageSampler,
           Type::eStorageBuffer,  // 5 and 6 are for drawing slots
           Type::eStorageBuffer, Type::eCombinedImageSampler, Type::eCombinedImageSampler,
           Type::eStorageBuffer, Type::eStorageBuffer})),
      find_receivers_(gpu_.make_compute_pipeline(*interface_.layout, app::RECEIVERS_COMP)),
      frame_(gpu_.make_buffer(sizeof(ReceiverFrame), Usage::eStorageBuffer | Usage::eTransferDst)),
      receivers_(gpu_.make_buffer(sizeof(Receiver) * extent.width * extent.height,
                                  Usage::eStorageBuffer, app::MemoryUse::readback)) {
    make_resources();
}

Rig::~Rig() {
    // Unfinished work must not lose its memory.
    gpu_.wait_idle();
}

void Rig::configure(const ShadowOptions& options) {
    renderer_.configure(extent_, options);
    make_resources();
}

void Rig::make_resources() {
    const Targets& targets = renderer_.targets();
    maps_ = gpu_.make_image(
        targets.atlas.image.extent, DEPTH_FORMAT,
        vk::ImageUsageFlagBits::eDepthStencilAttachment | vk::ImageUsageFlagBits::eSampled,
        vk::ImageViewType::e2D);
    maps_framebuffer_ = gpu_.make_framebuffer(*views_pass_, maps_.extent, std::array{*maps_.view});
    interface_.write(0, std::array{*targets.drawn_frame.handle});
    interface_.write(1, targets.part(targets.needed.frame_offset_bytes, sizeof(ShadowFrame)));
    interface_.write(2, targets.tiles_part());
    interface_.write(3, *targets.page_table.view, Layout::eGeneral, *targets.sampler);
    interface_.write(7, *targets.depth.view, Layout::eDepthStencilReadOnlyOptimal,
                     *targets.sampler);
    interface_.write(8, *targets.normals.view, Layout::eGeneral, *targets.sampler);
    interface_.write(9, std::array{*frame_.handle, *receivers_.handle});
}

// ---- Frames

std::vector<DrawnView> Rig::views_of(const FrameSettings& settings, Technique technique) const {
    if (technique == Technique::fitted) {
        return {};
    }
    if (technique == Technique::cubes) {
        const std::vector<ShadowProjection> all =
            projections_of(settings.lights, geometry_.bounds, settings.camera.position);
        return cube_views(std::span(all).subspan(settings.lights.front().layers()),
                          maps_.extent.width);
    }
    return fixed_views(
        technique, settings.lights.front().direction, settings.camera, geometry_.bounds,
        static_cast<float>(extent_.width) / static_cast<float>(extent_.height), maps_.extent.width);
}

void Rig::record(vk::CommandBuffer commands, const FrameSettings& settings, Technique technique) {
    renderer_.record_surfaces(commands, settings);
    if (technique == Technique::fitted) {
        renderer_.record_shadows(commands, settings);
        return;
    }
    timer_.begin(commands);
    record_views(commands, views_of(settings, technique));
    timer_.end(commands);
}

void Rig::record_views(vk::CommandBuffer commands, const std::vector<DrawnView>& views) {
    const vk::ClearValue nothing_near{.depthStencil = {.depth = 1.0F}};
    app::begin_render_pass(commands, *views_pass_, *maps_framebuffer_, maps_.extent,
                           std::span(&nothing_near, 1));
    commands.bindVertexBuffers(0, *renderer_.scene().vertices.handle, vk::DeviceSize{0});
    commands.bindIndexBuffer(*renderer_.scene().indices.handle, 0, vk::IndexType::eUint32);
    const app::ProgramInterface& interface = renderer_.targets().interface;
    interface.bind(commands, *view_depths_.whole, vk::PipelineBindPoint::eGraphics);
    for (const DrawnView& view : views) {
        set_viewport(
            commands,
            {{static_cast<std::int32_t>(view.x), static_cast<std::int32_t>(view.y)},
             {static_cast<std::uint32_t>(view.width), static_cast<std::uint32_t>(view.height)}});
        const glm::mat4 clip_from_world = glm::make_mat4(view.clip_from_world);
        interface.push(commands, clip_from_world);
        draw_visible(commands, renderer_.scene(), view_depths_, clip_from_world);
    }
    commands.endRenderPass();
}

void Rig::record_receivers(vk::CommandBuffer commands, const FrameSettings& settings,
                           Technique technique) {
    ReceiverFrame frame{.has_cubes = technique == Technique::cubes ? 1U : 0U};
    for (const DrawnView& view : views_of(settings, technique)) {
        frame.views[frame.view_count++] = view;
    }
    const std::vector<ShadowProjection> projections =
        projections_of(settings.lights, geometry_.bounds, settings.camera.position);
    std::size_t layer = 0;
    for (std::size_t i = 0; i < settings.lights.size(); ++i) {
        std::memcpy(&frame.clip_from_world[16 * i], projections[layer].clip_from_world.data(),
                    sizeof(ShadowMatrix));
        layer += settings.lights[i].layers();
    }
    const auto [view, layout] =
        technique == Technique::fitted
            ? renderer_.targets().looked_up()
            : Targets::LookedUp{*maps_.view, Layout::eDepthStencilReadOnlyOptimal};
    interface_.write(4, view, layout, *renderer_.targets().sampler);
    commands.updateBuffer<ReceiverFrame>(*frame_.handle, 0, frame);
    app::memory_barrier(commands);
    interface_.bind(commands, *find_receivers_, vk::PipelineBindPoint::eCompute);
    commands.dispatch((extent_.width + WORKGROUP - 1) / WORKGROUP,
                      (extent_.height + WORKGROUP - 1) / WORKGROUP, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite}, app::HOST_READS);
}

void Rig::draw(const FrameSettings& settings, Technique technique) {
    last_drawn_ = technique;
    gpu_.run([&](vk::CommandBuffer commands) {
        record(commands, settings, technique);
        if (technique == Technique::fitted) {
            renderer_.record_picture(commands);
        }
    });
}

std::vector<Receiver> Rig::receivers(const FrameSettings& settings, Technique technique) {
    gpu_.run([&](vk::CommandBuffer commands) {
        record(commands, settings, technique);
        record_receivers(commands, settings, technique);
    });
    std::vector<Receiver> receivers(std::size_t{extent_.width} * extent_.height);
    std::memcpy(receivers.data(), receivers_.mapped, receivers.size() * sizeof(Receiver));
    return receivers;
}

Comparison Rig::compare(const FrameSettings& settings, Technique technique) {
    Comparison comparison{.receivers = receivers(settings, technique), .truth = {}};
    if (!geometry_.moving.empty()) {
        move_vertices(geometry_, settings.second);
        rays_ = Rays(geometry_);
    }
    comparison.truth =
        rays_.truths(comparison.receivers, settings.lights, settings.camera, extent_.height);
    return comparison;
}

Timings Rig::timings() const {
    if (last_drawn_ == Technique::fitted) {
        return renderer_.timings();
    }
    return {.maps = 1e3 * timer_.milliseconds().value_or(0.0)};
}

}  // namespace quadtile::shadow
