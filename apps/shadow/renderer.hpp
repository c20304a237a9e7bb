// Draws a scene with shadows: the depth buffer first, then the shadow maps that it asks for, then
// the picture, all in one command buffer.

#pragma once

#include "targets.hpp"

#include <memory>
#include <optional>

namespace quadtile::shadow {

// Of the last frame that was measured, microseconds of the GPU; 0 where there are no timestamps.
struct Timings {
    double depth = 0.0;  // the camera's depth buffer and normals
    double fit = 0.0;    // importance to page table (ShadowFitter::record)
    double cull = 0.0;   // ShadowFitter::record_cull
    double maps = 0.0;   // drawing into the shadow maps
    double shade = 0.0;  // the picture
};

class Renderer {
 public:
    // The geometry is copied to the device. The atlas has ShadowOptions::atlas_extent; the other
    // techniques divide an image of the same size among their maps.
    Renderer(app::Gpu& gpu, const quadtile::Device& device, const Geometry& geometry,
             vk::Extent2D extent, const ShadowOptions& options);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    // Another size or other options, where they differ; waits for the device, forgets the last
    // frame. Throws quadtile::Error for options that are not allowed, and nothing has changed.
    void configure(vk::Extent2D extent, const ShadowOptions& options);

    // Records all of a frame. The maps of all techniques are in the same image, so the first fitted
    // frame after another technique draws all of its tiles. The last frame must have executed, or
    // be before it on the same queue. Technique::rays needs `traced_light` (shaders/light.h), the
    // view of RayCaster::light, in layout GENERAL; it must be of the depth that this frame draws,
    // so see record_depth.
    void record(vk::CommandBuffer commands, const FrameSettings& settings);
    // The two halves of record, for what needs the depth between them (ray casting).
    void record_depth(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                        vk::ImageView traced_light = {});

    // What other passes read.
    [[nodiscard]] const Targets& targets() const { return *targets_; }
    // Of the frame that has executed last; waits for nothing.
    [[nodiscard]] Timings timings() const;
    // That of the frame that has executed last, copied to the host by every frame.
    [[nodiscard]] ShadowHeader header() const;

    // The clip spaces of lights, as frames are made with.
    [[nodiscard]] std::vector<ShadowProjection> projections(const FrameSettings& settings) const;
    // What a frame is fitted from.
    [[nodiscard]] ShadowFrame shadow_frame(const FrameSettings& settings) const;

 private:
    void make_pipelines();
    void begin_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                    vk::Extent2D extent, std::span<const vk::ClearValue> clear) const;
    void draw_visible(vk::CommandBuffer commands, const Viewpoint& viewpoint) const;
    void check(const FrameSettings& settings) const;
    void record_fit(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_slots(vk::CommandBuffer commands) const;
    void record_views(vk::CommandBuffer commands, std::span<const FixedView> views) const;
    void record_shade(vk::CommandBuffer commands) const;
    void record_header(vk::CommandBuffer commands, Technique technique) const;
    [[nodiscard]] float aspect() const {
        return static_cast<float>(targets_->extent.width) /
               static_cast<float>(targets_->extent.height);
    }

    app::Gpu& gpu_;
    quadtile::Device device_;
    SceneBuffers scene_;
    vk::UniqueRenderPass surface_pass_;
    vk::UniqueRenderPass cleared_atlas_pass_;
    vk::UniqueRenderPass kept_atlas_pass_;
    app::GpuTimer timer_;
    std::unique_ptr<Targets> targets_;
    std::optional<float> second_;               // where what moves is; none: where it was made
    bool has_moved_ = false;                    // since the last frame
    std::optional<Technique> atlas_technique_;  // that has drawn the atlas last; none: nothing has

    vk::UniquePipeline surfaces_;
    vk::UniquePipeline view_depths_;
    vk::UniquePipeline clear_slots_;
    vk::UniquePipeline slots_;
    vk::UniquePipeline shade_;
};

}  // namespace quadtile::shadow
