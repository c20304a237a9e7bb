// Renderer of a scene with shadows: the depth buffer, the shadow maps fitted to it, then the
// picture, in one command buffer.

#pragma once

#include "targets.hpp"

#include <memory>
#include <optional>

namespace quadtile::shadow {

// GPU times of the last measured frame in microseconds; 0 without timestamps.
struct Timings {
    double depth = 0.0;  // the camera's depth buffer and normals
    double fit = 0.0;    // importance to page table (ShadowFitter::record)
    double cull = 0.0;   // ShadowFitter::record_cull
    double maps = 0.0;   // drawing into the shadow maps
    double shade = 0.0;  // the picture
};

class Renderer {
 public:
    // Copies the geometry to the device. The atlas has ShadowOptions::atlas_extent; the other
    // techniques divide an image of the same size among their maps.
    Renderer(app::Gpu& gpu, const quadtile::Device& device, const Geometry& geometry,
             vk::Extent2D extent, const ShadowOptions& options);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    // Changes size or options. A change waits for the device and forgets the last frame. Throws
    // quadtile::Error for refused options, and then changes nothing.
    void configure(vk::Extent2D extent, const ShadowOptions& options);

    // Records a frame. The maps of all techniques are in one image, so the first fitted frame after
    // another technique draws all of its tiles. The last frame must have executed, or be earlier on
    // the same queue. Technique::rays needs `traced_light` (shaders/light.h), the view of
    // RayCaster::light, in layout GENERAL, made from the depth of this frame; see record_depth.
    void record(vk::CommandBuffer commands, const FrameSettings& settings);
    // Record the two halves of record, for ray casting between them.
    void record_depth(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                        vk::ImageView traced_light = {});

    // Returns the targets, for other passes.
    [[nodiscard]] const Targets& targets() const { return *targets_; }
    // Returns the times of the last executed frame, without waiting.
    [[nodiscard]] Timings timings() const;
    // Returns the header of the last executed frame; every frame copies it to the host.
    [[nodiscard]] ShadowHeader header() const;

    // Returns the clip spaces of the lights.
    [[nodiscard]] std::vector<ShadowProjection> projections(const FrameSettings& settings) const;
    // Returns the fitter's frame.
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
    std::optional<float> second_;               // of moving objects; none: their first place
    bool has_moved_ = false;                    // since the last frame
    std::optional<Technique> atlas_technique_;  // of the atlas; none: not drawn yet

    vk::UniquePipeline surfaces_;
    vk::UniquePipeline view_depths_;
    vk::UniquePipeline clear_slots_;
    vk::UniquePipeline slots_;
    vk::UniquePipeline shade_;
};

}  // namespace quadtile::shadow
