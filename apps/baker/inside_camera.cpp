// Where a camera stands inside of a closed scene, whose outside shows nothing of its light.

#include "light_map.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t DIRECTIONS = 128;  // of a point that is tested
constexpr std::uint32_t MISSES = 2;        // that a closed room may have, by cracks or a window
constexpr std::size_t MOST_TESTS = 2'000'000'000;  // of a ray and a triangle: some seconds
constexpr std::uint32_t AZIMUTHS = 16;
constexpr double INFINITE = std::numeric_limits<double>::infinity();

struct NearestHit {
    double distance = INFINITE;
    bool is_front = false;  // or the material has two sides
};

// Tests all triangles one after the other, since only a few hundred rays are cast. By Möller and
// Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection" (1997).
NearestHit nearest_hit(const Scene& scene, const glm::dvec3& origin, const glm::dvec3& direction) {
    NearestHit nearest;
    for (const Triangle& triangle : scene.triangles) {
        const glm::dvec3 corner(scene.positions[triangle.vertices[0]]);
        const glm::dvec3 a = glm::dvec3(scene.positions[triangle.vertices[1]]) - corner;
        const glm::dvec3 b = glm::dvec3(scene.positions[triangle.vertices[2]]) - corner;
        const glm::dvec3 p = glm::cross(direction, b);
        const double determinant = glm::dot(a, p);
        const glm::dvec3 t = origin - corner;
        const double u = glm::dot(t, p) / determinant;
        const glm::dvec3 q = glm::cross(t, a);
        const double v = glm::dot(direction, q) / determinant;
        const double distance = glm::dot(b, q) / determinant;
        if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 &&  // false for NaN
            distance < nearest.distance) {
            const bool has_two_sides = scene.materials[triangle.material].double_sided;
            nearest = {distance, determinant > 0.0 || has_two_sides};
        }
    }
    return nearest;
}

// Tells whether a point sees fronts all around, neither the sky nor the inside of a thing. Surfaces
// closer than `clearance` would hide the rest.
bool is_inside(const Scene& scene, const glm::dvec3& point, double clearance) {
    std::uint32_t misses = 0;
    for (std::uint32_t i = 0; i < DIRECTIONS && misses <= MISSES; ++i) {
        const double y = 1.0 - (2.0 * i + 1.0) / DIRECTIONS;
        const double angle = 2.3999632 * i;  // the golden angle
        const double radius = std::sqrt(1.0 - y * y);
        const glm::dvec3 way(radius * std::cos(angle), y, radius * std::sin(angle));
        const NearestHit hit = nearest_hit(scene, point, way);
        misses += hit.is_front && hit.distance >= clearance ? 0 : 1;
    }
    return misses <= MISSES;
}

// Along the longest level line through a point, from near one of its ends.
Camera along_longest_line(const Scene& scene, const glm::dvec3& point) {
    std::array<double, AZIMUTHS> distances{};
    const auto way = [](std::uint32_t azimuth) {
        const double angle = 2.0 * std::numbers::pi * azimuth / AZIMUTHS;
        return glm::dvec3(std::cos(angle), 0.0, std::sin(angle));
    };
    for (std::uint32_t i = 0; i < AZIMUTHS; ++i) {
        distances[i] = nearest_hit(scene, point, way(i)).distance;
        if (!std::isfinite(distances[i])) {
            distances[i] = 0.0;  // through a crack
        }
    }
    std::uint32_t best = 0;
    const auto length = [&](std::uint32_t i) {
        return distances[i] + distances[(i + AZIMUTHS / 2) % AZIMUTHS];
    };
    for (std::uint32_t i = 1; i < AZIMUTHS; ++i) {
        best = length(i) > length(best) ? i : best;
    }
    const double back = 0.85 * distances[(best + AZIMUTHS / 2) % AZIMUTHS];
    const glm::dvec3 position = point - back * way(best);
    return {.position = glm::vec3(position),
            .target = glm::vec3(position + way(best)),
            .vertical_field_degrees = 65.0F};
}

}  // namespace

std::optional<Camera> inside_camera(const Scene& scene) {
    if (scene.triangles.empty()) {
        return std::nullopt;
    }
    const Box<glm::dvec3> bounds = box_around(scene.positions);
    const double clearance = 0.02 * glm::distance(bounds.low, bounds.high);
    const std::size_t most_points = MOST_TESTS / (DIRECTIONS * scene.triangles.size());
    std::size_t points = 0;
    // From the middle outwards.
    for (const double x : {0.5, 0.3, 0.7}) {
        for (const double z : {0.5, 0.3, 0.7}) {
            for (const double y : {0.55, 0.3, 0.8}) {
                // Not on the edges between triangles of even scenes.
                const glm::dvec3 share(x + 0.0137, y + 0.0071, z - 0.0113);
                const glm::dvec3 point = bounds.low + share * (bounds.high - bounds.low);
                if (points++ == most_points) {
                    return std::nullopt;
                }
                if (is_inside(scene, point, clearance)) {
                    return along_longest_line(scene, point);
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace quadtile::baker
