// The panels of the viewer: Dear ImGui over a Viewer.

#pragma once

#include "colour_maps.hpp"
#include "viewer.hpp"
#include "widgets.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

// ---- Actions: one table, which handles keys and draws the help. Actions of the mouse stand in it
// for the help, without keys.

// A key of GLFW with exactly these modifiers (GLFW_MOD_*), or a character, whichever key writes it:
// the places of brackets and signs depend on the keyboard.
struct Shortcut {
    int key = 0;
    int modifiers = 0;
    unsigned int character = 0;

    friend bool operator==(const Shortcut&, const Shortcut&) = default;
};

struct Action {
    std::string group = {};  // a heading of the help, without an action; empty: an action
    std::string name = {};
    std::string keys = {};  // text in the help
    std::vector<Shortcut> shortcuts = {};
    std::function<void()> act = {};
    bool repeats = false;  // while the key is held
};

class Panels {
 public:
    explicit Panels(Viewer& viewer);
    Panels(const Panels&) = delete;  // its actions point to it
    Panels& operator=(const Panels&) = delete;

    // Draws all panels and lets the mouse act on the viewer. Call it between ImGui::NewFrame
    // and ImGui::Render. `scale`: pixels of this display per pixel of a display of 96 dots per
    // inch. The large number of tiles is in Dear ImGui's second font, if there is one.
    void draw(float scale);

    // Acts on a pressed key, as WindowProgram::take_key gets it, or on a typed character. While
    // text is typed, only keys with Ctrl act. Call it between frames. `is_repeated`: the key is
    // held.
    void press(Shortcut pressed, bool is_repeated = false);

    // Returns the width of the panel at the right side, in pixels. The rest shows the map.
    [[nodiscard]] float width(float scale) const;
    [[nodiscard]] vk::Rect2D map_area(vk::Extent2D extent, float scale) const;

    // Tells whether the next picture differs without any event.
    [[nodiscard]] bool is_animated() const;

    // Tells whether the user has asked to quit.
    [[nodiscard]] bool wants_to_quit() const { return quits_; }

 private:
    // Paragraph of a box over the map.
    struct Paragraph {
        std::string text;
        ImU32 colour;
    };

    // ---- panels.cpp: the frame, the mouse, boxes over the map
    void draw_panel();
    void draw_section(const char* title, bool is_open_at_first, const char* tooltip,
                      void (Panels::*draw_rows)());
    void draw_panel_head();
    void draw_overlay();
    void draw_messages();
    void draw_highlights();
    void draw_highlight(const ProbedTexel& texel, ImU32 colour, float thickness);
    void draw_hover_box();
    void draw_help();
    // Returns the height of the box. It lies below `corner`, or above it (`upwards`).
    float draw_box(const std::vector<Paragraph>& paragraphs, ImVec2 corner, bool upwards);
    void handle_mouse();
    void handle_button(int button, bool is_over_map);
    [[nodiscard]] float map_width() const;  // in ImGui's coordinates
    [[nodiscard]] bool has_map() const;     // on the device
    [[nodiscard]] std::uint32_t map_top_level() const;
    [[nodiscard]] bool shows_notice() const;

    // ---- panels_actions.cpp
    [[nodiscard]] std::vector<Action> make_actions();
    void zoom_in_middle(float factor);
    void change_range_mode(bool automatic);
    void change_pyramid_level(int levels);
    void choose_threshold_kind(ThresholdKind kind);
    void leave_step_by_step();
    void restore_threshold(std::size_t number);
    void change_balance();
    void change_budget();
    void ask_for_files();
    void ask_for_glsl();

    // A kind of file that can be saved.
    struct Export {
        const char* name;
        const char* what;
        const char* ending;  // of the suggested name
        const char* keys;
        void (*write)(Viewer& viewer, const std::filesystem::path& path);
    };
    [[nodiscard]] static const std::vector<Export>& exports();
    void save(const Export& one);

    // ---- panels_map.cpp
    void draw_map_section();
    void draw_files();
    void draw_channel();
    void draw_values();
    void draw_go_to();
    void draw_threshold_section();
    void draw_threshold_levels(const app::Range& range);
    void draw_memory_threshold(const app::Range& range);
    void draw_glsl_threshold();
    void draw_tile_search();

    // ---- panels_drawing.cpp
    void draw_drawing_section();
    void draw_colours();
    void draw_histogram();
    void draw_fill();
    [[nodiscard]] app::Rgb level_colour(std::uint32_t level) const;

    // ---- panels_inspector.cpp
    void draw_texel_values();
    void draw_inspector();
    void draw_texel(const ProbedTexel& texel);
    void draw_ancestors(const ProbedTexel& texel);

    // ---- panels_tiles.cpp
    void draw_subdivision_section();
    void draw_tiles_section();
    void draw_totals();
    void draw_levels_table();
    void draw_exports();
    void draw_times();

    Viewer& viewer_;
    Form form_;
    PathField path_field_;
    std::filesystem::path last_folder_;  // of the last opened file; empty: the current one
    std::vector<Action> actions_;
    app::ColourTable level_colours_;
    bool shows_help_ = false;
    bool has_shown_notice_ = false;  // in the last frame
    bool quits_ = false;
    float scale_ = 1.0F;
    std::array<int, 2> texel_to_show_{};
    std::vector<ThresholdSettings> thresholds_;  // of the run, for undo and redo
    std::size_t threshold_number_ = 0;           // the present one
    int inspector_frames_ = 0;                   // frames since the inspector was opened

    std::optional<app::TexelPosition> under_mouse_;
    std::array<bool, 3> is_map_grabbed_{};  // for each button of the mouse
    bool moves_high_end_ = false;           // a drag on the histogram moves the range's high end
};

}  // namespace quadtile::viewer
