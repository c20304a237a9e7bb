// The lightmap that others are compared with, and the comparison.

#pragma once

#include "scene.hpp"
#include "surface_map.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::baker {

// Light of the path tracer: the mean of two independent lightmaps.
struct Truth {
    std::vector<glm::vec3> irradiance;  // per texel
    std::vector<std::uint8_t> is_used;  // 1: the texel is compared
    std::size_t used_texels = 0;
    double mean = 0.0;   // irradiance of used texels, over all colours
    double error = 0.0;  // expected RMSE of the truth itself
};

struct TruthOptions {
    std::uint32_t samples_per_texel = 1024;
    std::uint32_t bounces = 1;
    glm::vec3 sky{0.0F};
    // true: surfaces send the mean light of their texels, as the baker's do. false: they send the
    // light at the point that a ray meets, which is exact, but which lightmaps cannot hold.
    bool is_of_texels = false;
};

// Compares texels that charts cover to at least a half and that do not see the backs of surfaces,
// where the light is arbitrary. Throws std::runtime_error if no texel is left.
[[nodiscard]] Truth find_truth(const Scene& scene, const SurfaceMap& surface,
                               const TruthOptions& options);

// Difference over the texels that are used and known.
struct Difference {
    std::size_t texels = 0;
    double rmse = 0.0;      // over all colours
    double error = 0.0;     // the rest without the truth's own error
    double bias = 0.0;      // mean of the signed difference
    bool is_noise = false;  // the RMSE is at most twice the truth's error
};

[[nodiscard]] Difference compare(std::span<const glm::vec3> irradiance,
                                 std::span<const std::uint8_t> known, const Truth& truth);

}  // namespace quadtile::baker
