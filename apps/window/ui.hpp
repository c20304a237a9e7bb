// Dear ImGui on a program's device: fonts, style, and its drawing.

#pragma once

#include "gpu.hpp"
#include "swapchain.hpp"

namespace quadtile::app {

// The one context of Dear ImGui. Mouse and keys come from elsewhere (InputBackend), or not at all.
class Ui {
 public:
    Ui();
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    // The size of fonts and panels: what one pixel of a display of 96 dots per inch is. Between
    // detach() and attach().
    void set_scale(float scale);
    [[nodiscard]] float scale() const { return scale_; }

    // Starts to draw within render passes that are compatible with this one.
    void attach(Gpu& gpu, vk::RenderPass render_pass, std::uint32_t image_count);
    // To a window, in place of what it is attached to with another scale; tells whether it did.
    bool follow_scale(float scale, Gpu& gpu, const Swapchain& swapchain);
    // Before the device goes; what it draws must have been drawn.
    void detach();

    // Within a render pass, after ImGui::Render.
    static void draw(vk::CommandBuffer commands);

 private:
    float scale_ = 0.0F;
    bool is_attached_ = false;
    vk::UniqueDescriptorPool descriptor_pool_;
};

}  // namespace quadtile::app
