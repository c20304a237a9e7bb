// Frames of the renderer with shadows, their comparison with rays, and measurements along a flight.

#pragma once

#include "mask_comparison.hpp"
#include "renderer.hpp"
#include "tables.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::shadow {

// Masks of one frame, by the renderer and by rays.
struct Masks {
    std::vector<std::uint32_t> drawn;
    std::vector<std::uint32_t> cast;
};

// A device, a scene and its renderer. Calls wait for their frame.
class ShadowFrames {
 public:
    ShadowFrames(const Geometry& geometry, vk::Extent2D extent, const ShadowOptions& options,
                 bool validation);

    // Sets the options. If they have changed, the renderer forgets all frames.
    void configure(const ShadowOptions& options) { renderer_.configure(extent_, options); }

    void draw(const FrameSettings& settings);
    // Draws a frame and compares its mask with that of rays.
    MaskDifference compare(const FrameSettings& settings);
    // Draws and compares a frame. Also returns the masks.
    Masks masks(const FrameSettings& settings);
    // Draws a frame and writes the picture; `marks_errors`: with the wrong pixels in red.
    void save_picture(const FrameSettings& settings, const std::filesystem::path& path,
                      bool marks_errors = false);

    [[nodiscard]] const Renderer& renderer() const { return renderer_; }
    [[nodiscard]] std::string device_name() const;
    [[nodiscard]] bool has_timestamps() const { return gpu_.timestamp_milliseconds() > 0.0; }
    [[nodiscard]] std::uint32_t validation_messages() const {
        return instance_.validation_messages();
    }

 private:
    void record_compared(vk::CommandBuffer commands, const FrameSettings& settings);
    // Copies images of four bytes per pixel, in layout GENERAL, to a buffer that the host reads.
    void record_copy(vk::CommandBuffer commands, vk::Image image, const app::Buffer& buffer) const;
    [[nodiscard]] app::Buffer make_copy_buffer() const;

    app::Instance instance_;
    app::Gpu gpu_;
    quadtile::Device device_;
    vk::Extent2D extent_;
    Renderer renderer_;
    RayCaster caster_;
    MaskComparison comparison_;
    app::Buffer first_copy_;
    app::Buffer second_copy_;
};

// A technique and its option.
struct Variant {
    std::string name;
    Technique technique = Technique::fitted;
    bool has_hysteresis = true;
};

// Parameters of a flight.
struct Filming {
    Flight flight;
    std::vector<Light> lights;
    std::uint32_t frames = 60;       // frames that are compared with rays, spread over the flight
    float frames_per_second = 0.0F;  // of these frames; 0: spread
    float seconds = 0.0F;            // of the flight at 60 frames per second, for churn and times
    float sun_degrees_per_second = 0.0F;  // around the vertical axis
    std::uint32_t flicker_poses = 8;
    std::uint32_t flicker_frames = 16;  // per pose
};

class Measurements {
 public:
    Measurements(ShadowFrames& frames, const ShadowOptions& options, const Filming& filming)
        : frames_(frames), options_(options), filming_(filming) {}

    // Measures errors against rays, in percent of the pixels with surfaces; those of "settled"
    // after camera and sun have stood still.
    [[nodiscard]] bench::Row errors(const Variant& variant);

    struct Run {
        // Per frame, without the first, which finds nothing. "changed": tiles added, removed and
        // resized; "factor": divisor of resolutions; "used_%": share of the atlas.
        bench::Row tiles;
        bench::Row microseconds;  // GPU times
    };
    [[nodiscard]] Run run(const Variant& variant);

    // Counts pixels per frame whose shadow changes while the camera trembles by less than a pixel
    // and whose surfaces are in both frames. Shadow edges move in the picture, so some change with
    // rays, too; the excess flickers.
    [[nodiscard]] bench::Row flicker(const Variant& variant);

    // Writes shaded pictures, wrong pixels and tiles of `count` places of the flight.
    void save_pictures(const Variant& variant, std::uint32_t count,
                       const std::filesystem::path& directory);

 private:
    [[nodiscard]] FrameSettings begin(const Variant& variant);
    // Sets camera and sun of a second of the flight.
    void set_second(FrameSettings& settings, float second) const;
    void lead_in(FrameSettings& settings, std::uint32_t i);
    // Returns place i of `count` places, from the first pose to the last.
    [[nodiscard]] Camera camera_at(std::uint32_t i, std::uint32_t count) const;

    ShadowFrames& frames_;
    ShadowOptions options_;
    const Filming& filming_;
};

}  // namespace quadtile::shadow
