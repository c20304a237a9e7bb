// The pictures of a window, and the frames that are on their way to it.

#pragma once

#include "gpu.hpp"

#include <array>
#include <functional>
#include <vector>

namespace quadtile::app {

class Swapchain {
 public:
    // `extent` is that of the window, where the surface leaves it open. The surface stays the
    // caller's.
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

    // For another size of the window, and where the swapchain does not fit it any more. extent() is
    // 0 then where the window is minimised: there is nothing to show() in.
    void resize(vk::Extent2D extent);

    // Records by `draw`, within a render pass that begins with the background, and presents.
    // Returns false where the window has changed: nothing, or something distorted, was shown, and
    // resize() is to be called.
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
