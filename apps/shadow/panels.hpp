// Panel of the controls.

#pragma once

#include "controls.hpp"
#include "overlays.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace quadtile::shadow {

class Panels {
 public:
    Panels(Controls& controls, const Show& show, std::string device_name);
    Panels(const Panels&) = delete;  // actions point to it
    Panels& operator=(const Panels&) = delete;

    // Draws between ImGui::NewFrame and ImGui::Render, after the session's frame. `scale` is the
    // size of a pixel of a 96 dpi display. Waits for the device if something is picked.
    void draw(const Session& session, float scale);
    // Draws the panel without overlays.
    void draw_panel(float scale);
    // Acts on a pressed key of GLFW.
    void press(int key, int modifiers);
    // Adds a frame to the numbers and bars of the panel.
    void add_frame(const FrameStatistics& statistics, float frame_milliseconds);

    // Returns the part of a target that the panel, at the right side, leaves for the picture.
    [[nodiscard]] vk::Extent2D picture_area(vk::Extent2D target, float scale) const;
    // Returns places and contents of the small pictures in that area.
    [[nodiscard]] Insets insets(const Session& session, vk::Extent2D target, float scale) const;
    // Describes the picked tile; empty: none.
    [[nodiscard]] const std::string& picked_text() const { return picked_text_; }
    // Returns the bottom of the panel's statistics, in pixels from above.
    [[nodiscard]] float statistics_bottom() const { return statistics_bottom_; }

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
    void toggle_other();
    void unpick();
    void draw_picture_section();
    void draw_times() const;
    void draw_parts() const;
    void draw_history() const;
    void draw_tiles() const;
    void draw_errors() const;
    void draw_options();
    void draw_budget();
    void draw_lights();
    void draw_flight();
    void draw_insets_section();
    void draw_help();
    // Returns its height.
    float draw_problem() const;
    void draw_overlays(const Session& session, float top);
    void draw_picked(const Session& session, float right, float top);
    void follow_mouse(const Session& session);
    void pick_in_light_view(const glm::vec2& place);
    void find_next_error(const Session& session);
    void follow_picked(const Session& session);
    [[nodiscard]] std::optional<glm::vec2> pixel_of_picked(const Session& session) const;

    // Search for the next error; it restarts if the view or the technique changes.
    struct ErrorSearch {
        Camera camera;
        Technique technique = Technique::fitted;
        std::size_t next = 0;     // place in this view
        std::uint32_t steps = 0;  // along the flight since the last place
    };

    Controls& controls_;
    const Show& show_;
    std::string device_name_;
    std::vector<Action> actions_;
    ShadowOptions draft_;  // while a slider is dragged
    FrameStatistics statistics_;
    std::array<Timings, HISTORY_FRAMES> history_{};
    std::size_t frame_ = 0;
    float frame_milliseconds_ = 0.0F;
    float statistics_bottom_ = 0.0F;
    bool drags_wipe_ = false;
    ErrorSearch search_;
    std::string picked_text_;
    Insets insets_;           // of the last frame, and their place in the window
    vk::Extent2D picture_{};  // pixels
    float scale_ = 1.0F;
};

}  // namespace quadtile::shadow
