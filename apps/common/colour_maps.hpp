// Colour maps, as tables.

#pragma once

#include "arguments.hpp"
#include "picture.hpp"

#include <array>

namespace quadtile::app {

enum class ColourMap { inferno, viridis, magma, plasma, cividis, turbo, grey };

constexpr std::array<Named<ColourMap>, 7> COLOUR_MAPS{{{"inferno", ColourMap::inferno},
                                                       {"viridis", ColourMap::viridis},
                                                       {"magma", ColourMap::magma},
                                                       {"plasma", ColourMap::plasma},
                                                       {"cividis", ColourMap::cividis},
                                                       {"turbo", ColourMap::turbo},
                                                       {"grey", ColourMap::grey}}};

constexpr std::size_t COLOUR_MAP_SIZE = 256;
using ColourTable = std::array<Rgb, COLOUR_MAP_SIZE>;

// Returns the table. A value v in [0, 1) has the entry floor(v * COLOUR_MAP_SIZE).
[[nodiscard]] ColourTable colour_table(ColourMap map);

// Returns the table for importance, without its first twelfth. Some tables begin with black, which
// would hide low importance.
[[nodiscard]] ColourTable importance_colours(ColourMap map);

}  // namespace quadtile::app
