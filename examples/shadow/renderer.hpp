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

// Pipelines for triangles without holes and with holes.
struct CasterPipelines {
    vk::UniquePipeline whole;
    vk::UniquePipeline masked;
};

// Makes pipelines that draw depths. The layout is that of Targets::interface.
[[nodiscard]] CasterPipelines make_depth_pipelines(const app::Gpu& gpu, vk::PipelineLayout layout,
                                                   vk::RenderPass pass, app::SpirV vertex_shader);

class Renderer {
 public:
    // Copies the geometry to the device. Throws std::runtime_error, with the remedy, if the device
    // cannot draw it.
    Renderer(app::Gpu& gpu, const quadtile::Device& device, const Geometry& geometry,
             vk::Extent2D extent, const ShadowOptions& options);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    // Changes size or options. A change waits for the device and forgets the last frame. Throws
    // quadtile::Error for refused options, and then changes nothing.
    void configure(vk::Extent2D extent, const ShadowOptions& options);

    // Records a frame. The last frame must have executed, or be earlier on the same queue.
    void record(vk::CommandBuffer commands, const FrameSettings& settings);
    // Record the parts of a frame, for a caller who has work of its own between them.
    void record_surfaces(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_shadows(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_picture(vk::CommandBuffer commands) const;

    [[nodiscard]] const SceneBuffers& scene() const { return scene_; }
    // Returns the targets, for other passes.
    [[nodiscard]] const Targets& targets() const { return *targets_; }
    // Returns the times of the last executed frame, without waiting.
    [[nodiscard]] Timings timings() const;
    // Returns the header of the last executed frame; every frame copies it to the host.
    [[nodiscard]] ShadowHeader header() const;

    // Returns the fitter's frame.
    [[nodiscard]] ShadowFrame shadow_frame(const FrameSettings& settings) const;

 private:
    void make_pipelines();
    void begin_pass(vk::CommandBuffer commands, vk::RenderPass pass, vk::Framebuffer framebuffer,
                    vk::Extent2D extent, std::span<const vk::ClearValue> clear) const;
    void check(const FrameSettings& settings) const;
    void record_changes(vk::CommandBuffer commands, const FrameSettings& settings);
    [[nodiscard]] std::uint32_t first_cluster() const {
        return has_leaves_ ? 0 : scene_.masked_clusters;
    }
    void record_fit(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_slots(vk::CommandBuffer commands);
    // Begins a pass and clears slots. `cleared`: offset of that draw in the header.
    void begin_atlas_pass(vk::CommandBuffer commands, const Atlas& atlas,
                          vk::DeviceSize cleared) const;
    // Draws clusters `first` to `count`. Those before `masked_count` have holes.
    void draw_casters(vk::CommandBuffer commands, const app::Buffer& draws, std::uint32_t first,
                      std::uint32_t masked_count, std::uint32_t count) const;
    void record_header(vk::CommandBuffer commands) const;
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
    std::optional<float> second_;  // of moving boxes; none: their first place
    bool has_leaves_ = true;
    bool has_changed_ = false;  // since the last frame: casters
    bool has_atlas_ = false;    // whether a frame has drawn it

    CasterPipelines surfaces_;
    vk::UniquePipeline clear_slots_;
    CasterPipelines slots_;
    vk::UniquePipeline merge_atlases_;  // if boxes move
    vk::UniquePipeline shade_;
};

// Draws the clusters from `first` on that a clip space may see. Casters nearer than its depth 0
// count. Descriptors, push constants and buffers of `scene` are bound.
void draw_visible(vk::CommandBuffer commands, const SceneBuffers& scene,
                  const CasterPipelines& pipelines, const glm::mat4& clip_from_world,
                  std::size_t first = 0);

void set_viewport(vk::CommandBuffer commands, const vk::Rect2D& area);

}  // namespace quadtile::shadow
