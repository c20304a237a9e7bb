// Shows of scenes, and their drawing on a device.

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
    std::vector<std::filesystem::path> files;  // named by the scene's file
};

// Loads a show and prints warnings. Throws std::runtime_error for a faulty file, with its name, and
// UsageError if an output file is a file of the scene.
[[nodiscard]] Show load_show(const Options& options);

// Returns the first camera.
[[nodiscard]] Camera first_camera(const Options& options, const Show& show);

// Configuration of a session. A change may recreate buffers.
struct Shown {
    Display display = Display::shaded;
    std::optional<Technique> other;  // beside the first one, from the wipe on
};

// Statistics of the last frame.
struct FrameStatistics {
    std::optional<ShadowHeader> header;        // of Technique::fitted
    std::uint32_t atlas_cells = 0;             // in the atlas
    std::uint32_t max_tiles = 0;               // the budget
    std::optional<MaskDifference> difference;  // if errors are shown
    Timings timings;
    // The other technique's values.
    std::optional<MaskDifference> other_difference;
    Timings other_timings;
};

// Draws the frames of a show on a device, and measures them.
class Session {
 public:
    // compose() draws on `target`; the show must outlive the session.
    Session(app::Gpu& gpu, const Show& show, vk::RenderPass render_pass, vk::Extent2D target,
            const Options& options);

    // Changes size or options. Throws quadtile::Error for refused options, and then changes
    // nothing.
    void configure(vk::Extent2D target, const Shown& shown, const ShadowOptions& shadows);

    // Draws a frame, and waits for it. Sets FrameSettings::picture by the configured display.
    // `samples`: rays to each light with an extent; `mark_pixels`: as in MaskComparison::record.
    void draw(FrameSettings settings, std::uint32_t samples, std::uint32_t mark_pixels);
    [[nodiscard]] const FrameStatistics& statistics() const { return statistics_; }

    // Tiles of the last frame; none for techniques other than fitted.
    [[nodiscard]] std::span<const ShadowTile> tiles() const { return tiles_; }
    [[nodiscard]] const TileAges& tile_ages() const { return tile_ages_; }
    // Returns the point shown by a pixel of the last frame; none for background. Waits for the
    // device.
    [[nodiscard]] std::optional<glm::vec3> point_at(const Camera& camera,
                                                    const glm::uvec2& pixel) const;
    // Returns the pixel of a point of the world; none behind the camera.
    [[nodiscard]] std::optional<glm::vec2> pixel_of(const Camera& camera,
                                                    const glm::vec3& point) const;
    // Returns the first technique's errors in the last frame; none if errors are not shown. Waits
    // for the device.
    [[nodiscard]] std::vector<ErrorPlace> error_places() const;

    // Returns the place of a point of the world on a light's map, 0 to 1; the middle if the light
    // does not see it.
    [[nodiscard]] glm::vec2 place_on_map(const FrameSettings& settings, std::uint32_t light,
                                         const glm::vec3& point) const;

    // Draws the last frame within a render pass on the target.
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
    std::unique_ptr<RayCaster> rays_;  // from the first use of errors or Technique::rays on
    MaskComparison comparison_;
    MaskComparison other_comparison_;
    app::Buffer read_tiles_;
    std::vector<ShadowTile> tiles_;
    TileAges tile_ages_;
    Compositor compositor_;
    bool is_bound_ = false;  // the compositor has the renderer's current targets
    FrameStatistics statistics_;
};

// ---- Two ways to show a scene; both return the number of messages of the validation layer

// Draws Options::screenshot or Options::record, without a window. Throws std::runtime_error for
// files that cannot be read or written, and if there is no device.
std::uint32_t run_screenshot(const Options& options);

// Shows the scene in a window, until the user leaves. Throws std::runtime_error if there is no
// window system or no device for it; the message names --screenshot.
std::uint32_t run_window(const Options& options);

}  // namespace quadtile::shadow
