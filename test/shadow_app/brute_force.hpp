// Rays against all triangles of a geometry, in doubles.

#pragma once

#include "geometry.hpp"

#include <glm/geometric.hpp>

#include <array>
#include <limits>

namespace quadtile::shadow {

inline std::array<glm::dvec3, 3> triangle_of(const Geometry& geometry, std::size_t triangle) {
    std::array<glm::dvec3, 3> corners{};
    for (std::size_t i = 0; i < 3; ++i) {
        corners[i] = geometry.vertices[geometry.indices[3 * triangle + i]].position;
    }
    return corners;
}

struct Hit {
    double distance = std::numeric_limits<double>::infinity();  // lengths of the direction
    glm::dvec3 normal{0.0};                                     // to the ray's side
    bool is_front = true;
};

// The first triangle that the ray meets, by Möller and Trumbore. Of two that are `tie` apart or
// less the one whose front it meets.
inline Hit first_hit(const Geometry& geometry, const glm::dvec3& origin,
                     const glm::dvec3& direction, double tie = 0.0) {
    Hit hit;
    for (std::size_t i = 0; i < geometry.indices.size() / 3; ++i) {
        const auto [a, b, c] = triangle_of(geometry, i);
        const glm::dvec3 p = glm::cross(direction, c - a);
        const double determinant = glm::dot(b - a, p);
        const glm::dvec3 q = glm::cross(origin - a, b - a);
        const double u = glm::dot(origin - a, p) / determinant;
        const double v = glm::dot(direction, q) / determinant;
        const double distance = glm::dot(c - a, q) / determinant;
        const bool is_front = determinant > 0.0;
        if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 &&
            distance < hit.distance + (is_front ? tie : -tie)) {
            const glm::dvec3 normal = glm::normalize(glm::cross(b - a, c - a));
            hit = {distance, is_front ? normal : -normal, is_front};
        }
    }
    return hit;
}

}  // namespace quadtile::shadow
