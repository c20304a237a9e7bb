// A scene with texel densities as different as those of real levels.

#pragma once

#include "scene.hpp"

namespace quadtile::baker {

// Makes a courtyard of 6 m, its first part, within terraces of 2048 m. The courtyard has 64 times
// as many texels per metre as the square kilometre around it, which has four times as many as the
// rest. Throws std::runtime_error if `extent` has no room for it.
[[nodiscard]] Scene landscape_scene(const Extent& extent);

}  // namespace quadtile::baker
