// The importance map of the demos: examples/maps.

#pragma once

#include <filesystem>

namespace quadtile::app {

// Returns the file, which lies beside this program where it was built or installed.
[[nodiscard]] std::filesystem::path demo_map_path();

}  // namespace quadtile::app
