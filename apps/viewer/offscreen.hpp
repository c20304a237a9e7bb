// A picture that is drawn without a window, and comes back to the host.

#pragma once

#include "gpu.hpp"

#include "picture.hpp"

#include <functional>

namespace quadtile::viewer {

// Around the map.
constexpr std::array BACKGROUND{0.105F, 0.11F, 0.12F, 1.0F};

// Draws within a render pass that begins with the background, and waits. `format` is
// R8G8B8A8_UNORM or B8G8R8A8_UNORM: that of the pipelines. Throws std::runtime_error for pictures
// that are too large for the device.
[[nodiscard]] app::Picture render_picture(app::Gpu& gpu, vk::Format format, vk::Extent2D extent,
                                          const std::function<void(vk::CommandBuffer)>& draw);

}  // namespace quadtile::viewer
