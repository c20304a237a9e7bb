// Steering of a camera by keys and mouse.

#pragma once

#include "camera.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <map>
#include <optional>

namespace quadtile::shadow {

class Steering {
 public:
    // The camera crosses a scene with these bounds in about 20 seconds.
    Steering(GLFWwindow* window, const ShadowBox& bounds);

    // Takes an event of GLFW's key callback. Returns the letter that the keyboard's layout has on
    // the key, a to z; none: it has another character.
    std::optional<char> take_key(int key, int code, int event);

    // Turns by the mouse while its right button is held. Moves by W, A, S, D, Q and E, faster with
    // Shift. If `has_mouse` or `has_keys` is false, the panel has them, and they do nothing here.
    void move(Camera& camera, float seconds, bool has_mouse, bool has_keys);

 private:
    void turn(Camera& camera, bool has_mouse);
    void fly(Camera& camera, float distance) const;
    [[nodiscard]] bool is_down(int key) const { return glfwGetKey(window_, key) == GLFW_PRESS; }
    [[nodiscard]] bool is_held(char letter) const;

    GLFWwindow* window_;
    float units_per_second_;
    std::map<int, char> held_;        // letters of held keys, by scan code
    std::optional<glm::dvec2> last_;  // of the mouse, while it turns the camera
};

}  // namespace quadtile::shadow
