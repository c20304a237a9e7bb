// The viewer in a window.

#pragma once

#include "options.hpp"

namespace quadtile::viewer {

// Runs until the user quits. Returns the number of messages of the validation layer. Throws
// std::runtime_error if there is no window system, or no device for it; the message names
// --screenshot.
std::uint32_t run_window(const Options& options);

}  // namespace quadtile::viewer
