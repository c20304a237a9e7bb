// What is shown, and how it is drawn on a device.

#pragma once

#include "compositor.hpp"
#include "renderer.hpp"

#include <quadtile/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::shadow {

// A scene, its lights, a flight through it.
struct Show {
    std::string name;
    Geometry geometry;
    Flight flight;
    std::vector<Light> lights;  // the sun first
    std::vector<std::string> warnings;
    std::vector<std::filesystem::path> files;  // that the scene's file names
};

// Prints the warnings. Throws std::runtime_error with the file and what is wrong with it,
// UsageError where a file of the scene is to be written.
[[nodiscard]] Show load_show(const Options& options);

// Where the camera begins.
[[nodiscard]] Camera first_camera(const Options& options, const Show& show);

// What the last frame was like.
struct FrameStatistics {
    std::optional<ShadowHeader> header;        // of Technique::fitted
    std::uint32_t atlas_cells = 0;             // that there are
    std::uint32_t max_tiles = 0;               // that there may be
    std::optional<MaskDifference> difference;  // where errors are shown
    Timings timings;
};

// A show on a device: draws its frames, and says what they were like.
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

    [[nodiscard]] const ShadowOptions& shadows() const { return renderer_.targets().options; }
    [[nodiscard]] vk::Extent2D picture_extent() const { return renderer_.targets().extent; }
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

// ---- The two ways to show a scene; both return the messages of the validation layer

// Draws Options::screenshot or Options::record, without a window. Throws std::runtime_error for
// files that cannot be read or written, and where there is no device.
std::uint32_t run_screenshot(const Options& options);

// In a window, until the user leaves. Throws std::runtime_error where there is no window system, or
// no device for it; the message names --screenshot.
std::uint32_t run_window(const Options& options);

}  // namespace quadtile::shadow
