// Pictures with panels: their render pass; a window's swapchain with its in-flight frames; pictures
// without a window, which are read back.

#pragma once

#include "gpu.hpp"
#include "picture.hpp"

#include <array>
#include <functional>
#include <vector>

namespace quadtile::app {

// Clear colour of these pictures.
constexpr std::array BACKGROUND{0.105F, 0.11F, 0.12F, 1.0F};

// Makes a render pass with one colour image, which it clears and leaves in `final_layout`.
[[nodiscard]] vk::UniqueRenderPass make_render_pass(vk::Device device, vk::Format format,
                                                    vk::ImageLayout final_layout);

// Begins such a render pass.
void begin_with_background(vk::CommandBuffer commands, vk::RenderPass pass,
                           vk::Framebuffer framebuffer, vk::Extent2D extent);

// Returns the extent. Throws std::runtime_error if it is too large for the device.
[[nodiscard]] vk::Extent2D checked_extent(const Gpu& gpu, vk::Extent2D extent);

// Draws a picture within a render pass that begins with the background, and waits for it. `format`,
// also that of the pipelines, is R8G8B8A8_UNORM or B8G8R8A8_UNORM. Throws as checked_extent.
[[nodiscard]] Picture render_picture(Gpu& gpu, vk::Format format, vk::Extent2D extent,
                                     const std::function<void(vk::CommandBuffer)>& draw);

class Swapchain {
 public:
    // `extent`: the window's, used if the surface leaves it open. The caller keeps the surface.
    Swapchain(Gpu& gpu, vk::SurfaceKHR surface, vk::Extent2D extent);
    ~Swapchain();
    Swapchain(const Swapchain&) = delete;
    Swapchain& operator=(const Swapchain&) = delete;

    [[nodiscard]] vk::Format format() const { return format_.format; }
    [[nodiscard]] vk::RenderPass render_pass() const { return *render_pass_; }
    [[nodiscard]] vk::Extent2D extent() const { return extent_; }
    [[nodiscard]] std::uint32_t image_count() const {
        return static_cast<std::uint32_t>(images_.size());
    }

    // Makes the swapchain anew. Call it if the size of the window has changed, or if show()
    // returned false. If the window is minimised, extent() is 0 afterwards, and show() must not be
    // called.
    void resize(vk::Extent2D extent);

    // Records `draw` within a render pass that begins with the background, and presents the
    // picture. Returns false if the swapchain no longer fits the window: the picture was not shown,
    // or was distorted. Call resize() then.
    [[nodiscard]] bool show(const std::function<void(vk::CommandBuffer)>& draw);

 private:
    static constexpr std::size_t FRAMES_IN_FLIGHT = 2;

    struct PresentedImage {
        vk::UniqueImageView view;
        vk::UniqueFramebuffer framebuffer;
        vk::UniqueSemaphore drawn;
    };
    struct Frame {
        vk::UniqueCommandBuffer commands;
        vk::UniqueSemaphore acquired;
        vk::UniqueFence done;
    };

    void make_images();

    Gpu& gpu_;
    vk::SurfaceKHR surface_;
    vk::SurfaceFormatKHR format_;
    vk::UniqueRenderPass render_pass_;
    vk::UniqueSwapchainKHR swapchain_;
    vk::Extent2D extent_;
    std::vector<PresentedImage> images_;
    vk::UniqueCommandPool command_pool_;
    std::array<Frame, FRAMES_IN_FLIGHT> frames_;
    std::size_t frame_ = 0;
};

}  // namespace quadtile::app
