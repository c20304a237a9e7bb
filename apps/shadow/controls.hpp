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
    std::optional<Technique> other;  // beside the first one
    float wipe = 0.5F;               // where it begins: a share of the picture's width
    std::uint32_t samples;           // of rays to a light that has an extent
    int mark_pixels = 2;             // that marks of errors reach beyond them
    ShadowOptions shadows;           // what is asked for; `problem` where it is not allowed
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
    bool shows_magnifier = false;
    std::uint32_t light = 0;  // of the light view, and of the tile that is picked
    float zoom = 4.0F;        // of the light view, around the camera
    bool wants_to_quit = false;
    bool wants_next_error = false;

    // What is picked: a point of the scene, and its place on the light's map, 0 to 1; or that
    // alone.
    std::optional<glm::vec3> picked_point;
    std::optional<glm::vec2> picked_place;

    [[nodiscard]] Shown shown() const { return {display, other}; }
    [[nodiscard]] bool uses(Technique technique) const {
        return settings.technique == technique || (other == technique && display != Display::sides);
    }
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
