// The one render pass of pictures with panels.

#pragma once

#include "gpu.hpp"

#include <array>

namespace quadtile::app {

// What such pictures are cleared with.
constexpr std::array BACKGROUND{0.105F, 0.11F, 0.12F, 1.0F};

// A render pass with one colour image, which is cleared, and left in `final_layout`.
[[nodiscard]] vk::UniqueRenderPass make_render_pass(vk::Device device, vk::Format format,
                                                    vk::ImageLayout final_layout);

}  // namespace quadtile::app
