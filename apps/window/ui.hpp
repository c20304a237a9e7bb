// Dear ImGui on a program's device: fonts, style, and its drawing.

#pragma once

#include "gpu.hpp"
#include "swapchain.hpp"

namespace quadtile::app {

// The context of Dear ImGui; there is one. Mouse and keys come from InputBackend, or not at all.
class Ui {
 public:
    Ui();
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    // Sets the size of fonts and panels: pixels of this display per pixel of a display of 96 dots
    // per inch. Call it between detach() and attach().
    void set_scale(float scale);
    [[nodiscard]] float scale() const { return scale_; }

    // Attaches a device. draw() needs render passes that are compatible with `render_pass`.
    void attach(Gpu& gpu, vk::RenderPass render_pass, std::uint32_t image_count);
    // Attaches the window again if the scale has changed. Returns whether it has.
    bool follow_scale(float scale, Gpu& gpu, const Swapchain& swapchain);
    // Detaches the device. Call it when drawing has finished, before the device is destroyed.
    void detach();

    // Draws. Call it within a render pass, after ImGui::Render.
    static void draw(vk::CommandBuffer commands);

 private:
    float scale_ = 0.0F;
    bool is_attached_ = false;
    vk::UniqueDescriptorPool descriptor_pool_;
};

}  // namespace quadtile::app
