// Elements of the panels: rows with a label at the left and a control at the right, each with a
// tooltip.

#pragma once

#include "thresholds.hpp"

#include "arguments.hpp"
#include "map_statistics.hpp"
#include "picture.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace quadtile::viewer {

constexpr ImU32 TEXT_COLOUR = IM_COL32(230, 233, 238, 255);
constexpr ImU32 DIM_COLOUR = IM_COL32(150, 157, 168, 255);
constexpr ImU32 GOOD_COLOUR = IM_COL32(104, 211, 145, 255);
constexpr ImU32 WARNING_COLOUR = IM_COL32(240, 190, 90, 255);
constexpr ImU32 BAD_COLOUR = IM_COL32(255, 112, 112, 255);
// Smallest side of a texel whose value is written into it, pixels.
constexpr float VALUE_SIDE = 44.0F;

// Width of a field for a number of six digits, such as 0.000123457, pixels.
constexpr float FIELD_WIDTH = 108.0F;

constexpr ImU32 ACCENT_COLOUR = IM_COL32(58, 123, 190, 255);

[[nodiscard]] ImU32 opaque(const app::Rgb& colour);
[[nodiscard]] ImU32 with_opacity(ImU32 colour, float opacity);

// "1,048,576"
[[nodiscard]] std::string count_text(std::uint64_t count);
// "12.3 µs" or "1.234 ms"
[[nodiscard]] std::string time_text(double milliseconds);

constexpr auto TABLE_FLAGS = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH |
                             ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_PadOuterX;

class Form {
 public:
    // Sets the pixels of this display per pixel of a display of 96 dots per inch.
    void set_scale(float scale) { scale_ = scale; }

    // Converts pixels of a display of 96 dots per inch.
    [[nodiscard]] float px(float pixels) const { return pixels * scale_; }

    // Draws the head of a section. Returns whether the section is open.
    [[nodiscard]] bool section(const char* title, bool is_open_at_first, const char* tooltip);
    // Sets the tooltip of the item before.
    void tip(const std::string& text);
    // Draws the label of a row. The next item is its control, as wide as the rest of the row.
    void label(const char* text, const std::string& tooltip);

    void text_row(const char* label, const std::string& tooltip, const std::string& text,
                  ImU32 colour = TEXT_COLOUR);
    // Draws a combo. The last names may lack tooltips. Returns whether the user has chosen another.
    bool combo(const char* label, const std::string& tooltip, std::span<const std::string> names,
               std::span<const std::string> tooltips, std::size_t& index);
    // For the values of a table of Named.
    template <typename Table, typename Value>
    bool combo(const char* label, const std::string& tooltip, const Table& table, Value& value,
               const std::vector<std::string>& tooltips) {
        const auto current =
            std::ranges::find_if(table, [&](const auto& one) { return one.value == value; });
        auto index = static_cast<std::size_t>(current - std::begin(table));
        const bool changed = combo(label, tooltip, app::names_in(table), tooltips, index);
        value = table[index].value;
        return changed;
    }
    bool checkbox(const char* label, const std::string& tooltip, bool& value);
    // Draws a checkbox. Beside it `control` draws the control that the checkbox enables.
    void switched(const char* label, const std::string& tooltip, bool& is_on,
                  const std::function<void()>& control);
    // Draws a logarithmic slider and a field for typing. The slider goes in eighths of a power of
    // two (with Alt in pixels). Values are not negative.
    bool logarithmic(const char* label, const std::string& tooltip, float& value,
                     const app::Range& range);
    // For float and std::uint32_t.
    template <typename Number>
    bool slider(const char* label_text, const std::string& tooltip, Number& value, Number low,
                Number high, const char* format) {
        constexpr bool IS_FLOAT = std::is_same_v<Number, float>;
        label(label_text, tooltip);
        ImGui::PushID(label_text);
        const bool changed =
            ImGui::SliderScalar("##slider", IS_FLOAT ? ImGuiDataType_Float : ImGuiDataType_U32,
                                &value, &low, &high, format, ImGuiSliderFlags_AlwaysClamp);
        tip(tooltip + " Ctrl+click to type.");
        ImGui::PopID();
        return changed;
    }
    // Draws a field for a positive whole number. The value changes when the user leaves the field.
    bool count_field(const char* id, std::uint64_t& value);
    // `width` 0: the text's width.
    bool button(const char* text, const std::string& tooltip, float width = 0.0F);

    void text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void text_right(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void wrapped_text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    void large_text(const std::string& text, ImU32 colour = TEXT_COLOUR);
    // Draws a square as high as a line of text. The next item is on the same line.
    void swatch(const app::Rgb& colour);
    // Draws the heads of a table, each with its tooltip.
    void table_heads(std::span<const std::array<const char*, 2>> heads);
    // Fills a part of the rest of the row or table cell.
    void bar(float part, ImU32 colour);

 private:
    float scale_ = 1.0F;
    std::optional<float> typed_number_;  // in the field that is being edited
    std::optional<std::uint64_t> typed_count_;
};

// A window over the panel with a field for the path of a file.
class PathField {
 public:
    using Take = std::function<void(const std::filesystem::path&)>;

    // Opens the window. `take` is called with the absolute path that the user enters. If the file
    // is to be written and exists already, Enter must be pressed twice.
    void open(const std::string& title, const std::filesystem::path& suggestion, bool writes,
              Take take);
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    // Enter or Escape was pressed, for the next draw().
    void enter() { enters_ = true; }
    void cancel() { cancels_ = true; }
    // Draws the window if it is open. Call it in each frame of Dear ImGui.
    void draw();

 private:
    bool is_open_ = false;
    bool appears_ = false;  // was opened since the last frame
    bool writes_ = false;
    bool enters_ = false;
    bool cancels_ = false;
    std::string title_;
    std::string text_;
    std::string replaced_;  // the text for which the user was asked whether to replace the file
    Take take_;
};

}  // namespace quadtile::viewer
