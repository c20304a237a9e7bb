// A show on a device: draws its frames, and says what they were like.

#pragma once

#include "compositor.hpp"
#include "show.hpp"

#include <quadtile/device.hpp>

#include <memory>
#include <optional>
#include <string>

namespace quadtile::shadow {

// What the last frame was like.
struct FrameStatistics {
    std::optional<ShadowHeader> header;        // of Technique::fitted
    std::uint32_t atlas_cells = 0;             // that there are
    std::uint32_t max_tiles = 0;               // that there may be
    std::optional<MaskDifference> difference;  // where errors are shown
    Timings timings;
};

class Session {
 public:
    // `target` is what compose() draws on; the show must outlive this.
    Session(app::Gpu& gpu, const Show& show, vk::RenderPass render_pass, vk::Extent2D target,
            const Options& options);

    // Another size or other options, where they differ. Throws quadtile::Error for options that are
    // not allowed, and nothing has changed.
    void configure(vk::Extent2D target, Display display, const ShadowOptions& shadows);

    // Draws a frame, and waits for it. FrameSettings::picture is chosen here, by the display that
    // was configured.
    void draw(FrameSettings settings);
    [[nodiscard]] const FrameStatistics& statistics() const { return statistics_; }

    // Where a point of the world lies on a light's map, 0 to 1; its middle for what the light does
    // not see.
    [[nodiscard]] glm::vec2 place_on_map(const FrameSettings& settings, std::uint32_t light,
                                         const glm::vec3& point) const;

    // Within a render pass on the target: the frame that was drawn last.
    void compose(vk::CommandBuffer commands, vk::Extent2D target, const Insets& insets) const;

    [[nodiscard]] const ShadowOptions& shadows() const { return renderer_.options(); }
    [[nodiscard]] vk::Extent2D picture_extent() const { return renderer_.pictures().extent; }
    [[nodiscard]] const std::string& device_name() const { return device_.info().name; }

 private:
    [[nodiscard]] bool shows_errors() const {
        return display_ == Display::error || display_ == Display::sides;
    }
    void record(vk::CommandBuffer commands, const FrameSettings& settings);

    app::Gpu& gpu_;
    const Show& show_;
    quadtile::Device device_;
    Display display_;
    Renderer renderer_;
    std::unique_ptr<RayCaster> rays_;  // once errors have been asked for
    Compositor compositor_;
    bool is_bound_ = false;  // the compositor has what the renderer draws now
    FrameStatistics statistics_;
};

}  // namespace quadtile::shadow
