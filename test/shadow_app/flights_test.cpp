// Flights stay in the open: never in, behind or beneath surfaces.

#include "brute_force.hpp"
#include "camera.hpp"
#include "load_scene.hpp"
#include "support/maps.hpp"

#include <gtest/gtest.h>
#include <glm/glm.hpp>
#define GLM_ENABLE_EXPERIMENTAL
#include <glm/gtx/string_cast.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadtile::shadow {
namespace {

float distance_to_segment(const glm::vec3& p, const glm::vec3& a, const glm::vec3& b) {
    const glm::vec3 along = b - a;
    const float share = glm::clamp(glm::dot(p - a, along) / glm::dot(along, along), 0.0F, 1.0F);
    return glm::distance(p, a + share * along);
}

float distance_to(const glm::vec3& p, const std::array<glm::vec3, 3>& corners) {
    const auto& [a, b, c] = corners;
    const glm::vec3 normal = glm::normalize(glm::cross(b - a, c - a));
    const bool is_above = glm::dot(glm::cross(b - a, p - a), normal) >= 0.0F &&
                          glm::dot(glm::cross(c - b, p - b), normal) >= 0.0F &&
                          glm::dot(glm::cross(a - c, p - c), normal) >= 0.0F;
    if (is_above) {
        return std::abs(glm::dot(p - a, normal));
    }
    return std::min(
        {distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

// Sheets have two sides at one place; the front is what is seen.
constexpr double TIE = 1e-3;
constexpr glm::vec3 DOWN(0.0F, -1.0F, 0.0F);

constexpr float SAMPLES_PER_SECOND = 30.0F;

std::vector<Camera> cameras_of(const Flight& flight, float samples_per_second) {
    std::vector<Camera> cameras;
    const int count = static_cast<int>(flight.seconds() * samples_per_second);
    for (int i = 0; i <= count; ++i) {
        cameras.push_back(flight.at(static_cast<float>(i) / samples_per_second));
    }
    return cameras;
}

void expect_open_space(const Flight& flight, const Geometry& geometry) {
    float nearest = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < geometry.indices.size() / 3; ++i) {
        const auto [a, b, c] = triangle_of(geometry, i);
        for (const Camera& camera : cameras_of(flight, 10.0F)) {
            nearest = std::min(nearest, distance_to(camera.position, {a, b, c}));
        }
    }
    EXPECT_GT(nearest, 0.3F);
    // Nowhere is the back of a surface to be seen, and there is a floor.
    for (const Camera& camera : cameras_of(flight, 2.0F)) {
        for (const glm::vec3& direction :
             {camera.forward(), DOWN, glm::vec3(0.01F, 1.0F, 0.02F), glm::vec3(1.0F, 0.1F, 0.2F),
              glm::vec3(-1.0F, 0.1F, 0.3F)}) {
            EXPECT_TRUE(first_hit(geometry, camera.position, direction, TIE).is_front)
                << "from " << glm::to_string(camera.position) << " along "
                << glm::to_string(direction);
        }
        EXPECT_LT(first_hit(geometry, camera.position, DOWN).distance, 1e6);
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
    const Geometry geometry =
        make_geometry(baker::load_scene(*data / "scenes/zdm2_lightmapped.glb").scene);
    const Flight flight = zdm2_flight();
    expect_gentle(flight, 10.0F);
    expect_open_space(flight, geometry);
    for (const Camera& camera : cameras_of(flight, 4.0F)) {
        const double height = first_hit(geometry, camera.position, DOWN, TIE).distance;
        EXPECT_GT(height, 0.8) << camera.position.x << " " << camera.position.z;
        EXPECT_LT(height, 3.0) << camera.position.x << " " << camera.position.z;
    }
}

TEST(Flights, CityInStreetsAndAboveRoofs) {
    for (const std::uint64_t triangles : {2000U, 7000U}) {
        const Geometry geometry = make_geometry(baker::city_scene(triangles, {2048, 2048}));
        const Flight flight = city_flight(geometry.bounds);
        expect_gentle(flight, 30.0F);
        expect_open_space(flight, geometry);
        EXPECT_LT(flight.at(0.0F).position.y, 3.0F);
        EXPECT_GT(flight.at(flight.seconds()).position.y, geometry.bounds.high[1]);
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
