// The show in a window.

#pragma once

#include "options.hpp"

namespace quadtile::shadow {

// Until the user leaves. Returns the messages of the validation layer. Throws std::runtime_error
// where there is no window system, or no device for it; the message names --screenshot.
std::uint32_t run_window(const Options& options);

}  // namespace quadtile::shadow
