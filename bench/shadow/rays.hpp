// Rays to the lights, by Embree: the truth that shadow maps are compared with.

#pragma once

#include "embree_rays.hpp"
#include "geometry.hpp"
#include "lights.hpp"
#include "shaders/receivers.h"

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::shadow {

class Rays {
 public:
    // Keeps a reference to the geometry, for its holes.
    explicit Rays(const Geometry& geometry);

    // Returns for each receiver the lights that reach it: bit l of a word. The receivers are the
    // pixels of a picture of `height` rows by the camera.
    [[nodiscard]] std::vector<std::uint32_t> reached(std::span<const Receiver> receivers,
                                                     std::span<const Light> lights,
                                                     const Camera& camera,
                                                     std::uint32_t height) const;

 private:
    // Returns where rays from a receiver begin: above the surface, high enough that they never meet
    // it, and low enough that they meet all its casters.
    //
    // - A drawn triangle's corners are rounded to 1/256 pixel, its depth is interpolated and
    //   rounded to 24 digits. So the point of a pixel's depth lies off the plane by up to 1/512 of
    //   the pixel's width there. Rays begin 1/128 of that width, and 2^-18 of the distance, above.
    // - Coordinates are rounded to 24 digits: 2^-18 of the largest one is 64 times that.
    [[nodiscard]] glm::vec3 origin(const Receiver& receiver, const Camera& camera,
                                   std::uint32_t height) const;

    const Geometry* geometry_;
    baker::EmbreeRays rays_;
    float largest_coordinate_ = 0.0F;
};

}  // namespace quadtile::shadow
