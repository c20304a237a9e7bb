// Composition of the renderer's pictures in a window or a file.

#pragma once

#include "mask_comparison.hpp"
#include "options.hpp"

#include <glm/vec2.hpp>

#include <optional>

namespace quadtile::shadow {

// Magnified part of the picture.
struct Magnifier {
    vk::Rect2D area;
    glm::vec2 centre{0.0F};  // of the shown part, pixels of the picture
    float zoom = 8.0F;
};

// Small pictures over the picture.
struct Insets {
    float wipe = 1.0F;  // begin of the other technique's picture, as a share of the width
    std::optional<Magnifier> magnifier;
    std::optional<vk::Rect2D> light_view;  // the tiles of a light's map
    std::optional<vk::Rect2D> atlas;
    std::uint32_t light = 0;
    glm::vec2 centre{0.5F};      // of the light view on the map, 0 to 1
    float zoom = 1.0F;           // of the light view; 1: all of the map
    bool shows_changes = false;  // of tiles; else their levels
};

class Compositor {
 public:
    // Makes pipelines for render passes that are compatible with this one.
    Compositor(app::Gpu& gpu, vk::RenderPass render_pass);

    // A technique's picture and the marks of its errors; null: no marks.
    struct Source {
        const Targets* targets = nullptr;
        const MaskComparison* comparison = nullptr;
    };
    // Sets the sources; call it after each Renderer::configure. `other` is at the right of the
    // wipe; null targets: no other technique. Waits for the device.
    void set_sources(const Source& source, const Source& other);

    // Draws within a render pass on a target of this extent, from its upper left corner on. The
    // frame was recorded and made visible to FRAGMENT_SHADER / SHADER_READ before. Display::sides
    // draws the picture twice.
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
