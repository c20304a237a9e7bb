// Places of rectangular charts in a lightmap.

#pragma once

#include "scene.hpp"

#include <optional>

namespace quadtile::baker {

inline constexpr std::uint32_t MAX_LIGHT_MAP_SIDE = 32768;

struct ChartPlace {  // the upper left texel
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t page = 0;
};

struct Layout {
    Extent extent;  // of a page
    double texels_per_unit = 0.0;
    std::vector<ChartPlace> places;  // by chart
    std::uint32_t pages = 1;
};

// Packers of charts with these sizes, in units. A chart owns all texels that it touches, at least
// one. Gutters lie between charts, but not at the lightmap's border. Deterministic. All return
// nothing if there is no room.

[[nodiscard]] std::optional<Layout> pack(const std::vector<glm::dvec2>& sizes, std::uint32_t gutter,
                                         double texels_per_unit, const Extent& extent);

// Packs with as many texels per unit as fit.
[[nodiscard]] std::optional<Layout> pack_into(const std::vector<glm::dvec2>& sizes,
                                              std::uint32_t gutter, const Extent& extent);

// Packs into the smallest extent, about square, with sides up to MAX_LIGHT_MAP_SIDE that are
// multiples of 4.
[[nodiscard]] std::optional<Layout> pack_at_density(const std::vector<glm::dvec2>& sizes,
                                                    std::uint32_t gutter, double texels_per_unit);

// Packs on as many pages of this extent as needed; an object's charts are on one page. `objects`:
// the object of each chart, numbered from 0. Returns nothing, and the object's number in
// `too_large`, if a page has no room for an object.
[[nodiscard]] std::optional<Layout> pack_pages(const std::vector<glm::dvec2>& sizes,
                                               const std::vector<std::size_t>& objects,
                                               std::uint32_t gutter, double texels_per_unit,
                                               const Extent& extent, std::size_t& too_large);

}  // namespace quadtile::baker
