// Lightmap coordinates for scenes without them.

#pragma once

#include "scene.hpp"

#include <optional>

namespace quadtile::baker {

struct UnwrapOptions {
    std::optional<Extent> extent;          // none: as large as texels_per_unit requires
    std::optional<float> texels_per_unit;  // none: as many as fit into `extent`
    std::uint32_t gutter_texels = 2;       // between charts
    bool keeps_layouts = false;            // whether objects with usable coordinates keep them
    bool makes_pages = false;              // whether it makes as many pages of `extent` as needed
};

// Gives the scene lightmap coordinates: charts of smooth surfaces (make_charts), each turned to
// its smallest rectangle with its longest side along u, packed with gutters. Vertices in more than
// one chart, or on both sides of a cut, are duplicated. Sets light_map_extent. Deterministic.
//
// A part's texels per unit are multiplied by its density. Charts do not cross from one density or
// instance to another.
//
// With keeps_layouts, an object whose own lightmap coordinates lie within 0..1 and do not overlap
// is one chart with its own layout and the size of its surface. Returns a triangle of each object
// whose coordinates are not used.
//
// An object's charts are on one page. Excluded parts have their charts on a page of their own
// behind the others, with fewer texels per unit if there is no room for more. Sets Scene::pages and
// ScenePart::page.
//
// Without extent and texels_per_unit: 10 texels per unit, or as many as fit into 4096 x 4096
// texels.
//
// Throws std::runtime_error, with an extent that suffices, if the charts do not fit.
std::vector<std::uint32_t> unwrap(Scene& scene, const UnwrapOptions& options);

}  // namespace quadtile::baker
