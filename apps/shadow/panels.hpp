// The panel for what the user can turn.

#pragma once

#include "controls.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace quadtile::shadow {

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
    // For the numbers and bars of the panel.
    void add_frame(const FrameStatistics& statistics, float frame_milliseconds);

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
