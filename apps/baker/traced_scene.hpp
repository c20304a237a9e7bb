// A scene as rays meet it: its triangles in clusters, in coordinates about its middle.

#pragma once

#include "scene.hpp"

#include "shaders/bake.h"

#include <glm/vec3.hpp>

#include <vector>

namespace quadtile::baker {

// This part of the light map gets all the pixels that its density asks for; the densest rest asks
// for no more than the densest of it. A tile has the resolution of its densest place, and a few
// small charts to which an unwrapper gave many texels would make all tiles expensive.
constexpr float DENSITY_SHARE = 0.95F;

struct TracedScene {
    std::vector<TracedTriangle> triangles;       // neighbours in space are neighbours here
    std::vector<AlphaTriangle> alpha_triangles;  // of the first ones: those with holes
    std::vector<std::uint8_t> alpha_texels;      // of all textures with holes, a multiple of 4
    std::vector<TriangleCluster> clusters;       // of CLUSTER_TRIANGLES each, the last one of fewer
    // Subtracted from positions: the middle of the box around the scene, or where most of the light
    // map is, if the box is so large that floats about its middle are not exact enough there.
    glm::dvec3 centre{0.0};
    glm::dvec3 box_middle{0.0};   // less the centre
    glm::dvec3 half_extent{0.0};  // of that box
    double depth_extent = 0.0;    // world units: depths are exact to a part of it
    Extent light_map;
    bool has_two_sides = false;  // a material is double-sided
    bool is_smooth = false;      // a triangle has vertex normals other than its plane's
    // Square world units: pixels weigh by their area in these. The mean texel's, or less where that
    // would leave the smallest pixels no weight.
    double unit_area = 0.0;
    double largest_texel = 0.0;   // unit areas: more of the surface than any one texel can have
    double surface_area = 0.0;    // square world units, of triangles with a density
    double light_map_area = 0.0;  // texels that they have

    // Sums of light: of the fronts of all texels, and of their backs where a surface has two sides.
    [[nodiscard]] std::size_t sum_count() const {
        return light_map.texels() * (has_two_sides ? 2 : 1);
    }
    // As TraceParameters::back_texels.
    [[nodiscard]] std::uint32_t back_texels() const {
        return has_two_sides ? static_cast<std::uint32_t>(light_map.texels()) : 0;
    }
    // Of a texel on average, in square world units.
    [[nodiscard]] double texel_area() const { return surface_area / light_map_area; }
};

// As TracedTriangle::normal, of one of length 1.
[[nodiscard]] std::uint32_t packed_normal(const glm::dvec3& normal);

// A triangle asks for `pixels_per_texel` pixels for each of its texels, by the square root of its
// texels over its surface: that does not grow where one looks along the surface. Triangles without
// area in the light map have no density: they block and shine, but ask for no resolution.
//
// Throws std::runtime_error where no triangle has a density: the light map coordinates are void;
// and for a triangle so far from the rest, measured in pixels, that floats do not resolve it.
[[nodiscard]] TracedScene make_traced_scene(const Scene& scene, const Extent& light_map,
                                            float pixels_per_texel,
                                            float density_share = DENSITY_SHARE);

}  // namespace quadtile::baker
