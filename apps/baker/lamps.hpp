// Small emitters. Few directions of a lattice would meet them, so each is cut into patches whose
// light is known by a formula where nothing is between; rays from points of the patch tell how much
// of it a texel sees.

#pragma once

#include "directions.hpp"
#include "scene.hpp"
#include "surface_map.hpp"

#include <glm/vec3.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace quadtile::baker {

// A piece of one side of an emitting triangle.
struct LampPiece {
    std::array<glm::dvec3, 3> corners;  // counter-clockwise, seen from the side that shines
    glm::vec3 radiance;

    [[nodiscard]] glm::dvec3 middle() const { return (corners[0] + corners[1] + corners[2]) / 3.0; }
    // Along the normal, as long as twice the area.
    [[nodiscard]] glm::dvec3 cross() const {
        return glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
    }
};

// Pieces that a texel sees together or not at all, as far as rays from some of its points tell.
struct LampPatch {
    std::vector<LampPiece> pieces;
    Box<glm::dvec3> box;
    double power = 0.0;
};

// A point of a patch that rays come from.
struct LampPoint {
    std::uint32_t patch = 0;
    glm::dvec3 position{0.0};
    glm::dvec3 normal{0.0};  // of its piece, of length 1
};

struct Lamps {
    std::vector<LampPatch> patches;  // empty: there are no lamps
    // By texel of the light map, 1: its emission is that of a lamp.
    std::vector<std::uint8_t> texels;

    [[nodiscard]] bool is_of_lamp(std::size_t texel) const {
        return !patches.empty() && texels[texel] != 0;
    }
};

// Points of each patch. The first of all patches are one half of them.
constexpr std::uint32_t POINTS_A_PATCH = 2;
// Directions around each point: all faces of a cube but that behind it.
constexpr std::uint32_t FACES_A_LAMP_POINT = 5;

// What shines evenly and is small beside the scene, in so many points or a few more: each connected
// part of it is a patch at least. None: where so many parts would take longer than `directions`,
// which light is gathered along without them.
[[nodiscard]] Lamps find_lamps(const Scene& scene, const SurfaceMap& surface, std::uint32_t points,
                               std::uint32_t directions);

// Twice as many, as often.
[[nodiscard]] std::vector<LampPatch> with_more_patches(std::vector<LampPatch> patches,
                                                       std::uint32_t doublings);

// At random by `seed`, by the light that they send out; in the order of their directions.
[[nodiscard]] std::vector<LampPoint> make_lamp_points(const std::vector<LampPatch>& patches,
                                                      std::uint64_t seed);

// FACES_A_LAMP_POINT for each point. Only sky_behind shines, with radiance 1.
[[nodiscard]] std::vector<BundleDirection> make_lamp_directions(
    const std::vector<LampPoint>& points, std::uint64_t seed);

// The irradiance of a texel's side, the mean over the texel, where nothing is between. Source:
// Lambert's formula for polygons (Baum, Rushmeier and Winget 1989).
[[nodiscard]] glm::vec3 received(const LampPatch& lamp, const Patch& patch,
                                 const glm::vec3& normal);

}  // namespace quadtile::baker
