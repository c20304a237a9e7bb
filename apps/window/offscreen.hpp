// A picture that is drawn without a window, and comes back to the host.

#pragma once

#include "gpu.hpp"

#include "picture.hpp"

#include <functional>

namespace quadtile::app {

// Returns the extent. Throws std::runtime_error for pictures that are too large for the device.
[[nodiscard]] vk::Extent2D checked_extent(const Gpu& gpu, vk::Extent2D extent);

// Draws within a render pass that begins with the background, and waits. `format` is
// R8G8B8A8_UNORM or B8G8R8A8_UNORM: that of the pipelines. Throws as checked_extent.
[[nodiscard]] Picture render_picture(Gpu& gpu, vk::Format format, vk::Extent2D extent,
                                     const std::function<void(vk::CommandBuffer)>& draw);

}  // namespace quadtile::app
