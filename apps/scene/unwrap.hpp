// Light map coordinates for scenes that have none.

#pragma once

#include "scene.hpp"

#include <optional>

namespace quadtile::baker {

struct UnwrapOptions {
    std::optional<Extent> extent;          // none: as large as texels_per_unit needs
    std::optional<float> texels_per_unit;  // none: as many as `extent` has room for
    std::uint32_t gutter_texels = 2;       // between charts
    bool keeps_layouts = false;            // of objects whose own coordinates can be used
    bool makes_pages = false;              // as many of `extent` as texels_per_unit needs
};

// Gives the scene light map coordinates: charts of smooth surfaces (make_charts), each turned to
// its smallest rectangle with its longest side along u, packed with gutters. Vertices that are in
// more than one chart, or on both sides of a cut, become several. Sets light_map_extent.
// Deterministic.
//
// A part's texels per unit are multiplied by its density. Charts do not cross to another density or
// instance.
//
// With keeps_layouts, an object whose own light map coordinates lie within 0..1 and do not overlap
// is one chart, as they have it; its size is that of its surface. Returns a triangle of each object
// whose coordinates are not used.
//
// An object's charts lie on one of the pages. Parts that are excluded have their charts on a page
// of their own behind these, with fewer texels per unit if there is no room for more. Sets
// Scene::pages and ScenePart::page.
//
// Neither extent nor texels_per_unit: 10 texels per unit, or as many as 4096 x 4096 texels have
// room for.
//
// Throws std::runtime_error where the charts do not find room, with what would.
std::vector<std::uint32_t> unwrap(Scene& scene, const UnwrapOptions& options);

}  // namespace quadtile::baker
