// Frames of the renderer with shadows, what rays say of them, and what is measured along a flight.

#pragma once

#include "mask_comparison.hpp"
#include "renderer.hpp"
#include "tables.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::shadow {

// A mask of the renderer and that of rays, of one frame.
struct Masks {
    std::vector<std::uint32_t> drawn;
    std::vector<std::uint32_t> cast;
};

// A device, a scene and its renderer; frames are waited for.
class ShadowFrames {
 public:
    ShadowFrames(const Geometry& geometry, vk::Extent2D extent, const ShadowOptions& options,
                 bool validation);

    // Where the options are others, the renderer forgets all frames.
    void configure(const ShadowOptions& options) { renderer_.configure(extent_, options); }

    void draw(const FrameSettings& settings);
    // With rays: how far the mask is from theirs.
    MaskDifference compare(const FrameSettings& settings);
    // As compare, with the masks themselves.
    Masks masks(const FrameSettings& settings);
    // As compare; the picture to a file, with the pixels that are wrong in red if `marks_errors`.
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
    // Images of four bytes a pixel, in layout GENERAL, to a buffer that the host reads.
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

// A technique, and what is particular about it.
struct Variant {
    std::string name;
    Technique technique = Technique::fitted;
    bool has_hysteresis = true;
};

// How a flight is filmed.
struct Filming {
    Flight flight;
    std::vector<Light> lights;
    std::uint32_t frames = 60;       // spread over the flight, that are compared with rays
    float frames_per_second = 0.0F;  // of them; 0: spread
    float seconds = 0.0F;            // of the flight at 60 frames a second, for churn and times
    std::uint32_t flicker_poses = 8;
    std::uint32_t flicker_frames = 16;  // at each of the poses
};

class Measurements {
 public:
    Measurements(ShadowFrames& frames, const ShadowOptions& options, const Filming& filming)
        : frames_(frames), options_(options), filming_(filming) {}

    // Against rays, in percent of the pixels with surfaces.
    [[nodiscard]] bench::Row errors(const Variant& variant);

    struct Run {
        // Of consecutive frames, but for the first, which finds nothing. "changed": added, removed
        // and resized; "factor": that resolutions were divided by; "used_%": of the atlas.
        bench::Row tiles;
        bench::Row microseconds;  // of the GPU
    };
    [[nodiscard]] Run run(const Variant& variant);

    // While the camera trembles by less than a pixel: pixels, with a surface in both frames, whose
    // shadows change from one frame to the next, a frame. Shadows' edges move in the picture, so
    // some do by rays, too; what is more than these flickers.
    [[nodiscard]] bench::Row flicker(const Variant& variant);

    // Of so many places of the flight: shaded, wrong pixels, and tiles.
    void save_pictures(const Variant& variant, std::uint32_t count,
                       const std::filesystem::path& directory);

 private:
    [[nodiscard]] FrameSettings begin(const Variant& variant);
    // Of `count` places, from the first pose to the last.
    void lead_in(FrameSettings& settings, std::uint32_t i);
    [[nodiscard]] Camera camera_at(std::uint32_t i, std::uint32_t count) const;

    ShadowFrames& frames_;
    ShadowOptions options_;
    const Filming& filming_;
};

}  // namespace quadtile::shadow
