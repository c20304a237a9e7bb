// The colour maps of the viewer, as tables.

#pragma once

#include "settings.hpp"

#include "picture.hpp"

#include <array>

namespace quadtile::viewer {

constexpr std::size_t COLOUR_MAP_SIZE = 256;
using ColourTable = std::array<app::Rgb, COLOUR_MAP_SIZE>;

// Returns the table. A value v in [0, 1) has the entry floor(v * COLOUR_MAP_SIZE).
[[nodiscard]] ColourTable colour_table(ColourMap map);

// Returns the table for importance, without its first twelfth. Some tables begin with black, which
// would hide low importance.
[[nodiscard]] ColourTable importance_colours(ColourMap map);

}  // namespace quadtile::viewer
