// Checks of the places of charts, and of the lightmap coordinates of a scene.

#pragma once

#include "scene.hpp"

#include <gtest/gtest.h>
#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace quadtile::baker::test {

inline void expect_near(const glm::vec3& actual, const glm::vec3& expected,
                        float tolerance = 1e-5F) {
    EXPECT_LE(glm::distance(actual, expected), tolerance)
        << actual.x << " " << actual.y << " " << actual.z << ", not " << expected.x << " "
        << expected.y << " " << expected.z;
}

using Corners = std::array<glm::dvec3, 3>;
using MapCorners = std::array<glm::dvec2, 3>;

inline Corners corners_of(const Scene& scene, const Triangle& triangle) {
    Corners corners{};
    for (std::size_t i = 0; i < 3; ++i) {
        corners[i] = scene.positions.at(triangle.vertices[i]);
    }
    return corners;
}

// Along the normal, twice as long as the area is large.
inline glm::dvec3 area_vector(const Scene& scene, const Triangle& triangle) {
    const Corners p = corners_of(scene, triangle);
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
    std::vector<std::uint32_t> parents(scene.triangles.size());
    std::iota(parents.begin(), parents.end(), 0U);
    const auto root = [&](std::uint32_t i) {
        while (parents[i] != i) {
            i = parents[i] = parents[parents[i]];
        }
        return i;
    };
    std::map<std::array<float, 5>, std::uint32_t> first;  // by corner
    for (std::uint32_t i = 0; i < scene.triangles.size(); ++i) {
        for (const std::uint32_t vertex : scene.triangles[i].vertices) {
            const glm::vec3 p = scene.positions.at(vertex);
            const glm::vec2 at = scene.light_map_coordinates.at(vertex);
            const auto [found, is_new] = first.try_emplace({p.x, p.y, p.z, at.x, at.y}, i);
            if (!is_new) {
                parents[root(i)] = root(found->second);
            }
        }
    }
    std::vector<std::uint32_t> charts(parents.size());
    for (std::uint32_t i = 0; i < charts.size(); ++i) {
        charts[i] = root(i);
    }
    return charts;
}

inline std::size_t number_of_charts(const Scene& scene) {
    const std::vector<std::uint32_t> charts = find_charts(scene);
    return std::set<std::uint32_t>(charts.begin(), charts.end()).size();
}

// Calls visit(x, y) for the texels that a triangle touches by more than `margin` texels; with
// `centre_only` for those whose centre lies so deep in it.
template <typename Visit>
void for_each_texel(const MapCorners& corners, const Extent& extent, double margin,
                    bool centre_only, const Visit& visit) {
    const glm::dvec2 low = glm::min(corners[0], glm::min(corners[1], corners[2]));
    const glm::dvec2 high = glm::max(corners[0], glm::max(corners[1], corners[2]));
    const double turn = cross(corners[1] - corners[0], corners[2] - corners[0]) < 0.0 ? -1.0 : 1.0;
    const auto left = static_cast<int>(std::max(0.0, std::floor(low.x + margin)));
    const auto top = static_cast<int>(std::max(0.0, std::floor(low.y + margin)));
    for (int y = top; y < std::min(double(extent.height), high.y - margin); ++y) {
        for (int x = left; x < std::min(double(extent.width), high.x - margin); ++x) {
            bool inside = true;
            for (std::size_t i = 0; i < 3; ++i) {
                const glm::dvec2 edge = corners[(i + 1) % 3] - corners[i];
                const double length = glm::length(edge);
                const glm::dvec2 inward =
                    length > 0.0 ? turn * glm::dvec2(-edge.y, edge.x) / length : glm::dvec2(0.0);
                // From the middle to the corner that lies furthest inside.
                const double reach =
                    centre_only ? 0.0 : 0.5 * (std::abs(inward.x) + std::abs(inward.y));
                const double depth =
                    glm::dot(inward, glm::dvec2(x + 0.5, y + 0.5) - corners[i]) + reach;
                inside &= depth > margin || length == 0.0;
            }
            if (inside) {
                visit(x, y);
            }
        }
    }
}

// Coordinates are there, finite and within 0..1; no texel's centre lies in two triangles; texels
// that different charts touch are more than `gutter` texels apart.
inline void check_atlas(const Scene& scene, int gutter) {
    constexpr double MARGIN = 2e-3;  // coordinates are 32-bit floats
    ASSERT_TRUE(scene.light_map_extent);
    const Extent extent = *scene.light_map_extent;
    ASSERT_EQ(scene.light_map_coordinates.size(), scene.positions.size());
    for (const glm::vec2 at : scene.light_map_coordinates) {
        ASSERT_TRUE(at.x >= 0.0F && at.x <= 1.0F && at.y >= 0.0F && at.y <= 1.0F)
            << at.x << " " << at.y;
    }

    constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
    const std::vector<std::uint32_t> charts = find_charts(scene);
    std::vector<std::uint8_t> covers(extent.texels(), 0);
    std::vector<std::uint32_t> owners(extent.texels(), NONE);
    std::size_t overlaps = 0;
    std::size_t shared = 0;
    for (std::size_t i = 0; i < scene.triangles.size(); ++i) {
        const MapCorners corners = map_corners(scene, scene.triangles[i]);
        const auto index = [&](int x, int y) {
            return static_cast<std::size_t>(y) * extent.width + static_cast<std::size_t>(x);
        };
        for_each_texel(corners, extent, MARGIN, true,
                       [&](int x, int y) { overlaps += covers[index(x, y)]++ > 0 ? 1 : 0; });
        for_each_texel(corners, extent, MARGIN, false, [&](int x, int y) {
            std::uint32_t& owner = owners[index(x, y)];
            shared += owner != NONE && owner != charts[i] ? 1 : 0;
            owner = charts[i];
        });
    }
    EXPECT_EQ(overlaps, 0U) << "texels whose centre is in two triangles";
    EXPECT_EQ(shared, 0U) << "texels that two charts touch";

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
        const Corners p = corners_of(scene, triangle);
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
