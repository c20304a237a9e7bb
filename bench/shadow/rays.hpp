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

    // What rays tell of a receiver: bit l of a word is that of light l.
    struct Truth {
        std::uint32_t reached = 0;
        // A ray that begins UNDECIDED_RATIO times as high tells otherwise: a caster lies as close
        // to the receiver as the depth buffer's error.
        std::uint32_t undecided = 0;
    };
    // The receivers are the pixels of a picture of `height` rows by the camera.
    [[nodiscard]] std::vector<Truth> truths(std::span<const Receiver> receivers,
                                            std::span<const Light> lights, const Camera& camera,
                                            std::uint32_t height) const;

 private:
    static constexpr float UNDECIDED_RATIO = 4.0F;

    // Returns where rays from a receiver begin, relative to it: above the surface, high enough that
    // they never meet it, and low enough that they meet all its casters.
    //
    // - A drawn triangle's corners are rounded to 1/256 pixel, its depth is interpolated and
    //   rounded to 24 digits. So the point of a pixel's depth lies off the plane by up to 1/512 of
    //   the pixel's width there. Rays begin 1/128 of that width, and 2^-18 of the distance, above.
    // - Coordinates are rounded to 24 digits: 2^-18 of the largest one is 64 times that.
    [[nodiscard]] glm::vec3 above(const Receiver& receiver, const Camera& camera,
                                  std::uint32_t height) const;

    const Geometry* geometry_;
    baker::EmbreeRays rays_;
    float largest_coordinate_ = 0.0F;
};

}  // namespace quadtile::shadow
