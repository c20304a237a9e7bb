// What the panels are made of: rows with a label at the left and a control at the right, each with
// a tooltip that explains it.

#pragma once

#include "arguments.hpp"
#include "picture.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace quadtile::viewer {

constexpr ImU32 TEXT_COLOUR = IM_COL32(230, 233, 238, 255);
constexpr ImU32 DIM_COLOUR = IM_COL32(150, 157, 168, 255);
constexpr ImU32 GOOD_COLOUR = IM_COL32(104, 211, 145, 255);
constexpr ImU32 WARNING_COLOUR = IM_COL32(240, 190, 90, 255);
constexpr ImU32 BAD_COLOUR = IM_COL32(255, 112, 112, 255);
// Pixels of a texel's side from which on its value is written into it.
constexpr float VALUE_SIDE = 44.0F;

constexpr ImU32 ACCENT_COLOUR = IM_COL32(58, 123, 190, 255);

[[nodiscard]] ImU32 opaque(const app::Rgb& colour);
[[nodiscard]] ImU32 with_opacity(ImU32 colour, float opacity);

// "1,048,576"
[[nodiscard]] std::string count_text(std::uint64_t count);
// With `digits` significant ones.
[[nodiscard]] std::string number_text(double value, int digits = 5);
// "12.3 µs" or "1.234 ms"
[[nodiscard]] std::string time_text(double milliseconds);

// A name in a list to choose from.
struct Choice {
    std::string name;
    std::string tooltip;  // empty: none
    bool is_possible = true;
};

// Choices with these names, and tooltips as far as there are any.
[[nodiscard]] std::vector<Choice> choices_of(const std::vector<std::string>& names,
                                             const std::vector<std::string>& tooltips = {});

constexpr auto TABLE_FLAGS = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH |
                             ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_PadOuterX;

struct ValueRange {
    float low;
    float high;
};

// A rectangle of the window, in Dear ImGui's coordinates.
struct Place {
    ImVec2 first;
    ImVec2 end;
};

class Form {
 public:
    // First in each frame.
    void begin_frame(float scale);
    // Whether a tooltip waits to be shown.
    [[nodiscard]] bool has_waiting_tooltip() const { return tooltip_waits_; }

    // Closes the list of a combo that is open; whether one is.
    bool close_list() { return closes_list_ = had_open_list_; }

    // The controls that the last frame has drawn, by "Section", "Section/Label", "Section/Button"
    // or "Section/Label/1", the second choice of a list that is open.
    [[nodiscard]] const std::map<std::string, Place>& places() const { return places_; }

    // From pixels of a display of 96 dots per inch.
    [[nodiscard]] float px(float pixels) const { return pixels * scale_; }

    // What places() names before the controls that follow; section() sets it, too.
    void begin_places(const std::string& section) { section_ = section; }
    // The head of a section; whether its rows are to be drawn.
    [[nodiscard]] bool section(const char* title, bool is_open_at_first, const char* tooltip);
    // Of the item before, once the mouse rests on it.
    void tip(const std::string& text);
    // The label of a row; the next item is its control, as wide as the rest of the row.
    void label(const char* text, const std::string& tooltip);

    void text_row(const char* label, const std::string& tooltip, const std::string& text,
                  ImU32 colour = TEXT_COLOUR);
    // Whether something else was chosen.
    bool combo(const char* label, const std::string& tooltip, std::span<const Choice> choices,
               std::size_t& index);
    // The same for the values in a table of Named, with tooltips as far as there are any.
    // `objection`: why none but the first can be chosen; empty: all can.
    template <typename Table, typename Value>
    bool combo(const char* label, const std::string& tooltip, const Table& table, Value& value,
               const std::vector<std::string>& tooltips, const std::string& objection = {}) {
        const auto values = std::views::transform(table, [](const auto& one) { return one.value; });
        auto index = static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
        std::vector<Choice> choices = choices_of(app::names_in(table), tooltips);
        for (std::size_t i = 1; i < choices.size() && !objection.empty(); ++i) {
            choices[i] = {choices[i].name, objection, false};
        }
        const bool changed = combo(label, tooltip, choices, index);
        value = table[index].value;
        return changed;
    }
    bool checkbox(const char* label, const std::string& tooltip, bool& value);
    // A checkbox, and beside it what it enables: `control` draws that.
    void switched(const char* label, const std::string& tooltip, bool& is_on,
                  const std::function<void()>& control, bool is_possible = true);
    // A slider over the logarithm, which goes in eighths of a power of two (with Alt in pixels),
    // and a field for typing. Not below zero.
    bool logarithmic(const char* label, const std::string& tooltip, float& value,
                     const ValueRange& range);
    bool slider(const char* label, const std::string& tooltip, float& value,
                const ValueRange& range, const char* format);
    // A positive whole number; entered when the field is left.
    bool count_field(const char* id, std::uint64_t& value);
    // `width` 0: as the text needs.
    bool button(const char* text, const std::string& tooltip, float width = 0.0F);
    bool prominent_button(const char* text, const std::string& tooltip, float width = 0.0F);

    void text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void wrapped_text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void large_text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    // Squares as high as a line of text; the next item is on the same line.
    void swatch(ImU32 colour);
    void tick(bool is_right);
    // The heads of a table, each with its tooltip.
    void table_heads(std::span<const std::array<const char*, 2>> heads);
    // Fills the rest of the row or table cell up to a part.
    void bar(float part, ImU32 colour);
    // The rest of the row in colours from left to right.
    void gradient(std::span<const app::Rgb> colours, float height);

 private:
    [[nodiscard]] ImVec2 square_in_text();
    // Of the item before.
    void note_place(const std::string& name);

    float scale_ = 1.0F;
    std::map<std::string, Place> places_;
    std::string section_;
    bool had_open_list_ = false;  // in the last frame
    bool has_open_list_ = false;
    bool closes_list_ = false;
    std::optional<float> typed_number_;  // in the field that is being edited
    std::optional<std::uint64_t> typed_count_;
    std::string waits_for_;  // the tooltip of what the mouse is on
    double waits_since_ = 0.0;
    bool tooltip_waits_ = false;
    bool is_tooltip_seen_ = false;  // in this frame
};

}  // namespace quadtile::viewer
