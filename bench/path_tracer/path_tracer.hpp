// A path tracer on the CPU, by Embree: what the baker is compared with.

#pragma once

#include "scene.hpp"
#include "surface_map.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::test {

struct PathTracerOptions {
    std::uint32_t samples_per_texel = 256;
    std::uint32_t bounces = 1;  // 0: light that comes straight from emitters, sky and lights
    glm::vec3 sky{0.0F};        // radiance
    std::uint32_t threads = 0;  // 0: as many as there are processors
    std::uint64_t seed = 1;
    bool is_of_backs = false;                  // whether paths start at the backs of texels
    std::span<const glm::vec3> back_emission;  // of surfaces with two sides; empty: as the front's
};

struct PathTracedMap {
    std::vector<glm::vec3> irradiance;   // by texel: mean over the surfaces of charts
    std::vector<std::uint32_t> samples;  // by texel; 0: no chart covers it
    std::vector<float> back_share;       // of the first rays: that hit a one-sided back
};

// The same light transport as the baker's: Lambertian surfaces, lit by their texel's normal if it
// is smooth, else by their triangle's plane, from where both look to; the back of a surface is
// black, but double-sided ones have light on both sides; albedo and emission of a hit are those of
// `surface` at the texel of the hit's lightmap coordinates; lights without radius.
[[nodiscard]] PathTracedMap trace_paths(const baker::Scene& scene, const baker::SurfaceMap& surface,
                                        const PathTracerOptions& options);

}  // namespace quadtile::test
