#include "camera.hpp"

#include "geometry.hpp"

#include <glm/ext/matrix_transform.hpp>

#include <algorithm>
#include <cmath>

namespace quadtile::shadow {

glm::vec3 Camera::forward() const {
    const float yaw = glm::radians(yaw_degrees);
    const float pitch = glm::radians(pitch_degrees);
    return {-std::sin(yaw) * std::cos(pitch), std::sin(pitch), -std::cos(yaw) * std::cos(pitch)};
}

glm::mat4 Camera::clip_from_world(float aspect) const {
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

Camera look(const glm::vec3& eye, const glm::vec3& target) {
    const glm::vec3 way = target - eye;
    return {.position = eye,
            .yaw_degrees = glm::degrees(std::atan2(-way.x, -way.z)),
            .pitch_degrees = glm::degrees(std::atan2(way.y, std::hypot(way.x, way.z)))};
}

float nearest_in(const ShadowBox& bounds) {
    return std::min(Camera().nearest, 1e-3F * glm::distance(low_of(bounds), high_of(bounds)));
}

Camera aerial_view(const ShadowBox& bounds) {
    const glm::vec3 middle = 0.5F * (low_of(bounds) + high_of(bounds));
    const glm::vec3 half = 0.5F * (high_of(bounds) - low_of(bounds));
    // Distance at which a scene fills the picture, above all of it.
    const float distance = 1.3F * std::max(half.x, half.z) + half.y;
    const glm::vec3 eye = middle + glm::vec3(0.55F * distance, half.y + 0.55F * distance, distance);
    return look(eye, middle - glm::vec3(0.0F, 0.5F * half.y, 0.0F));
}

}  // namespace quadtile::shadow
