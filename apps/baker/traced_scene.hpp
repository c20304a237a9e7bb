// A scene for tracing: its triangles in clusters, in coordinates about its middle.

#pragma once

#include "covered_texels.hpp"
#include "scene.hpp"

#include "shaders/bake.h"

#include <glm/vec3.hpp>

#include <algorithm>
#include <vector>

namespace quadtile::baker {

// Returns whether holes of a triangle tint the light.
[[nodiscard]] inline bool is_glass(const AlphaTriangle& triangle) {
    return std::ranges::any_of(triangle.tint, [](float share) { return share < 1.0F; });
}

struct TracedScene {
    std::vector<TracedTriangle> triangles;       // neighbours in space are neighbours here
    std::vector<AlphaTriangle> alpha_triangles;  // of the first triangles: those with holes
    std::vector<std::uint8_t> alpha_texels;      // of all textures with holes, a multiple of 4
    std::vector<TriangleCluster> clusters;       // of CLUSTER_TRIANGLES each; the last has fewer
    glm::dvec3 centre{0.0};
    glm::dvec3 box_middle{0.0};   // relative to the centre
    glm::dvec3 half_extent{0.0};  // of that box
    double depth_extent = 0.0;    // world units; depths are exact to a part of it
    CoveredTexels texels;         // of the lightmap
    bool has_two_sides = false;   // whether a material is double-sided
    bool is_smooth = false;       // whether a triangle has vertex normals other than its plane's
    // Unit of pixels' areas, in square world units: that of the mean texel, or less if that would
    // leave the smallest pixels no weight.
    double unit_area = 0.0;
    double largest_texel = 0.0;   // unit areas: more than the surface of any texel
    double surface_area = 0.0;    // square world units, of triangles with a density
    double light_map_area = 0.0;  // texels of these triangles

    // Returns the number of sums of light: CoveredTexels::places of fronts, and as many of backs if
    // a surface has two sides.
    [[nodiscard]] std::size_t sum_count() const {
        return texels.places() * (has_two_sides ? 2 : 1);
    }
    // Returns TraceParameters::back_texels.
    [[nodiscard]] std::uint32_t back_texels() const {
        return has_two_sides ? static_cast<std::uint32_t>(texels.places()) : 0;
    }
    // Returns the mean area of a texel in square world units.
    [[nodiscard]] double texel_area() const { return surface_area / light_map_area; }
};

// Returns TracedTriangle::normal for a normal of length 1.
[[nodiscard]] std::uint32_t packed_normal(const glm::dvec3& normal);

// Makes a scene. A triangle requests `pixels_per_texel` pixels for each of its texels, by the
// square root of its texels over its surface, which does not grow at grazing angles. Triangles
// without area in the lightmap have no density: they block and shine, but request no resolution.
// Nor do those of which `requests`, by the scene's triangle, is 0; empty: all request it.
//
// Throws std::runtime_error if no triangle has a density, because the lightmap coordinates are
// void, and for a triangle so far from the rest, measured in pixels, that floats do not resolve it.
[[nodiscard]] TracedScene make_traced_scene(const Scene& scene, CoveredTexels texels,
                                            float pixels_per_texel,
                                            const std::vector<std::uint8_t>& requests = {});

}  // namespace quadtile::baker
