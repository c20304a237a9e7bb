// What light maps are compared with, and how far they are from it.

#pragma once

#include "scene.hpp"
#include "surface_map.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace quadtile::baker {

// By the path tracer: the mean of two light maps that know nothing of each other.
struct Truth {
    std::vector<glm::vec3> irradiance;  // by texel
    std::vector<std::uint8_t> is_used;  // 1: what maps are compared at
    std::size_t used_texels = 0;
    double mean = 0.0;     // irradiance of used texels, over all colours
    double error = 0.0;    // expected RMSE of its own
    double seconds = 0.0;  // 0: from a file
    std::uint64_t rays = 0;
};

struct TruthOptions {
    std::uint32_t samples_per_texel = 1024;
    std::uint32_t bounces = 1;
    glm::vec3 sky{0.0F};
    // Surfaces send the mean light of their texels, as the baker has it. Else what they receive at
    // the point where a ray meets them: that is right, but light maps cannot tell it.
    bool is_of_texels = false;
    std::vector<std::uint8_t>
        texels;                  // 1: those that are compared; empty: all. Not with the former
    std::filesystem::path file;  // empty: none is read or written
};

// Reads it from the file where that has it, else makes it and writes it there. Compared are texels
// that charts cover to a half at least and that do not see the backs of surfaces: there any light
// is right. Throws std::runtime_error where the file is of something else, and where no texel is
// left.
[[nodiscard]] Truth find_truth(const Scene& scene, const SurfaceMap& surface,
                               const TruthOptions& options);

// Over the texels that are used and known.
struct Difference {
    std::size_t texels = 0;
    double rmse = 0.0;       // over all colours
    double error = 0.0;      // what is left of it without the truth's own
    double bias = 0.0;       // mean of the difference with its sign
    double largest_1 = 0.0;  // that 1 % of the texels exceed, as means over the colours
    bool is_noise = false;   // no more than twice the truth's own error: says little
};

// `known` may be empty: all are.
[[nodiscard]] Difference compare(std::span<const glm::vec3> irradiance,
                                 std::span<const std::uint8_t> known, const Truth& truth);

}  // namespace quadtile::baker
