// What the user can turn, and the panel for it.

#pragma once

#include "session.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

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

    // Time passes: on the flight.
    void advance(float seconds, const Flight& flight);
    // Of the sun, in degrees: where it stands.
    [[nodiscard]] float sun_azimuth_degrees() const;
    [[nodiscard]] float sun_elevation_degrees() const;
    void set_sun(float azimuth_degrees, float elevation_degrees);
};

class Panels {
 public:
    Panels(Controls& controls, const Show& show, std::string device_name);
    Panels(const Panels&) = delete;  // its actions point to it
    Panels& operator=(const Panels&) = delete;

    // Between ImGui::NewFrame and ImGui::Render. `scale` is what one pixel of a display of 96 dots
    // per inch is.
    void draw(float scale);
    // A key of GLFW was pressed: acts at once.
    void press(int key, int modifiers);
    // For the numbers and bars of the panel; `seconds` since the frame before.
    void add_frame(const FrameStatistics& statistics, float seconds);

    // What the panel, at the right side, leaves of a target for the picture.
    [[nodiscard]] vk::Extent2D picture_area(vk::Extent2D target, float scale) const;
    // Where the small pictures lie on that area, and what they show.
    [[nodiscard]] Insets insets(const Session& session, vk::Extent2D target, float scale) const;

 private:
    [[nodiscard]] std::uint32_t width(float scale) const;

    struct Action {
        int key;
        bool with_control;
        const char* key_name;
        const char* description;
        std::function<void()> act;
    };
    static constexpr std::size_t HISTORY_FRAMES = 160;

    [[nodiscard]] std::vector<Action> make_actions();
    void draw_panel();
    void draw_technique();
    void draw_budget();
    void draw_sun();
    void draw_times();
    void draw_history() const;
    void draw_tiles() const;
    void draw_error() const;
    void draw_insets_section();
    void draw_flight();
    void draw_help();
    void draw_problem() const;

    Controls& controls_;
    const Show& show_;
    std::string device_name_;
    std::vector<Action> actions_;
    ShadowOptions draft_;  // of a slider that is being dragged
    FrameStatistics statistics_;
    std::array<Timings, HISTORY_FRAMES> history_{};
    std::size_t frame_ = 0;
    float frame_milliseconds_ = 0.0F;
    float scale_ = 1.0F;
};

}  // namespace quadtile::shadow
