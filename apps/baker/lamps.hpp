// Lamps: small emitters, which few directions of a lattice would meet. Each is cut into patches. A
// formula gives their light without occlusion; rays from points of a patch tell how much of it a
// texel sees. So it is with point and spot lights.

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
    std::array<glm::dvec3, 3> corners;  // counter-clockwise, seen from the shining side
    glm::vec3 radiance;

    [[nodiscard]] glm::dvec3 middle() const { return (corners[0] + corners[1] + corners[2]) / 3.0; }
    // Returns the normal with a length of twice the area.
    [[nodiscard]] glm::dvec3 cross() const {
        return glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
    }
};

// Pieces that a texel sees together or not at all, according to the rays from some of its points.
struct LampPatch {
    std::vector<LampPiece> pieces;
    Box<glm::dvec3> box;
    double power = 0.0;
};

// A point of a patch that emits rays.
struct LampPoint {
    std::uint32_t patch = 0;
    glm::dvec3 position{0.0};
    glm::dvec3 normal{0.0};  // of its piece, of length 1
};

struct Lamps {
    std::vector<LampPatch> patches;  // empty: no lamps
    // By covered texel; 1: its emission is that of a lamp.
    std::vector<std::uint8_t> texels;

    [[nodiscard]] bool is_of_lamp(std::size_t texel) const {
        return !patches.empty() && texels[texel] != 0;
    }
};

// Directions per point: all faces of a cube except the one behind it.
constexpr std::uint32_t FACES_A_LAMP_POINT = 5;

// Returns the emitters that shine evenly and are small in the scene, with about so many points:
// each connected part is at least one patch. Returns none if so many parts would take longer than
// `directions`, along which their light is gathered then.
[[nodiscard]] Lamps find_lamps(const Scene& scene, const SurfaceMap& surface, std::uint32_t points,
                               std::uint32_t directions);

// Doubles the number of patches, `doublings` times.
[[nodiscard]] std::vector<LampPatch> with_more_patches(std::vector<LampPatch> patches,
                                                       std::uint32_t doublings);

// Chooses points at random by `seed` and by their light, in the order of their directions.
[[nodiscard]] std::vector<LampPoint> make_lamp_points(const std::vector<LampPatch>& patches,
                                                      std::uint64_t seed);

// Returns FACES_A_LAMP_POINT directions per point. Only sky_behind shines, with radiance 1.
[[nodiscard]] std::vector<BundleDirection> make_lamp_directions(
    const std::vector<LampPoint>& points, std::uint64_t seed);

// Returns what shaders/lamps.h needs of a piece.
[[nodiscard]] LampTriangle lamp_triangle(const LampPiece& piece);

// ---- Point and spot lights

// Returns the triangles whose plane contains a light, rounding aside. Lamps are put on ceilings and
// in corners: rays along a surface would pass it or not by rounding, and half of a light's sphere
// is behind it.
[[nodiscard]] std::vector<std::uint32_t> triangles_in_plane(const TracedScene& scene,
                                                            const glm::vec3& position);

struct LightReceived {
    double irradiance = 0.0;    // in units of the light's intensity
    glm::dvec3 direction{0.0};  // towards the light, times the irradiance
};

// Returns the mean over the patch, on the side of its normal. `light`'s sphere shines evenly;
// inside of it the light is that of its surface.
[[nodiscard]] LightReceived received(const PointLight& light, const Patch& patch,
                                     const glm::vec3& normal);

}  // namespace quadtile::baker
