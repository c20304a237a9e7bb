// The two ways to run. Each function returns the number of messages of the validation layer.

#pragma once

#include "options.hpp"

namespace quadtile::viewer {

// Runs in a window until the user quits. Throws std::runtime_error if there is no window system, or
// no device for it; the message names --screenshot.
std::uint32_t run_window(const Options& options);

// Draws the window's picture into a file, without a window.
std::uint32_t run_screenshot(const Options& options);

}  // namespace quadtile::viewer
