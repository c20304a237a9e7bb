// A window's swapchain and its in-flight frames.

#pragma once

#include "gpu.hpp"

#include <array>
#include <functional>
#include <vector>

namespace quadtile::app {

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
