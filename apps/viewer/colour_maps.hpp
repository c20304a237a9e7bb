// The colour maps of the viewer, as tables.

#pragma once

#include "settings.hpp"

#include "picture.hpp"

#include <array>

namespace quadtile::viewer {

constexpr std::size_t COLOUR_MAP_SIZE = 256;
using ColourTable = std::array<app::Rgb, COLOUR_MAP_SIZE>;

// From low to high. A value v in [0, 1) has the entry floor(v * COLOUR_MAP_SIZE).
[[nodiscard]] ColourTable colour_table(ColourMap map);

// What importance is drawn with: the same without its first twelfth, which in some tables is black,
// so that a low importance differs from none.
[[nodiscard]] ColourTable importance_colours(ColourMap map);

}  // namespace quadtile::viewer
