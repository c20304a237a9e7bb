// The built-in importance map: lightmap texel density of a town.

#pragma once

#include <cstdint>
#include <vector>

namespace quadtile::app {

// Renders `size` x `size` texels, rows from the top; bit-identical on every machine.
//
// The map shows a fictional town in parallel projection along a slanted direction. A texel is the
// greatest lightmap density of all surfaces that cover its centre, in lightmap texels per texel
// of this map along one axis: sqrt(area in lightmap texels / surface area in squared texels of
// this map). Hidden surfaces count, as they do in a lightmap. Empty texels are 0. Most surfaces
// share one density, small things that are seen closely have up to 16 times as much, the fields
// around the town less.
[[nodiscard]] std::vector<float> render_demo_map(std::uint32_t size);

// Max-resolution threshold that gives the map tiles of many levels.
constexpr float DEMO_MAX_RESOLUTION = 16.0F;

}  // namespace quadtile::app
