// The program: from a scene to its light map, pictures and report.

#pragma once

#include "options.hpp"

namespace quadtile::baker {

// The exit status: 0, or 130 where it was interrupted and can be resumed. Throws what the user has
// to know as an exception.
[[nodiscard]] int run_bake(const Options& options);

}  // namespace quadtile::baker
