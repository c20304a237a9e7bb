// What the user can turn, and how a camera is flown.

#pragma once

#include "session.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <optional>
#include <string>

namespace quadtile::shadow {

// All that the user can change.
struct Controls {
    Controls(const Options& options, const Show& show);

    FrameSettings settings;
    Display display;
    ShadowOptions shadows;  // what is asked for; `problem` where it is not allowed
    std::string problem;

    bool follows_flight;
    bool is_paused = false;
    float flight_second;
    float units_per_second;  // of the camera that is steered

    bool shows_panel = true;
    bool shows_help = false;
    bool shows_light_view = true;
    bool shows_atlas = false;
    bool shows_changes = false;  // in the light view; else levels
    std::uint32_t light = 0;     // of the light view
    float zoom = 4.0F;           // of the light view, around the camera
    bool wants_to_quit = false;

    // Time passes: for what moves, and on the flight.
    void advance(float seconds, const Flight& flight);
    // Of the sun, in degrees: where it stands.
    [[nodiscard]] float sun_azimuth_degrees() const;
    [[nodiscard]] float sun_elevation_degrees() const;
    void set_sun(float azimuth_degrees, float elevation_degrees);
};

// A camera that is flown with keys and mouse.
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
