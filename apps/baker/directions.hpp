// Directions along which light is gathered, and the scene's projection along each.

#pragma once

#include "scene.hpp"
#include "traced_scene.hpp"

#include <glm/mat3x3.hpp>
#include <glm/vec3.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace quadtile::baker {

// Radiance from infinity.
struct Sky {
    glm::vec3 radiance{0.0F};  // from everywhere; multiplies that of the picture
    // Picture in latitude and longitude; empty: none. Its rows go from +Y down to -Y, its middle
    // column is -Z, +X lies to the right of it.
    Extent extent;
    std::vector<glm::vec3> texels;
    float turn_degrees = 0.0F;  // of the picture about +Y, counter-clockwise seen from above
    // Distance from which on surfaces count as sky, for ambient occlusion.
    double distance = std::numeric_limits<double>::infinity();
};

// Returns the radiance that comes from a direction, of any length: that of the nearest texel.
[[nodiscard]] glm::vec3 radiance_from(const Sky& sky, const glm::dvec3& direction);

// A bundle of parallel rays, used in both senses, or of rays from a point.
struct BundleDirection {
    glm::dvec3 direction{0.0};  // of length 1
    glm::vec3 sky_ahead{0.0F};  // radiance from the place it leads to
    glm::vec3 sky_behind{0.0F};
    // Rotation of the grid of rays about the direction and its shift across it, 0..1, so that grids
    // do not coincide.
    double turn = 0.0;
    double shift_x = 0.0;
    double shift_y = 0.0;
    // Half width of the square that the rays from a point go through, at a distance of 1 along the
    // direction; 0: parallel rays.
    double half_width = 0.0;
    glm::dvec3 point{0.0};
    // At which the light of a point ends; of parallel rays: from which on they meet the sky.
    double range = std::numeric_limits<double>::infinity();
    float refinement = 1.0F;  // rays along those that texels request
};

// Returns `count` directions over the hemisphere, which cover the sphere with their opposites: the
// spherical Fibonacci lattice (Swinbank and Purser 2006), turned at random by `seed`. In their
// order every first part is spread evenly too. Each stands for 2 pi / count steradians. A picture's
// radiance is its mean over the part of the sphere nearest to the direction.
[[nodiscard]] std::vector<BundleDirection> make_directions(std::uint32_t count, std::uint64_t seed,
                                                           const Sky& sky);

// Returns directions against a sun's light, spread over its disc, as is every first part of them.
// Only sky_behind shines, with radiance 1.
[[nodiscard]] std::vector<BundleDirection> make_sun_directions(const Sun& sun, std::uint32_t count,
                                                               std::uint64_t seed);

// Returns a number from 0 up to 1, bit-identical on every machine, unlike those of
// std::uniform_real_distribution.
[[nodiscard]] double random_unit(std::mt19937_64& random);

// Returns three axes, the last one as given, turned about it at random.
[[nodiscard]] glm::dmat3 cube_along(const glm::dvec3& axis, std::mt19937_64& random);

// Adds directions around a point: 6 faces of a cube; 5, all except the one against the cube's last
// axis; or 1, the square along that axis with the given half width at a distance of 1. Only
// sky_behind shines, with radiance 1.
void add_faces(std::vector<BundleDirection>& directions, const glm::dvec3& point,
               const glm::dmat3& cube, std::uint32_t faces, double half_width,
               std::mt19937_64& random);

// Returns the number of faces around each point of a light: those of a cube, or for a spot light
// those that its cone reaches.
[[nodiscard]] std::uint32_t faces_of(const PointLight& light);

// Returns directions from `count` points of a light's sphere, which seen from anywhere fill its
// disc evenly. A single point has half as many rays more along a texel. Each point has a direction
// per face. Only sky_behind shines, with radiance 1.
[[nodiscard]] std::vector<BundleDirection> make_light_directions(const PointLight& light,
                                                                 std::uint32_t count,
                                                                 std::uint64_t seed);

// A part of the map along a direction, as a map of its own with as many, smaller texels.
struct MapWindow {
    double x = 0.0;  // upper left corner, in texels of the whole map
    double y = 0.0;
    double texel = 1.0;  // size of its own texels

    // Returns the window of one of its texels.
    [[nodiscard]] MapWindow within(std::uint32_t texel_x, std::uint32_t texel_y,
                                   std::uint32_t map_extent) const {
        return {x + texel_x * texel, y + texel_y * texel, texel / map_extent};
    }
};

// Returns the scene's projection along a direction on a square map with a free edge.
[[nodiscard]] ProjectionFrame make_frame(const BundleDirection& direction, const TracedScene& scene,
                                         std::uint32_t map_extent, const MapWindow& window = {});

}  // namespace quadtile::baker
