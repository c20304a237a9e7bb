#include "camera.hpp"

#include <glm/ext/matrix_transform.hpp>
#include <glm/trigonometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace quadtile::shadow {

namespace {

// Between p1 and p2, at share 0 and 1; tangents as of a uniform Catmull-Rom spline.
template <typename Value>
Value spline(const std::array<Value, 4>& p, float share) {
    const Value a = 2.0F * p[1];
    const Value b = p[2] - p[0];
    const Value c = 2.0F * p[0] - 5.0F * p[1] + 4.0F * p[2] - p[3];
    const Value d = 3.0F * (p[1] - p[2]) + p[3] - p[0];
    return 0.5F * (a + share * (b + share * (c + share * d)));
}

// The angle that differs by whole turns from `degrees` and least from `near_degrees`.
float turned_near(float degrees, float near_degrees) {
    return near_degrees + std::remainder(degrees - near_degrees, 360.0F);
}

}  // namespace

glm::vec3 Camera::forward() const {
    const float yaw = glm::radians(yaw_degrees);
    const float pitch = glm::radians(pitch_degrees);
    return {-std::sin(yaw) * std::cos(pitch), std::sin(pitch), -std::cos(yaw) * std::cos(pitch)};
}

glm::mat4 Camera::clip_from_world(float aspect, float nearest) const {
    const float scale = 1.0F / std::tan(glm::radians(vertical_field_degrees) / 2.0F);
    glm::mat4 clip_from_view(0.0F);
    clip_from_view[0][0] = scale / aspect;
    clip_from_view[1][1] = -scale;
    clip_from_view[2][3] = -1.0F;
    clip_from_view[3][2] = nearest;
    glm::mat4 view_from_world(1.0F);
    view_from_world =
        glm::rotate(view_from_world, glm::radians(-pitch_degrees), glm::vec3(1.0F, 0.0F, 0.0F));
    view_from_world =
        glm::rotate(view_from_world, glm::radians(-yaw_degrees), glm::vec3(0.0F, 1.0F, 0.0F));
    return clip_from_view * glm::translate(view_from_world, -position);
}

float Flight::seconds() const {
    return static_cast<float>(poses.size()) - 1.0F;
}

Camera Flight::at(float second) const {
    const float within = std::clamp(second, 0.0F, seconds());
    const auto first =
        std::min(static_cast<std::size_t>(within), std::max<std::size_t>(poses.size(), 2) - 2);
    const float share = within - static_cast<float>(first);
    const auto pose = [&](std::size_t after_first) {  // 1: `first`; beyond the ends: those
        const std::size_t i = first + after_first;
        return poses[std::min(i == 0 ? 0 : i - 1, poses.size() - 1)];
    };
    std::array<Camera, 4> around{pose(0), pose(1), pose(2), pose(3)};
    for (const auto& [one, other] : {std::array{0, 1}, {2, 1}, {3, 2}}) {
        around[one].yaw_degrees = turned_near(around[one].yaw_degrees, around[other].yaw_degrees);
    }
    const auto along = [&](auto Camera::*member) {
        return spline(
            std::array{around[0].*member, around[1].*member, around[2].*member, around[3].*member},
            share);
    };
    return {.position = along(&Camera::position),
            .yaw_degrees = along(&Camera::yaw_degrees),
            .pitch_degrees = along(&Camera::pitch_degrees),
            .vertical_field_degrees = along(&Camera::vertical_field_degrees)};
}

}  // namespace quadtile::shadow
