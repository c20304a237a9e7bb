// The one render pass of pictures with panels, and pictures that are drawn by it without a window
// and come back to the host.

#pragma once

#include "gpu.hpp"
#include "picture.hpp"

#include <array>
#include <functional>

namespace quadtile::app {

// What such pictures are cleared with.
constexpr std::array BACKGROUND{0.105F, 0.11F, 0.12F, 1.0F};

// A render pass with one colour image, which is cleared, and left in `final_layout`.
[[nodiscard]] vk::UniqueRenderPass make_render_pass(vk::Device device, vk::Format format,
                                                    vk::ImageLayout final_layout);

// Begins such a render pass.
void begin_with_background(vk::CommandBuffer commands, vk::RenderPass pass,
                           vk::Framebuffer framebuffer, vk::Extent2D extent);

// Returns the extent. Throws std::runtime_error for pictures that are too large for the device.
[[nodiscard]] vk::Extent2D checked_extent(const Gpu& gpu, vk::Extent2D extent);

// Draws within a render pass that begins with the background, and waits. `format` is
// R8G8B8A8_UNORM or B8G8R8A8_UNORM: that of the pipelines. Throws as checked_extent.
[[nodiscard]] Picture render_picture(Gpu& gpu, vk::Format format, vk::Extent2D extent,
                                     const std::function<void(vk::CommandBuffer)>& draw);

}  // namespace quadtile::app
