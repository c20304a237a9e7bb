#include "colour_maps.hpp"

#include <algorithm>

namespace quadtile::app {

namespace {

// A picture with a row for each of the first six enumerators of ColourMap, as matplotlib 3.6 has
// them, rounded to 8 bits:
// - inferno, viridis, magma and plasma by N. Smith, S. van der Walt and E. Firing: CC0;
//   https://github.com/BIDS/colormap
// - cividis by J. Nunez, C. Anderton and R. Renslow, "Optimizing colormaps with consideration for
//   color vision deficiency", PLOS ONE 2018: CC0; https://github.com/pnnl/cmaputil
// - turbo by A. Mikhailov, copyright 2019 Google LLC: Apache-2.0;
//   https://gist.github.com/mikhailov-work/ee72ba4191942acecc03fe6da94fc73f
constexpr std::uint8_t PICTURE[] = {
#include "colour_maps.inc"
};
constexpr std::size_t ROW_BYTES = COLOUR_MAP_SIZE * sizeof(Rgb);
constexpr std::size_t HEADER_BYTES = sizeof("P6\n256 6\n255\n") - 1;
static_assert(sizeof(PICTURE) ==
              HEADER_BYTES + static_cast<std::size_t>(ColourMap::grey) * ROW_BYTES);

}  // namespace

ColourTable colour_table(ColourMap map) {
    ColourTable table;
    for (std::size_t i = 0; i < COLOUR_MAP_SIZE; ++i) {
        if (map == ColourMap::grey) {  // sRGB values in equal steps look equally far apart
            table[i].fill(static_cast<std::uint8_t>(i));
        } else {
            const std::size_t row = HEADER_BYTES + static_cast<std::size_t>(map) * ROW_BYTES;
            std::copy_n(PICTURE + row + i * sizeof(Rgb), sizeof(Rgb), table[i].begin());
        }
    }
    return table;
}

ColourTable importance_colours(ColourMap map) {
    constexpr std::size_t SKIPPED = COLOUR_MAP_SIZE / 12;
    const ColourTable all = colour_table(map);
    ColourTable table;
    for (std::size_t i = 0; i < COLOUR_MAP_SIZE; ++i) {
        table[i] = all[SKIPPED + i * (COLOUR_MAP_SIZE - 1 - SKIPPED) / (COLOUR_MAP_SIZE - 1)];
    }
    return table;
}

}  // namespace quadtile::app
