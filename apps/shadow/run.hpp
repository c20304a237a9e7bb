// The two ways to show a scene.

#pragma once

#include "options.hpp"

namespace quadtile::shadow {

// Draws Options::screenshot or Options::record, without a window. Returns the messages of the
// validation layer. Throws std::runtime_error for files that cannot be read or written, and where
// there is no device.
std::uint32_t run_screenshot(const Options& options);

// In a window, until the user leaves. Returns the messages of the validation layer. Throws
// std::runtime_error where there is no window system, or no device for it; the message names
// --screenshot.
std::uint32_t run_window(const Options& options);

}  // namespace quadtile::shadow
