// Flights stay in the open: never in, behind or beneath surfaces.

#include "camera.hpp"
#include "load_scene.hpp"
#include "support/maps.hpp"

#include <gtest/gtest.h>
#include <glm/common.hpp>
#include <glm/geometric.hpp>
#define GLM_ENABLE_EXPERIMENTAL
#include <glm/gtx/string_cast.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadtile::shadow {
namespace {

struct Corners {
    glm::vec3 a;
    glm::vec3 b;
    glm::vec3 c;
};

std::vector<Corners> corners_of(const baker::Scene& scene) {
    std::vector<Corners> all;
    for (const baker::Triangle& triangle : scene.triangles) {
        const auto& v = triangle.vertices;
        all.push_back({scene.positions[v[0]], scene.positions[v[1]], scene.positions[v[2]]});
    }
    return all;
}

ShadowBox bounds_of(const baker::Scene& scene) {
    glm::vec3 low = scene.positions.front();
    glm::vec3 high = low;
    for (const glm::vec3& position : scene.positions) {
        low = glm::min(low, position);
        high = glm::max(high, position);
    }
    return {{low.x, low.y, low.z}, {high.x, high.y, high.z}};
}

float distance_to_segment(const glm::vec3& p, const glm::vec3& a, const glm::vec3& b) {
    const glm::vec3 along = b - a;
    const float share = glm::clamp(glm::dot(p - a, along) / glm::dot(along, along), 0.0F, 1.0F);
    return glm::distance(p, a + share * along);
}

float distance_to(const glm::vec3& p, const Corners& t) {
    const glm::vec3 normal = glm::normalize(glm::cross(t.b - t.a, t.c - t.a));
    const bool is_above = glm::dot(glm::cross(t.b - t.a, p - t.a), normal) >= 0.0F &&
                          glm::dot(glm::cross(t.c - t.b, p - t.b), normal) >= 0.0F &&
                          glm::dot(glm::cross(t.a - t.c, p - t.c), normal) >= 0.0F;
    if (is_above) {
        return std::abs(glm::dot(p - t.a, normal));
    }
    return std::min({distance_to_segment(p, t.a, t.b), distance_to_segment(p, t.b, t.c),
                     distance_to_segment(p, t.c, t.a)});
}

// Sheets have two sides at one place; the front is what is seen.
constexpr float TIE = 1e-3F;

// The first surface along a ray.
struct Hit {
    float distance = std::numeric_limits<float>::infinity();
    bool is_front = true;
};

Hit first_hit(const std::vector<Corners>& triangles, const glm::vec3& origin,
              const glm::vec3& direction) {
    Hit hit;
    for (const Corners& t : triangles) {
        const glm::vec3 p = glm::cross(direction, t.c - t.a);
        const float determinant = glm::dot(t.b - t.a, p);
        const glm::vec3 q = glm::cross(origin - t.a, t.b - t.a);
        const float u = glm::dot(origin - t.a, p) / determinant;
        const float v = glm::dot(direction, q) / determinant;
        const float distance = glm::dot(t.c - t.a, q) / determinant;
        const bool is_front = determinant > 0.0F;
        const float tie = is_front ? TIE : -TIE;
        if (u >= 0.0F && v >= 0.0F && u + v <= 1.0F && distance > 0.0F &&
            distance < hit.distance + tie) {
            hit = {distance, is_front};
        }
    }
    return hit;
}

constexpr float SAMPLES_PER_SECOND = 30.0F;

std::vector<Camera> cameras_of(const Flight& flight, float samples_per_second) {
    std::vector<Camera> cameras;
    const int count = static_cast<int>(flight.seconds() * samples_per_second);
    for (int i = 0; i <= count; ++i) {
        cameras.push_back(flight.at(static_cast<float>(i) / samples_per_second));
    }
    return cameras;
}

void expect_open_space(const Flight& flight, const std::vector<Corners>& triangles) {
    float nearest = std::numeric_limits<float>::infinity();
    for (const Camera& camera : cameras_of(flight, SAMPLES_PER_SECOND)) {
        for (const Corners& triangle : triangles) {
            nearest = std::min(nearest, distance_to(camera.position, triangle));
        }
    }
    EXPECT_GT(nearest, 0.3F);
    // Nowhere is the back of a surface to be seen, and there is a floor.
    for (const Camera& camera : cameras_of(flight, 4.0F)) {
        for (const glm::vec3& direction :
             {camera.forward(), glm::vec3(0.0F, -1.0F, 0.0F), glm::vec3(0.01F, 1.0F, 0.02F),
              glm::vec3(1.0F, 0.1F, 0.2F), glm::vec3(-1.0F, 0.1F, 0.3F)}) {
            EXPECT_TRUE(first_hit(triangles, camera.position, direction).is_front)
                << "from " << glm::to_string(camera.position) << " along "
                << glm::to_string(direction);
        }
        EXPECT_LT(first_hit(triangles, camera.position, glm::vec3(0.0F, -1.0F, 0.0F)).distance,
                  1e6F);
    }
}

void expect_gentle(const Flight& flight, float units_per_second) {
    EXPECT_GE(flight.seconds(), 12.0F);
    EXPECT_LE(flight.seconds(), 20.0F);
    const std::vector<Camera> cameras = cameras_of(flight, SAMPLES_PER_SECOND);
    for (std::size_t i = 1; i < cameras.size(); ++i) {
        EXPECT_LT(SAMPLES_PER_SECOND * glm::distance(cameras[i].position, cameras[i - 1].position),
                  units_per_second);
        const float turned =
            std::remainder(cameras[i].yaw_degrees - cameras[i - 1].yaw_degrees, 360.0F);
        EXPECT_LT(SAMPLES_PER_SECOND * std::abs(turned), 90.0F);
        EXPECT_LT(std::abs(cameras[i].pitch_degrees), 60.0F);
    }
}

TEST(Flights, Zdm2AtTheHeightOfEyes) {
    const auto data = quadtile::test::data_directory();
    if (!data) {
        GTEST_SKIP() << "no shared/data beside the checkout, and QUADTILE_DATA names none";
    }
    const std::vector<Corners> triangles =
        corners_of(baker::load_scene(*data / "scenes/zdm2_lightmapped.glb").scene);
    const Flight flight = zdm2_flight();
    expect_gentle(flight, 10.0F);
    expect_open_space(flight, triangles);
    for (const Camera& camera : cameras_of(flight, SAMPLES_PER_SECOND)) {
        const float height =
            first_hit(triangles, camera.position, glm::vec3(0.0F, -1.0F, 0.0F)).distance;
        EXPECT_GT(height, 0.8F) << camera.position.x << " " << camera.position.z;
        EXPECT_LT(height, 3.0F) << camera.position.x << " " << camera.position.z;
    }
}

TEST(Flights, CityInStreetsAndAboveRoofs) {
    for (const std::uint64_t triangles : {2000U, 7000U, 20000U}) {
        const baker::Scene scene = baker::city_scene(triangles, {2048, 2048});
        const ShadowBox bounds = bounds_of(scene);
        const Flight flight = city_flight(bounds);
        expect_gentle(flight, 30.0F);
        expect_open_space(flight, corners_of(scene));
        EXPECT_LT(flight.at(0.0F).position.y, 3.0F);
        EXPECT_GT(flight.at(flight.seconds()).position.y, bounds.high[1]);
    }
}

TEST(Flights, TourSeesTheMiddle) {
    const ShadowBox bounds{{-3.0F, 1.0F, 10.0F}, {7.0F, 5.0F, 30.0F}};
    const Flight flight = tour(bounds);
    expect_gentle(flight, 20.0F);
    const glm::vec3 middle(2.0F, 3.0F, 20.0F);
    for (const Camera& camera : flight.poses) {
        if (glm::distance(camera.position, middle) > 10.0F) {
            EXPECT_GT(glm::dot(camera.forward(), glm::normalize(middle - camera.position)), 0.99F);
        }
    }
}

}  // namespace
}  // namespace quadtile::shadow
