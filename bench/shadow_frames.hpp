// Frames of the renderer with shadows, and what rays say of them.

#pragma once

#include "ray_caster.hpp"
#include "renderer.hpp"

#include <filesystem>
#include <span>
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
    // As compare; the picture to a file.
    void save_picture(const FrameSettings& settings, const std::filesystem::path& path);

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
    app::Buffer first_copy_;
    app::Buffer second_copy_;
};

}  // namespace quadtile::shadow
