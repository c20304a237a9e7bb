// Controls of the user, and steering of the camera.

#pragma once

#include "session.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <optional>
#include <string>

namespace quadtile::shadow {

// Everything that the user can change.
struct Controls {
    Controls(const Options& options, const Show& show);

    FrameSettings settings;
    Display display;
    std::optional<Technique> other;  // beside the first one
    float wipe = 0.5F;               // its begin, as a share of the picture's width
    std::uint32_t samples;           // rays to a light with an extent
    int mark_pixels = 2;             // by which marks of errors extend
    ShadowOptions shadows;           // requested; `problem` if refused
    std::string problem;

    bool follows_flight;
    bool is_paused = false;
    float flight_second;
    float units_per_second;  // of the steered camera

    bool shows_panel = true;
    bool shows_help = false;
    bool shows_light_view = true;
    bool shows_atlas = false;
    bool shows_changes = false;  // in the light view; else levels
    bool shows_magnifier = false;
    std::uint32_t light = 0;  // of the light view and the picked tile
    float zoom = 4.0F;        // of the light view, around the camera
    bool wants_to_quit = false;
    bool wants_next_error = false;

    // Picked point of the scene, and its place on the light's map, 0 to 1; or that place alone.
    std::optional<glm::vec3> picked_point;
    std::optional<glm::vec2> picked_place;

    [[nodiscard]] Shown shown() const { return {display, other}; }
    [[nodiscard]] bool uses(Technique technique) const {
        return settings.technique == technique || (other == technique && display != Display::sides);
    }
    // Advances moving objects and the flight.
    void advance(float seconds, const Flight& flight);
    // Position of the sun, in degrees.
    [[nodiscard]] float sun_azimuth_degrees() const;
    [[nodiscard]] float sun_elevation_degrees() const;
    void set_sun(float azimuth_degrees, float elevation_degrees);
};

// Steering of a camera by keys and mouse.
class Steering {
 public:
    explicit Steering(GLFWwindow* window) : window_(window) {}

    // Turns by the mouse while its right button is held or it is captured. Moves by W, A, S, D, Q
    // and E, faster with Shift. Returns whether the camera has changed. If `has_mouse` or
    // `has_keys` is false, the panels have them, and they do nothing here.
    bool move(Camera& camera, float seconds, float units_per_second, bool has_mouse, bool has_keys);

    // Starts or ends the capture, in which the mouse turns without a button.
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
