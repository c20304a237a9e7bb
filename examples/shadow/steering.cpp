#include "steering.hpp"

#include "geometry.hpp"

#include <algorithm>
#include <cctype>

namespace quadtile::shadow {

namespace {

constexpr float SECONDS_ACROSS = 20.0F;

// GLFW names keys by their place on a US keyboard. That is the fallback for layouts of other
// scripts, which have no Latin letters.
std::optional<char> letter_on(int key, int code) {
    const char* const name = glfwGetKeyName(key, code);
    const bool has_ascii = name != nullptr && static_cast<unsigned char>(name[0]) < 0x80U;
    if (has_ascii) {
        const auto first = static_cast<unsigned char>(name[0]);
        return std::isalpha(first) != 0 ? std::optional(static_cast<char>(std::tolower(first)))
                                        : std::nullopt;
    }
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) {
        return static_cast<char>('a' + (key - GLFW_KEY_A));
    }
    return std::nullopt;
}

}  // namespace

Steering::Steering(GLFWwindow* window, const ShadowBox& bounds) : window_(window) {
    const glm::vec3 size = high_of(bounds) - low_of(bounds);
    units_per_second_ = std::max({size.x, size.y, size.z}) / SECONDS_ACROSS;
}

std::optional<char> Steering::take_key(int key, int code, int event) {
    const std::optional<char> letter = letter_on(key, code);
    if (event == GLFW_RELEASE) {
        held_.erase(code);
    } else if (letter) {
        held_[code] = *letter;
    }
    return letter;
}

void Steering::move(Camera& camera, float seconds, bool has_mouse, bool has_keys) {
    turn(camera, has_mouse);
    constexpr float FASTER = 4.0F;
    const bool is_fast = is_down(GLFW_KEY_LEFT_SHIFT) || is_down(GLFW_KEY_RIGHT_SHIFT);
    const bool is_command = is_down(GLFW_KEY_LEFT_CONTROL) || is_down(GLFW_KEY_RIGHT_CONTROL);
    if (has_keys && !is_command) {
        fly(camera, seconds * units_per_second_ * (is_fast ? FASTER : 1.0F));
    }
}

void Steering::turn(Camera& camera, bool has_mouse) {
    const bool is_held =
        glfwGetMouseButton(window_, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS && (has_mouse || last_);
    if (is_held != last_.has_value()) {
        glfwSetInputMode(window_, GLFW_CURSOR, is_held ? GLFW_CURSOR_DISABLED : GLFW_CURSOR_NORMAL);
    }
    if (!is_held) {
        last_.reset();
        return;
    }
    glm::dvec2 place(0.0);
    glfwGetCursorPos(window_, &place.x, &place.y);
    constexpr float DEGREES_PER_UNIT = 0.15F;
    const glm::vec2 moved = DEGREES_PER_UNIT * glm::vec2(place - last_.value_or(place));
    last_ = place;
    camera.yaw_degrees -= moved.x;
    camera.pitch_degrees = std::clamp(camera.pitch_degrees - moved.y, -89.0F, 89.0F);
}

void Steering::fly(Camera& camera, float distance) const {
    const auto along = [this](char forwards, char backwards) {
        return static_cast<float>(is_held(forwards)) - static_cast<float>(is_held(backwards));
    };
    constexpr glm::vec3 UP(0.0F, 1.0F, 0.0F);
    const glm::vec3 forward = camera.forward();
    const glm::vec3 to_right = glm::normalize(glm::cross(forward, UP));
    camera.position +=
        distance * (along('w', 's') * forward + along('d', 'a') * to_right + along('e', 'q') * UP);
}

bool Steering::is_held(char letter) const {
    return std::ranges::any_of(held_, [&](const auto& held) { return held.second == letter; });
}

}  // namespace quadtile::shadow
