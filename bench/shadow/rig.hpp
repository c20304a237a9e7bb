// Frames with shadows by several techniques, and their comparison with rays.

#pragma once

#include "cascades.hpp"
#include "rays.hpp"
#include "renderer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace quadtile::shadow {

// Counts of pixels with surfaces.
struct Difference {
    std::uint32_t surfaces = 0;
    std::uint32_t undecided = 0;  // for a light; it counts for no technique there
    std::uint32_t wrong = 0;      // a light's hard shadow is not that of a ray
    std::uint32_t wrongly_shadowed = 0;

    [[nodiscard]] double share_wrong() const {
        return surfaces == 0 ? 0.0 : static_cast<double>(wrong) / surfaces;
    }
};

// A frame's receivers, row by row, and what rays tell of them.
struct Comparison {
    std::vector<Receiver> receivers;
    std::vector<Rays::Truth> truth;

    // `lights`: a bit for each one that counts.
    [[nodiscard]] Difference difference(std::uint32_t lights = ~0U) const;
};

// A device. One at a time.
struct Machine {
    explicit Machine(bool validation)
        : instance("quadtile_shadow_rig", {}, validation), gpu(instance, {}, {}) {}

    app::Instance instance;
    app::Gpu gpu;
    quadtile::Device device = quadtile::Device::adopt(gpu.for_quadtile());
};

// A scene and its renderer, and one image of the atlas's extent for the maps of the other
// techniques. Calls wait for their frame.
class Rig {
 public:
    Rig(Machine& machine, const Geometry& geometry, vk::Extent2D extent,
        const ShadowOptions& options);
    ~Rig();
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    // Sets the options. If they have changed, the renderer forgets all frames.
    void configure(const ShadowOptions& options);

    // Draws a frame; other techniques than `fitted` draw surfaces and maps only, and the first
    // light must be a sun.
    void draw(const FrameSettings& settings, Technique technique = Technique::fitted);
    // Draws a frame, and returns its receivers.
    [[nodiscard]] std::vector<Receiver> receivers(const FrameSettings& settings,
                                                  Technique technique = Technique::fitted);
    // The same with rays. Moving boxes are where the frame has them.
    [[nodiscard]] Comparison compare(const FrameSettings& settings,
                                     Technique technique = Technique::fitted);

    // Returns the times of the last call of draw. Those of other techniques have `maps` only.
    [[nodiscard]] Timings timings() const;

    [[nodiscard]] Renderer& renderer() { return renderer_; }

 private:
    void make_resources();
    void record(vk::CommandBuffer commands, const FrameSettings& settings, Technique technique);
    void record_views(vk::CommandBuffer commands, const std::vector<DrawnView>& views);
    void record_receivers(vk::CommandBuffer commands, const FrameSettings& settings,
                          Technique technique);
    [[nodiscard]] std::vector<DrawnView> views_of(const FrameSettings& settings,
                                                  Technique technique) const;

    app::Gpu& gpu_;
    vk::Extent2D extent_;
    Geometry geometry_;
    Renderer renderer_;
    Rays rays_;
    app::GpuTimer timer_;
    Technique last_drawn_ = Technique::fitted;

    vk::UniqueRenderPass views_pass_;
    CasterPipelines view_depths_;
    app::ProgramInterface interface_;  // of receivers.comp
    vk::UniquePipeline find_receivers_;
    app::Buffer frame_;
    app::Buffer receivers_;
    app::Image maps_;
    vk::UniqueFramebuffer maps_framebuffer_;
};

}  // namespace quadtile::shadow
