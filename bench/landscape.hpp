// A scene whose densities differ as those of real levels do.

#pragma once

#include "scene.hpp"

namespace quadtile::baker {

// A courtyard of 6 m, its first part, within terraces of 2048 m. It has 64 times as many texels per
// metre as the square kilometre around it, which has four times as many as what is farther away.
// Throws std::runtime_error where `extent` has no room for it.
[[nodiscard]] Scene landscape_scene(const Extent& extent);

}  // namespace quadtile::baker
