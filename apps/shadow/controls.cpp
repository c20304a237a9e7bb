#include "controls.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>

namespace quadtile::shadow {

namespace {

// Returns the speed that crosses the scene in about 20 seconds.
float speed_for(const ShadowBox& bounds) {
    constexpr float SECONDS = 20.0F;
    const glm::vec3 size = high_of(bounds) - low_of(bounds);
    return std::max({size.x, size.y, size.z}) / SECONDS;
}

}  // namespace

Controls::Controls(const Options& options, const Show& show)
    : settings{.technique = options.technique,
               .filter = options.filter,
               .camera = first_camera(options, show),
               .lights = show.lights},
      display(options.display),
      other(options.other),
      samples(options.samples),
      shadows(options.shadows),
      follows_flight(options.flies),
      flight_second(options.at.value_or(0.0F)),
      units_per_second(speed_for(show.geometry.bounds)) {}

void Controls::advance(float seconds, const Flight& flight) {
    settings.second += is_paused ? 0.0F : seconds;
    if (!follows_flight) {
        return;
    }
    if (!is_paused) {
        flight_second += seconds;
    }
    settings.camera = flight.at(flight_second);
}

float Controls::sun_azimuth_degrees() const {
    const glm::vec3 to_sun = -settings.lights.front().direction;
    return glm::degrees(std::atan2(to_sun.x, to_sun.z));
}

float Controls::sun_elevation_degrees() const {
    const glm::vec3 to_sun = -settings.lights.front().direction;
    return glm::degrees(std::atan2(to_sun.y, std::hypot(to_sun.x, to_sun.z)));
}

void Controls::set_sun(float azimuth_degrees, float elevation_degrees) {
    const float azimuth = glm::radians(azimuth_degrees);
    const float elevation = glm::radians(elevation_degrees);
    settings.lights.front().direction =
        -glm::vec3(std::sin(azimuth) * std::cos(elevation), std::sin(elevation),
                   std::cos(azimuth) * std::cos(elevation));
}

// ---- The camera

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
