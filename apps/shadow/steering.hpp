// A camera that is flown with keys and mouse.

#pragma once

#include "camera.hpp"

#include <GLFW/glfw3.h>

#include <optional>

namespace quadtile::shadow {

class Steering {
 public:
    explicit Steering(GLFWwindow* window) : window_(window) {}

    // Turns by the mouse where its right button is held, or it is captured; moves by W, A, S, D, Q
    // and E, faster with Shift, at the speed given. Returns whether the camera has changed. Where
    // the panels have mouse or keys (`has_mouse`, `has_keys` false) they do nothing here.
    bool move(Camera& camera, float seconds, float units_per_second, bool has_mouse, bool has_keys);

    // The mouse turns without a button, or does so no more.
    void toggle_capture() { is_captured_ = !is_captured_; }

 private:
    struct Place {
        double x;
        double y;
    };

    bool turn(Camera& camera, bool has_mouse);
    bool fly(Camera& camera, float distance) const;
    [[nodiscard]] bool is_down(int key) const { return glfwGetKey(window_, key) == GLFW_PRESS; }

    GLFWwindow* window_;
    bool is_captured_ = false;
    std::optional<Place> last_;  // of the mouse, while it turns the camera
};

}  // namespace quadtile::shadow
