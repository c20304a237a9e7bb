#include "flights.hpp"

#include "geometry.hpp"

#define GLM_ENABLE_EXPERIMENTAL
#include <glm/gtx/spline.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace quadtile::shadow {

namespace {

// Returns the angle nearest to `near_degrees` that differs from `degrees` by whole turns.
float turned_near(float degrees, float near_degrees) {
    return near_degrees + std::remainder(degrees - near_degrees, 360.0F);
}

}  // namespace

float Flight::seconds() const {
    return static_cast<float>(poses.size()) - 1.0F;
}

Camera Flight::at(float second) const {
    const float within = std::clamp(second, 0.0F, seconds());
    const auto first =
        std::min(static_cast<std::size_t>(within), std::max<std::size_t>(poses.size(), 2) - 2);
    const float share = within - static_cast<float>(first);
    const auto pose = [&](std::size_t after_first) {  // 1: `first`; clamped at the ends
        const std::size_t i = first + after_first;
        return poses[std::min(i == 0 ? 0 : i - 1, poses.size() - 1)];
    };
    std::array<Camera, 4> around{pose(0), pose(1), pose(2), pose(3)};
    for (const auto& [one, other] : {std::array{0U, 1U}, {2U, 1U}, {3U, 2U}}) {
        around[one].yaw_degrees = turned_near(around[one].yaw_degrees, around[other].yaw_degrees);
    }
    const auto along = [&](const auto& value) {
        return glm::catmullRom(value(around[0]), value(around[1]), value(around[2]),
                               value(around[3]), share);
    };
    const glm::vec3 angles = along([](const Camera& camera) {
        return glm::vec3(camera.yaw_degrees, camera.pitch_degrees, camera.vertical_field_degrees);
    });
    return {.position = along([](const Camera& camera) { return camera.position; }),
            .yaw_degrees = angles.x,
            .pitch_degrees = angles.y,
            .vertical_field_degrees = angles.z,
            .nearest = around[1].nearest};
}

// ---- Flights

namespace {

// Edge of the squares of baker::city_scene, each with a house in its middle.
constexpr float CITY_PITCH = 70.0F;

Flight tour(const ShadowBox& bounds) {
    const glm::vec3 middle = 0.5F * (low_of(bounds) + high_of(bounds));
    const glm::vec3 half = 0.5F * (high_of(bounds) - low_of(bounds));
    Flight flight;
    constexpr int AROUND = 10;
    for (int i = 0; i <= AROUND; ++i) {
        const float angle = glm::radians(360.0F * static_cast<float>(i) / AROUND);
        const float distance = 1.3F * std::max({half.x, half.y, half.z});
        flight.poses.push_back(look(middle + glm::vec3(distance * std::sin(angle), 1.2F * half.y,
                                                       distance * std::cos(angle)),
                                    middle));
    }
    constexpr int THROUGH = 5;
    const glm::vec3 start = flight.poses.back().position;
    for (int i = 1; i <= THROUGH; ++i) {  // beyond the middle, so the camera is never at its target
        const float share = 1.4F * static_cast<float>(i) / THROUGH;
        const glm::vec3 eye = start + share * (middle - start);
        flight.poses.push_back(look(eye, eye + (middle - start)));
    }
    for (Camera& pose : flight.poses) {
        pose.nearest = nearest_in(bounds);
    }
    return flight;
}

Flight zdm2_flight() {
    return {{{{14.0F, -0.3F, 12.0F}, 115.0F, 2.0F},  {{8.0F, -0.3F, 15.5F}, 90.0F, 4.0F},
             {{1.0F, -0.3F, 14.5F}, 40.0F, 2.0F},    {{-0.5F, -1.0F, 8.5F}, 5.0F, -4.0F},
             {{-0.5F, -1.9F, 3.0F}, 0.0F, -6.0F},    {{0.0F, -3.5F, -3.0F}, -5.0F, -6.0F},
             {{1.0F, -5.1F, -8.5F}, 45.0F, 4.0F},    {{-5.0F, -5.1F, -8.7F}, 90.0F, 3.0F},
             {{-11.0F, -5.1F, -9.5F}, 40.0F, 0.0F},  {{-11.0F, -5.1F, -16.0F}, -35.0F, 2.0F},
             {{-5.5F, -3.9F, -19.0F}, -80.0F, 5.0F}, {{1.0F, -1.9F, -19.8F}, -95.0F, 2.0F},
             {{8.0F, -1.9F, -18.5F}, -125.0F, 0.0F}, {{12.5F, -1.9F, -14.0F}, -165.0F, 0.0F},
             {{13.0F, -1.9F, -8.0F}, -190.0F, 0.0F}, {{11.0F, -1.9F, -1.0F}, -225.0F, 0.0F},
             {{5.0F, -1.9F, 1.1F}, -262.0F, 0.0F},   {{-1.5F, -1.9F, 0.6F}, -268.0F, 4.0F},
             {{-8.0F, 0.1F, 0.0F}, -262.0F, 5.0F},   {{-13.0F, 1.3F, 1.0F}, -240.0F, 3.0F}}};
}

}  // namespace

Flight city_flight(const ShadowBox& bounds) {
    // Streets are whole pitches from the edge; this one is near the middle.
    const float blocks = std::round((bounds.high[0] - bounds.low[0]) / CITY_PITCH);
    const float street = CITY_PITCH * (std::floor(blocks / 2.0F) - blocks / 2.0F);
    const float above = bounds.high[1] + 15.0F;
    const glm::vec3 crossing(street, 1.8F, street);
    const auto at = [&](float x, float y, float z, float yaw_degrees, float pitch_degrees) {
        return Camera{.position = crossing + glm::vec3(x, y, z),
                      .yaw_degrees = yaw_degrees,
                      .pitch_degrees = pitch_degrees};
    };
    // The flight: along a street to a crossing, around a corner, to the next crossing; up, and on
    // above the roofs.
    const float rise = above - 1.8F;
    return {
        {at(1.0F, 0.0F, 64.0F, 0.0F, 2.0F), at(1.0F, 0.0F, 53.0F, -2.0F, 3.0F),
         at(0.0F, 0.0F, 42.0F, -8.0F, 6.0F), at(0.0F, 0.0F, 31.0F, 8.0F, 8.0F),
         at(0.0F, 0.0F, 20.0F, 0.0F, 4.0F), at(0.0F, 0.0F, 10.0F, -12.0F, 2.0F),
         at(3.5F, 0.0F, 3.0F, -50.0F, 2.0F), at(12.0F, 0.0F, 0.0F, -85.0F, 2.0F),
         at(23.0F, 0.0F, 0.0F, -90.0F, 4.0F), at(34.0F, 0.0F, 0.0F, -90.0F, 6.0F),
         at(45.0F, 0.02F * rise, 0.0F, -85.0F, 4.0F), at(55.0F, 0.1F * rise, 0.0F, -70.0F, 0.0F),
         at(63.0F, 0.25F * rise, 0.0F, -50.0F, -6.0F),
         at(67.0F, 0.45F * rise, -4.0F, -25.0F, -14.0F),
         at(69.0F, 0.65F * rise, -9.0F, -5.0F, -22.0F),
         at(70.0F, 0.83F * rise, -17.0F, 10.0F, -28.0F),
         at(69.0F, 0.95F * rise, -27.0F, 20.0F, -32.0F), at(66.0F, rise, -38.0F, 28.0F, -34.0F)}};
}

Flight flight_for(const std::filesystem::path& scene, const ShadowBox& bounds) {
    return scene.filename().string().starts_with("zdm2") ? zdm2_flight() : tour(bounds);
}

}  // namespace quadtile::shadow
