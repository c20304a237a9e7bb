// Puts the renderer's pictures where they are seen: in a window, or in a file.

#pragma once

#include "mask_comparison.hpp"
#include "options.hpp"

#include <glm/vec2.hpp>

#include <optional>

namespace quadtile::shadow {

// A part of the picture, magnified.
struct Magnifier {
    vk::Rect2D area;
    glm::vec2 centre{0.0F};  // of what is shown, pixels of the picture
    float zoom = 8.0F;
};

// Small pictures of what is behind the picture, over it.
struct Insets {
    float wipe = 1.0F;  // where the other technique's picture begins: a share of the width
    std::optional<Magnifier> magnifier;
    std::optional<vk::Rect2D> light_view;  // the tiles of a light's map
    std::optional<vk::Rect2D> atlas;
    std::uint32_t light = 0;
    glm::vec2 centre{0.5F};      // of what the light view shows of the map, which is 0 to 1
    float zoom = 1.0F;           // of the light view; 1: all of the map
    bool shows_changes = false;  // of the tiles; else their levels
};

class Compositor {
 public:
    // Draws within render passes that are compatible with this one.
    Compositor(app::Gpu& gpu, vk::RenderPass render_pass);

    // A technique's picture, and where it is wrong; null: nothing is marked.
    struct Source {
        const Targets* targets = nullptr;
        const MaskComparison* comparison = nullptr;
    };
    // What is drawn: again after each Renderer::configure. `other`: at the right of the wipe; its
    // targets are null: there is no other technique. Waits for the device.
    void set_sources(const Source& source, const Source& other);

    // Within a render pass on a target of this extent, after a frame was recorded and made visible
    // to FRAGMENT_SHADER / SHADER_READ. With Display::sides the picture is drawn twice, else once,
    // from the target's upper left corner on.
    void draw(vk::CommandBuffer commands, vk::Extent2D target, Display display,
              const Insets& insets) const;

 private:
    app::Gpu& gpu_;
    app::ProgramInterface interface_;
    vk::UniquePipeline picture_pipeline_;
    vk::UniquePipeline light_view_pipeline_;
    vk::UniquePipeline atlas_pipeline_;
    vk::UniqueImageView page_table_;
    vk::Extent2D picture_extent_;
    bool has_other_ = false;
    std::uint32_t map_extent_ = 0;
    std::uint32_t atlas_extent_ = 0;
};

}  // namespace quadtile::shadow
