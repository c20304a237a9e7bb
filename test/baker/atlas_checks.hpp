// Checks of the places of charts, and of the lightmap coordinates of a scene.

#pragma once

#include "surface_map.hpp"
#include "topology.hpp"

#include <gtest/gtest.h>
#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

namespace quadtile::baker::test {

inline void expect_near(const glm::vec3& actual, const glm::vec3& expected,
                        float tolerance = 1e-5F) {
    EXPECT_LE(glm::distance(actual, expected), tolerance)
        << actual.x << " " << actual.y << " " << actual.z << ", not " << expected.x << " "
        << expected.y << " " << expected.z;
}

using MapCorners = std::array<glm::dvec2, 3>;

// Along the normal, twice as long as the area is large.
inline glm::dvec3 area_vector(const Scene& scene, const Triangle& triangle) {
    const auto p = scene.corners(triangle);
    return glm::cross(p[1] - p[0], p[2] - p[0]);
}

inline double surface_area(const Scene& scene) {
    double sum = 0.0;
    for (const Triangle& triangle : scene.triangles) {
        sum += 0.5 * glm::length(area_vector(scene, triangle));
    }
    return sum;
}

// In texels.
inline MapCorners map_corners(const Scene& scene, const Triangle& triangle) {
    const Extent extent = scene.light_map_extent.value();
    MapCorners corners{};
    for (std::size_t i = 0; i < 3; ++i) {
        corners[i] = glm::dvec2(scene.light_map_coordinates.at(triangle.vertices[i])) *
                     glm::dvec2(extent.width, extent.height);
    }
    return corners;
}

inline double cross(const glm::dvec2& a, const glm::dvec2& b) {
    return a.x * b.y - a.y * b.x;
}

// By triangle the number of its chart: triangles that share a corner in space and in the lightmap
// have the same.
inline std::vector<std::uint32_t> find_charts(const Scene& scene) {
    JoinedSets sets(scene.triangles.size());
    std::map<std::array<float, 5>, std::uint32_t> first;  // by corner
    for (std::uint32_t i = 0; i < scene.triangles.size(); ++i) {
        for (const std::uint32_t vertex : scene.triangles[i].vertices) {
            const glm::vec3 p = scene.positions.at(vertex);
            const glm::vec2 at = scene.light_map_coordinates.at(vertex);
            const auto [found, is_new] = first.try_emplace({p.x, p.y, p.z, at.x, at.y}, i);
            if (!is_new) {
                sets.join(i, found->second);
            }
        }
    }
    std::vector<std::uint32_t> charts(scene.triangles.size());
    for (std::uint32_t i = 0; i < charts.size(); ++i) {
        charts[i] = sets.root(i);
    }
    return charts;
}

inline std::size_t number_of_charts(const Scene& scene) {
    const std::vector<std::uint32_t> charts = find_charts(scene);
    return std::set<std::uint32_t>(charts.begin(), charts.end()).size();
}

// Coordinates are there, finite and within 0..1; no point of a texel lies in two triangles; texels
// that different charts cover are more than `gutter` texels apart.
inline void check_atlas(const Scene& scene, int gutter) {
    ASSERT_TRUE(scene.light_map_extent);
    const Extent extent = *scene.light_map_extent;
    ASSERT_EQ(scene.light_map_coordinates.size(), scene.positions.size());
    for (const glm::vec2 at : scene.light_map_coordinates) {
        ASSERT_TRUE(at.x >= 0.0F && at.x <= 1.0F && at.y >= 0.0F && at.y <= 1.0F)
            << at.x << " " << at.y;
    }

    const std::vector<std::uint32_t> charts = find_charts(scene);
    Scene marked = scene;  // each chart has a colour
    marked.materials.resize(charts.size());
    for (std::size_t i = 0; i < charts.size(); ++i) {
        const auto chart = static_cast<float>(charts[i]);
        marked.triangles[i].material = charts[i];
        marked.materials[charts[i]] = {.albedo =
                                           glm::fract(chart * glm::vec3(0.618F, 0.383F, 0.732F))};
    }
    const SurfaceMap map = make_surface_map(marked, extent);
    EXPECT_EQ(map.overlapping_texels, 0U) << "texels with a point in two triangles";
    constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> owners(extent.texels(), NONE);
    std::size_t shared = 0;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const std::uint32_t number = map.texels[i];
        if (map.coverage[number] > 1.0F / 64.0F) {  // more than rounding at an edge
            owners[i] = charts[map.triangle[number]];
            const glm::vec3& albedo = marked.materials[owners[i]].albedo;
            shared += glm::distance(map.albedo[number], albedo) > 1e-4F ? 1 : 0;
        }
    }
    EXPECT_EQ(shared, 0U) << "texels that two charts cover";

    std::size_t close = 0;
    for (int y = 0; y < static_cast<int>(extent.height); ++y) {
        for (int x = 0; x < static_cast<int>(extent.width); ++x) {
            const auto owner_at = [&](int i, int j) {
                const bool is_inside =
                    i >= 0 && i < static_cast<int>(extent.width) && j < int(extent.height);
                return is_inside ? owners[static_cast<std::size_t>(j) * extent.width +
                                          static_cast<std::size_t>(i)]
                                 : NONE;
            };
            // Earlier rows have already been compared with this one.
            for (int j = y; owner_at(x, y) != NONE && j <= y + gutter; ++j) {
                for (int i = x - gutter; i <= x + gutter; ++i) {
                    const std::uint32_t other = owner_at(i, j);
                    close += other != NONE && other != owner_at(x, y) ? 1 : 0;
                }
            }
        }
    }
    EXPECT_EQ(close, 0U) << "texels of two charts within a gutter";
}

// The least and the greatest number of texels per unit, of the edges that are so long in texels.
inline std::pair<double, double> edge_densities(const Scene& scene, double min_texels = 0.0) {
    std::pair<double, double> range{std::numeric_limits<double>::infinity(), 0.0};
    for (const Triangle& triangle : scene.triangles) {
        const auto p = scene.corners(triangle);
        const MapCorners at = map_corners(scene, triangle);
        for (std::size_t i = 0; i < 3; ++i) {
            const double texels = glm::distance(at[i], at[(i + 1) % 3]);
            const double density = texels / glm::distance(p[i], p[(i + 1) % 3]);
            if (texels >= min_texels) {
                range = {std::min(range.first, density), std::max(range.second, density)};
            }
        }
    }
    return range;
}

}  // namespace quadtile::baker::test
