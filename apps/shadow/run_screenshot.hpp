// Pictures in files, without a window.

#pragma once

#include "options.hpp"

namespace quadtile::shadow {

// Draws Options::screenshot or Options::record. Returns the messages of the validation layer.
// Throws std::runtime_error for files that cannot be read or written, and where there is no device.
std::uint32_t run_screenshot(const Options& options);

}  // namespace quadtile::shadow
