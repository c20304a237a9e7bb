// What rays are cast from.

#pragma once

#include "renderer.hpp"
#include "shaders/rays.h"

#include <span>

namespace quadtile::shadow {

// The frame as the shader takes it. Rays begin above the surface, by so much that they never meet
// the surface that they come from, and by so little that they meet all that shadows it:
//
// - Where a triangle is drawn, its corners have been rounded to 1/256 pixel, its depth was
//   interpolated and rounded to 24 digits. So the point of a pixel's depth lies off the plane by up
//   to 1/512 of a pixel's width there; rays begin 1/128 of it, and 2^-18 of the distance, above.
// - Coordinates are rounded to 24 digits: 2^-18 of `largest_coordinate` is 64 times that.
//
// On a picture of 1920 x 1080, 50 units away in a scene of 40 units: 0.9 mm where a unit is a
// metre.
[[nodiscard]] RayFrame make_ray_frame(const FrameSettings& settings, vk::Extent2D extent,
                                      std::span<const ShadowProjection> projections,
                                      float largest_coordinate);

}  // namespace quadtile::shadow
