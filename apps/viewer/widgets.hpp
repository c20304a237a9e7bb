// Elements of the panels: rows with a label at the left and a control at the right, each with a
// tooltip.

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
#include <span>
#include <string>
#include <vector>

namespace quadtile::viewer {

constexpr ImU32 TEXT_COLOUR = IM_COL32(230, 233, 238, 255);
constexpr ImU32 DIM_COLOUR = IM_COL32(150, 157, 168, 255);
constexpr ImU32 GOOD_COLOUR = IM_COL32(104, 211, 145, 255);
constexpr ImU32 WARNING_COLOUR = IM_COL32(240, 190, 90, 255);
constexpr ImU32 BAD_COLOUR = IM_COL32(255, 112, 112, 255);
// Smallest side of a texel whose value is written into it, pixels.
constexpr float VALUE_SIDE = 44.0F;

constexpr ImU32 ACCENT_COLOUR = IM_COL32(58, 123, 190, 255);

[[nodiscard]] ImU32 opaque(const app::Rgb& colour);
[[nodiscard]] ImU32 with_opacity(ImU32 colour, float opacity);

// "1,048,576"
[[nodiscard]] std::string count_text(std::uint64_t count);
// Returns "1 tile" or "1,048,576 tiles".
[[nodiscard]] std::string tiles_text(std::uint64_t count);
// `digits`: significant digits.
[[nodiscard]] std::string number_text(double value, int digits = 5);
// "12.3 µs" or "1.234 ms"
[[nodiscard]] std::string time_text(double milliseconds);

// An entry of a list of choices.
struct Choice {
    std::string name;
    std::string tooltip;  // empty: none
    bool is_possible = true;
};

// Returns choices with these names. The last ones may lack tooltips.
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
    // Begins a frame. Call it first.
    void begin_frame(float scale);
    // Tells whether a tooltip is about to appear.
    [[nodiscard]] bool has_waiting_tooltip() const { return tooltip_waits_; }

    // Closes the open list of a combo. Returns whether there was one.
    bool close_list() { return closes_list_ = had_open_list_; }

    // Places of the controls in the last frame, by "Section", "Section/Label", "Section/Button" or
    // "Section/Label/1", the second choice of an open list.
    [[nodiscard]] const std::map<std::string, Place>& places() const { return places_; }

    // Converts pixels of a display of 96 dots per inch.
    [[nodiscard]] float px(float pixels) const { return pixels * scale_; }

    // Sets the first part of the names in places(). section() sets it, too.
    void begin_places(const std::string& section) { section_ = section; }
    // Draws the head of a section. Returns whether the section is open.
    [[nodiscard]] bool section(const char* title, bool is_open_at_first, const char* tooltip);
    // Sets the tooltip of the item before. It appears when the mouse rests on the item.
    void tip(const std::string& text);
    // Draws the label of a row. The next item is its control, as wide as the rest of the row.
    void label(const char* text, const std::string& tooltip);

    void text_row(const char* label, const std::string& tooltip, const std::string& text,
                  ImU32 colour = TEXT_COLOUR);
    // Returns whether the user has chosen another entry.
    bool combo(const char* label, const std::string& tooltip, std::span<const Choice> choices,
               std::size_t& index);
    // Draws a combo for the values of a table of Named; the last ones may lack tooltips.
    // `objection`: reason why only the first can be chosen; empty: all can.
    template <typename Table, typename Value>
    bool combo(const char* label, const std::string& tooltip, const Table& table, Value& value,
               const std::vector<std::string>& tooltips, const std::string& objection = {}) {
        const auto current =
            std::ranges::find_if(table, [&](const auto& one) { return one.value == value; });
        auto index = static_cast<std::size_t>(current - std::begin(table));
        std::vector<Choice> choices = choices_of(app::names_in(table), tooltips);
        for (std::size_t i = 1; i < choices.size() && !objection.empty(); ++i) {
            choices[i] = {choices[i].name, objection, false};
        }
        const bool changed = combo(label, tooltip, choices, index);
        value = table[index].value;
        return changed;
    }
    bool checkbox(const char* label, const std::string& tooltip, bool& value);
    // Draws a checkbox. Beside it `control` draws the control that the checkbox enables.
    void switched(const char* label, const std::string& tooltip, bool& is_on,
                  const std::function<void()>& control, bool is_possible = true);
    // Draws a logarithmic slider and a field for typing. The slider goes in eighths of a power of
    // two (with Alt in pixels). Values are not negative.
    bool logarithmic(const char* label, const std::string& tooltip, float& value,
                     const ValueRange& range);
    bool slider(const char* label, const std::string& tooltip, float& value,
                const ValueRange& range, const char* format);
    // Draws a field for a positive whole number. The value changes when the user leaves the field.
    bool count_field(const char* id, std::uint64_t& value);
    // `width` 0: the text's width.
    bool button(const char* text, const std::string& tooltip, float width = 0.0F);
    bool prominent_button(const char* text, const std::string& tooltip, float width = 0.0F);

    void text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void wrapped_text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void large_text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    // Draws a square as high as a line of text. The next item is on the same line.
    void swatch(ImU32 colour);
    void tick(bool is_right);
    // Draws the heads of a table, each with its tooltip.
    void table_heads(std::span<const std::array<const char*, 2>> heads);
    // Fills a part of the rest of the row or table cell.
    void bar(float part, ImU32 colour);
    // Draws the colours from left to right in the rest of the row.
    void gradient(std::span<const app::Rgb> colours, float height);

 private:
    [[nodiscard]] ImVec2 square_in_text();
    // Notes the place of the item before.
    void note_place(const std::string& name);

    float scale_ = 1.0F;
    std::map<std::string, Place> places_;
    std::string section_;
    bool had_open_list_ = false;  // in the last frame
    bool has_open_list_ = false;
    bool closes_list_ = false;
    std::optional<float> typed_number_;  // in the field that is being edited
    std::optional<std::uint64_t> typed_count_;
    std::string waits_for_;  // the tooltip of the item under the mouse
    double waits_since_ = 0.0;
    bool tooltip_waits_ = false;
    bool is_tooltip_seen_ = false;  // in this frame
};

}  // namespace quadtile::viewer
