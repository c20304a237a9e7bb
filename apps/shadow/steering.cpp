#include "steering.hpp"

#include <glm/geometric.hpp>

#include <algorithm>

namespace quadtile::shadow {

bool Steering::move(Camera& camera, float seconds, float units_per_second, bool has_mouse,
                    bool has_keys) {
    const bool has_turned = turn(camera, has_mouse);
    constexpr float FASTER = 4.0F;
    const float speed =
        units_per_second *
        (is_down(GLFW_KEY_LEFT_SHIFT) || is_down(GLFW_KEY_RIGHT_SHIFT) ? FASTER : 1.0F);
    const bool is_command = is_down(GLFW_KEY_LEFT_CONTROL) || is_down(GLFW_KEY_RIGHT_CONTROL);
    const bool has_moved = has_keys && !is_command && fly(camera, seconds * speed);
    return has_turned || has_moved;
}

bool Steering::turn(Camera& camera, bool has_mouse) {
    const bool is_held =
        glfwGetMouseButton(window_, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS && (has_mouse || last_);
    if (!is_held && !is_captured_) {
        if (last_) {
            glfwSetInputMode(window_, GLFW_CURSOR, GLFW_CURSOR_NORMAL);
            last_.reset();
        }
        return false;
    }
    if (!last_) {
        glfwSetInputMode(window_, GLFW_CURSOR, GLFW_CURSOR_DISABLED);
    }
    Place place{};
    glfwGetCursorPos(window_, &place.x, &place.y);
    const Place before = last_.value_or(place);
    last_ = place;
    constexpr float DEGREES_PER_UNIT = 0.15F;
    const float to_right = DEGREES_PER_UNIT * static_cast<float>(place.x - before.x);
    const float down = DEGREES_PER_UNIT * static_cast<float>(place.y - before.y);
    camera.yaw_degrees -= to_right;
    camera.pitch_degrees = std::clamp(camera.pitch_degrees - down, -89.0F, 89.0F);
    return to_right != 0.0F || down != 0.0F;
}

bool Steering::fly(Camera& camera, float distance) const {
    const auto along = [this](int forwards, int backwards) {
        return static_cast<float>(is_down(forwards)) - static_cast<float>(is_down(backwards));
    };
    constexpr glm::vec3 UP(0.0F, 1.0F, 0.0F);
    const glm::vec3 forward = camera.forward();
    const glm::vec3 to_right = glm::normalize(glm::cross(forward, UP));
    const glm::vec3 way = along(GLFW_KEY_W, GLFW_KEY_S) * forward +
                          along(GLFW_KEY_D, GLFW_KEY_A) * to_right +
                          along(GLFW_KEY_E, GLFW_KEY_Q) * UP;
    camera.position += distance * way;
    return way != glm::vec3(0.0F);
}

}  // namespace quadtile::shadow
