// The two ways to run: in a window, and without.

#pragma once

#include "options.hpp"

namespace quadtile::viewer {

// Until the user leaves. Throws std::runtime_error where there is no window system, or no device
// for it; the message names --screenshot. Returns the messages of the validation layer.
std::uint32_t run_window(const Options& options);

// Draws a picture into a file, without a window, and its list where that is asked for.
std::uint32_t run_screenshot(const Options& options);

}  // namespace quadtile::viewer
