// The directions that light is gathered along, and the scene's projection along each.

#pragma once

#include "scene.hpp"
#include "traced_scene.hpp"

#include <glm/mat3x3.hpp>
#include <glm/vec3.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace quadtile::baker {

// Radiance that comes from infinitely far.
struct Sky {
    glm::vec3 radiance{0.0F};  // from everywhere; times those of the picture, where there is one
    // A picture in latitude and longitude: its rows go from +Y down to -Y, its middle column is -Z,
    // +X lies to the right of it. Empty: none.
    Extent extent;
    std::vector<glm::vec3> texels;
    float turn_degrees = 0.0F;  // of the picture about +Y, counter-clockwise seen from above
};

// A bundle of rays, parallel ones, of use in both senses, or from a point.
struct BundleDirection {
    glm::dvec3 direction{0.0};  // of length 1
    glm::vec3 sky_ahead{0.0F};  // radiance from where it leads
    glm::vec3 sky_behind{0.0F};
    // Of the grid of rays about the direction and across it, 0..1: so that grids do not coincide.
    double turn = 0.0;
    double shift_x = 0.0;
    double shift_y = 0.0;
    // Of the square that the rays from a point go through, at a distance of 1 along the direction;
    // 0: parallel rays.
    double half_width = 0.0;
    glm::dvec3 point{0.0};
};

// `count` directions over the hemisphere, with their opposites over the sphere: the spherical
// Fibonacci lattice (Swinbank and Purser 2006), turned at random by `seed`, in an order in which
// any first part is spread evenly, too. Each stands for 2 pi / count steradians. A picture's
// radiance is its mean over the part of the sphere that is nearest to the direction.
[[nodiscard]] std::vector<BundleDirection> make_directions(std::uint32_t count, std::uint64_t seed,
                                                           const Sky& sky);

// Against a sun's light: spread over its disc, as any first part of them is. Only sky_behind
// shines, with radiance 1.
[[nodiscard]] std::vector<BundleDirection> make_sun_directions(const Sun& sun, std::uint32_t count,
                                                               std::uint64_t seed);

// 0 up to 1: the same numbers on every machine, other than those of
// std::uniform_real_distribution.
[[nodiscard]] double random_unit(std::mt19937_64& random);

// Three axes, the last one as given, turned about it at random.
[[nodiscard]] glm::dmat3 cube_along(const glm::dvec3& axis, std::mt19937_64& random);

// Around a point: 6 faces of a cube; 5, all but that against the cube's last axis; or 1, the square
// along that axis whose half width at a distance of 1 is given. Only sky_behind shines, with
// radiance 1.
void add_faces(std::vector<BundleDirection>& directions, const glm::dvec3& point,
               const glm::dmat3& cube, std::uint32_t faces, double half_width,
               std::mt19937_64& random);

// Around each point of a light: the faces of a cube, or for a spot light what its cone reaches.
[[nodiscard]] std::uint32_t faces_of(const PointLight& light);

// From `count` points of a light: its sphere's, which seen from anywhere fill its disc evenly. Each
// has as many directions, one for each face. Only sky_behind shines, with radiance 1.
[[nodiscard]] std::vector<BundleDirection> make_light_directions(const PointLight& light,
                                                                 std::uint32_t count,
                                                                 std::uint64_t seed);

// A part of the map along a direction, as a map of its own with as many, smaller texels.
struct MapWindow {
    double x = 0.0;  // of its upper left corner, in texels of the whole map
    double y = 0.0;
    double texel = 1.0;  // of its own texels

    // Of one of its texels.
    [[nodiscard]] MapWindow within(std::uint32_t texel_x, std::uint32_t texel_y,
                                   std::uint32_t map_extent) const {
        return {x + texel_x * texel, y + texel_y * texel, texel / map_extent};
    }
};

// The scene along a direction on a square map with so many texels on a side. Its edge is free.
[[nodiscard]] ProjectionFrame make_frame(const BundleDirection& direction, const TracedScene& scene,
                                         std::uint32_t map_extent, const MapWindow& window = {});

}  // namespace quadtile::baker
