#include "widgets.hpp"

#include "platform.hpp"
#include "settings.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace quadtile::viewer {

namespace {

constexpr float LABEL_COLUMN = 124.0F;
constexpr float TOOLTIP_WIDTH = 320.0F;

// Rounds a finite value to few digits, for sliders.
float rounded(float value) {
    return std::min(std::strtof(number_text(value, 4).c_str(), nullptr), FLT_MAX);
}

// Takes a number typed into the field before. The value changes when the user leaves the field: on
// the way from 1 to 16, 1 may mean millions of tiles. Only one field at a time is typed in.
template <typename Number, typename IsGood>
bool take_when_left(bool is_edited, Number shown, std::optional<Number>& typed, Number& value,
                    const IsGood& is_good) {
    if (is_edited) {
        typed = shown;
    }
    if (!ImGui::IsItemDeactivatedAfterEdit() || !typed) {
        return false;
    }
    const Number entered = *std::exchange(typed, std::nullopt);
    const bool changes = is_good(entered) && entered != value;
    value = changes ? entered : value;
    return changes;
}

}  // namespace

ImU32 opaque(const app::Rgb& colour) {
    return IM_COL32(colour[0], colour[1], colour[2], 255);
}

ImU32 with_opacity(ImU32 colour, float opacity) {
    const auto alpha = static_cast<ImU32>(255.0F * std::clamp(opacity, 0.0F, 1.0F));
    return (colour & ~IM_COL32_A_MASK) | alpha << IM_COL32_A_SHIFT;
}

std::string count_text(std::uint64_t count) {
    std::string text = std::to_string(count);
    for (std::size_t end = text.size(); end > 3; end -= 3) {
        text.insert(end - 3, ",");
    }
    return text;
}

std::string time_text(double milliseconds) {
    std::array<char, 64> text;
    if (milliseconds < 1.0) {
        std::snprintf(text.data(), text.size(), "%.1f \u00b5s", 1000.0 * milliseconds);
    } else {
        std::snprintf(text.data(), text.size(), "%.3f ms", milliseconds);
    }
    return text.data();
}

bool Form::section(const char* title, bool is_open_at_first, const char* tooltip) {
    ImGui::Dummy({0.0F, px(1.0F)});
    const bool is_open = ImGui::CollapsingHeader(
        title, is_open_at_first ? ImGuiTreeNodeFlags_DefaultOpen : ImGuiTreeNodeFlags_None);
    tip(tooltip);
    return is_open;
}

void Form::tip(const std::string& text) {
    const bool is_hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
    if (text.empty() || !is_hovered || ImGui::IsItemActive()) {
        return;
    }
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(px(TOOLTIP_WIDTH));
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

// ---- Rows

void Form::label(const char* text, const std::string& tooltip) {
    ImGui::AlignTextToFramePadding();
    ImGui::PushStyleColor(ImGuiCol_Text, DIM_COLOUR);
    ImGui::TextUnformatted(text);
    ImGui::PopStyleColor();
    tip(tooltip);
    ImGui::SameLine(px(LABEL_COLUMN));
    ImGui::SetNextItemWidth(-FLT_MIN);
}

void Form::text_row(const char* label_text, const std::string& tooltip, const std::string& value,
                    ImU32 colour) {
    label(label_text, tooltip);
    wrapped_text(value, colour);
    tip(tooltip);
}

bool Form::combo(const char* label_text, const std::string& tooltip,
                 std::span<const std::string> names, std::span<const std::string> tooltips,
                 std::size_t& index) {
    label(label_text, tooltip);
    ImGui::PushID(label_text);
    bool changed = false;
    const char* const preview = index < names.size() ? names[index].c_str() : "";
    const bool is_open = ImGui::BeginCombo("##combo", preview, ImGuiComboFlags_HeightLarge);
    if (is_open) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            ImGui::PushID(static_cast<int>(i));
            if (ImGui::Selectable(names[i].c_str(), i == index) && i != index) {
                index = i;
                changed = true;
            }
            tip(i < tooltips.size() ? tooltips[i] : "");
            ImGui::PopID();
        }
        ImGui::EndCombo();
    } else {
        tip(tooltip);
    }
    ImGui::PopID();
    return changed;
}

bool Form::checkbox(const char* label_text, const std::string& tooltip, bool& value) {
    label(label_text, tooltip);
    ImGui::PushID(label_text);
    const bool changed = ImGui::Checkbox("##checkbox", &value);
    tip(tooltip);
    ImGui::PopID();
    return changed;
}

void Form::switched(const char* label_text, const std::string& tooltip, bool& is_on,
                    const std::function<void()>& control) {
    checkbox(label_text, tooltip, is_on);
    ImGui::SameLine();
    ImGui::BeginDisabled(!is_on);
    ImGui::SetNextItemWidth(-FLT_MIN);
    control();
    ImGui::EndDisabled();
}

bool Form::logarithmic(const char* label_text, const std::string& tooltip, float& value,
                       const app::Range& range) {
    const float low = std::log2(range.low);
    const float high = std::log2(std::max(range.high, 1.01F * range.low));
    float exponent = value > 0.0F ? std::clamp(std::log2(value), low, high) : low;

    label(label_text, tooltip);
    ImGui::PushID(label_text);
    const float spacing = ImGui::GetStyle().ItemInnerSpacing.x;
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - px(FIELD_WIDTH) - spacing);
    bool changed = ImGui::SliderFloat("##slider", &exponent, low, high, "",
                                      ImGuiSliderFlags_NoRoundToFormat | ImGuiSliderFlags_NoInput);
    if (changed) {
        constexpr float STEPS_PER_OCTAVE = 8.0F;
        const float step = std::round(exponent * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE;
        value = rounded(std::exp2(ImGui::GetIO().KeyAlt ? exponent : step));
    }
    tip(tooltip);
    ImGui::SameLine(0.0F, spacing);
    ImGui::SetNextItemWidth(-FLT_MIN);
    float shown = value;
    const bool is_edited = ImGui::InputFloat("##field", &shown, 0.0F, 0.0F, "%.6g",
                                             ImGuiInputTextFlags_CharsScientific);
    changed |= take_when_left(is_edited, shown, typed_number_, value,
                              [](float typed) { return std::isfinite(typed) && typed >= 0.0F; });
    tip("Click to type a number; Enter takes it.");
    ImGui::PopID();
    return changed;
}

bool Form::count_field(const char* id, std::uint64_t& value) {
    std::uint64_t shown = value;
    const bool is_edited = ImGui::InputScalar(id, ImGuiDataType_U64, &shown);
    return take_when_left(is_edited, shown, typed_count_, value, [](std::uint64_t typed) {
        return typed > 0 && typed <= MAX_TILES_LIMIT;
    });
}

bool Form::button(const char* text, const std::string& tooltip, float width) {
    const bool is_pressed = ImGui::Button(text, {width, 0.0F});
    tip(tooltip);
    return is_pressed;
}

// ---- Text and small pictures

void Form::text(const std::string& text, ImU32 colour) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(text.c_str(), text.c_str() + text.size());
    ImGui::PopStyleColor();
}

void Form::text_right(const std::string& shown, ImU32 colour) {
    const float left = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(shown.c_str()).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, left));
    text(shown, colour);
}

void Form::wrapped_text(const std::string& wrapped, ImU32 colour) {
    ImGui::PushTextWrapPos(0.0F);
    text(wrapped, colour);
    ImGui::PopTextWrapPos();
}

// Writes in the second font; if there is none, enlarges the first one.
void Form::large_text(const std::string& large, ImU32 colour) {
    const ImVector<ImFont*>& fonts = ImGui::GetIO().Fonts->Fonts;
    if (fonts.Size > 1) {
        ImGui::PushFont(fonts[1]);
        text(large, colour);
        ImGui::PopFont();
        return;
    }
    ImGui::SetWindowFontScale(1.7F);
    text(large, colour);
    ImGui::SetWindowFontScale(1.0F);
}

void Form::swatch(const app::Rgb& colour) {
    // A space as high as text, so that the square is in line with the line's texts.
    ImGui::TextUnformatted(" ");
    const ImVec2 corner = ImGui::GetItemRectMin();
    const float size = ImGui::GetTextLineHeight();
    ImGui::SameLine(0.0F, 0.0F);
    ImGui::Dummy({size - ImGui::GetItemRectSize().x, 0.0F});
    ImGui::SameLine(0.0F, px(4.0F));
    const float inset = px(2.0F);
    const ImVec2 first{corner.x + inset, corner.y + inset};
    const ImVec2 end{corner.x + size - inset, corner.y + size - inset};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(first, end, opaque(colour));
    list.AddRect(first, end, with_opacity(DIM_COLOUR, 0.6F));
}

void Form::table_heads(std::span<const std::array<const char*, 2>> heads) {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (const auto& [name, tooltip] : heads) {
        ImGui::TableNextColumn();
        text(name, DIM_COLOUR);
        tip(tooltip);
    }
}

void Form::bar(float part, ImU32 colour) {
    const ImVec2 size{ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()};
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float inset = px(3.0F);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto fill = [&](float width, ImU32 bar_colour) {
        list.AddRectFilled({corner.x, corner.y + inset},
                           {corner.x + width, corner.y + size.y - inset}, bar_colour, px(2.0F));
    };
    fill(size.x, IM_COL32(255, 255, 255, 16));
    if (part > 0.0F) {
        // Even the smallest part is visible.
        fill(std::max(px(2.0F), std::min(part, 1.0F) * size.x), colour);
    }
    ImGui::Dummy(size);
}

// ---- The field for a path

void PathField::open(const std::string& title, const std::filesystem::path& suggestion, bool writes,
                     Take take) {
    is_open_ = appears_ = true;
    enters_ = cancels_ = false;
    writes_ = writes;
    title_ = title;
    text_ = app::text_of(std::filesystem::absolute(suggestion));
    replaced_.clear();
    take_ = std::move(take);
}

void PathField::draw() {
    if (!is_open_) {
        return;
    }
    const std::string label = title_ + "###path";
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float line = ImGui::GetTextLineHeight();
    if (appears_) {
        ImGui::OpenPopup(label.c_str());
    }
    ImGui::SetNextWindowSize({std::min(54.0F * line, display.x), 0.0F});
    ImGui::SetNextWindowPos({display.x / 2.0F, display.y / 2.0F}, ImGuiCond_Always, {0.5F, 0.5F});
    if (!ImGui::BeginPopupModal(label.c_str(), &is_open_, ImGuiWindowFlags_NoSavedSettings)) {
        is_open_ = false;  // the user clicked its cross
        return;
    }
    if (std::exchange(appears_, false)) {
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1.0F);
    ImGui::InputText("##path", &text_, ImGuiInputTextFlags_AutoSelectAll);
    const bool asks = !replaced_.empty() && replaced_ == text_;
    const char* const verb = asks ? "Replace the file" : writes_ ? "Save" : "Open";
    enters_ = ImGui::Button(verb, {10.0F * line, 0.0F}) || enters_;
    ImGui::SameLine();
    cancels_ = ImGui::Button("Cancel", {10.0F * line, 0.0F}) || cancels_;
    std::error_code ignored;
    if (std::exchange(enters_, false) && !text_.empty()) {
        if (writes_ && !asks && std::filesystem::exists(app::path_of(text_), ignored)) {
            replaced_ = text_;
        } else {
            take_(std::filesystem::absolute(app::path_of(text_)));
            is_open_ = false;
        }
    }
    is_open_ = is_open_ && !std::exchange(cancels_, false);
    if (!is_open_) {
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

}  // namespace quadtile::viewer
