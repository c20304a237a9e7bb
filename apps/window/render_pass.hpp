// The render pass of pictures with panels, and its pictures without a window, which are read back.

#pragma once

#include "gpu.hpp"
#include "picture.hpp"

#include <array>
#include <functional>

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

}  // namespace quadtile::app
