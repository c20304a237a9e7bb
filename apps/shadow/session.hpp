// What is shown, and how it is drawn on a device.

#pragma once

#include "compositor.hpp"
#include "renderer.hpp"
#include "tile_ages.hpp"

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

// What a session shows. A change of it may make buffers anew.
struct Shown {
    Display display = Display::shaded;
    std::optional<Technique> other;  // beside the first one, from the wipe on
};

// What the last frame was like.
struct FrameStatistics {
    std::optional<ShadowHeader> header;        // of Technique::fitted
    std::uint32_t atlas_cells = 0;             // that there are
    std::uint32_t max_tiles = 0;               // that there may be
    std::optional<MaskDifference> difference;  // where errors are shown
    Timings timings;
    // Of the other technique.
    std::optional<MaskDifference> other_difference;
    Timings other_timings;
};

// A show on a device: draws its frames, and says what they were like.
class Session {
 public:
    // `target` is what compose() draws on; the show must outlive this.
    Session(app::Gpu& gpu, const Show& show, vk::RenderPass render_pass, vk::Extent2D target,
            const Options& options);

    // Another size or other options, where they differ. Throws quadtile::Error for options that are
    // not allowed, and nothing has changed.
    void configure(vk::Extent2D target, const Shown& shown, const ShadowOptions& shadows);

    // Draws a frame, and waits for it. FrameSettings::picture is chosen here, by the display that
    // was configured. `samples`: of rays to each light that has an extent; `mark_pixels`: as
    // MaskComparison::record.
    void draw(FrameSettings settings, std::uint32_t samples, std::uint32_t mark_pixels);
    [[nodiscard]] const FrameStatistics& statistics() const { return statistics_; }

    // Of the last frame; none of other techniques than fitted.
    [[nodiscard]] std::span<const ShadowTile> tiles() const { return tiles_; }
    [[nodiscard]] const TileAges& tile_ages() const { return tile_ages_; }
    // The point that a pixel of the last frame shows; none: the background. Waits for the device.
    [[nodiscard]] std::optional<glm::vec3> point_at(const Camera& camera,
                                                    const glm::uvec2& pixel) const;
    // Where a point of the world is in the picture; none: behind the camera.
    [[nodiscard]] std::optional<glm::vec2> pixel_of(const Camera& camera,
                                                    const glm::vec3& point) const;
    // Where the first technique is wrong in the last frame; none where errors are not shown. Waits
    // for the device.
    [[nodiscard]] std::vector<ErrorPlace> error_places() const;

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
        return shown_.display == Display::error || shown_.display == Display::sides;
    }
    void prepare(const FrameSettings& settings);
    void record(vk::CommandBuffer commands, const FrameSettings& settings, std::uint32_t samples,
                std::uint32_t mark_pixels);
    void record_tiles(vk::CommandBuffer commands) const;
    void read_statistics(const FrameSettings& settings);
    [[nodiscard]] glm::mat4 clip_from_world(const Camera& camera) const;
    void copy(vk::Image image, vk::ImageLayout layout, vk::ImageAspectFlags aspect,
              const vk::Rect2D& area, const app::Buffer& target) const;

    app::Gpu& gpu_;
    const Show& show_;
    quadtile::Device device_;
    Shown shown_;
    Renderer renderer_;
    std::unique_ptr<Renderer> other_;  // of the other technique, with maps of its own
    std::unique_ptr<RayCaster> rays_;  // once errors, or Technique::rays, have been asked for
    MaskComparison comparison_;
    MaskComparison other_comparison_;
    app::Buffer read_tiles_;
    std::vector<ShadowTile> tiles_;
    TileAges tile_ages_;
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
