// Widgets of the panel.

#pragma once

#include "arguments.hpp"

#include <imgui.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

namespace quadtile::shadow {

constexpr ImU32 HEADING_COLOUR = IM_COL32(140, 180, 235, 255);
constexpr ImU32 RULE_COLOUR = IM_COL32(70, 78, 92, 255);

template <typename... Values>
[[nodiscard]] std::string formatted(const char* format, Values... values) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

inline void row(const char* name, const std::string& value) {
    ImGui::TextDisabled("%s", name);
    ImGui::SameLine(0.45F * ImGui::GetWindowWidth());
    ImGui::TextUnformatted(value.c_str());
}

// Slider over the powers of two from `low` to `high`. Returns true when it is released.
inline bool power_slider(const char* label, std::uint32_t& value, std::uint32_t low,
                         std::uint32_t high) {
    const auto exponent_of = [](std::uint32_t of) {  // std::bit_width is unsigned with Clang
        return static_cast<int>(std::bit_width(of)) - 1;
    };
    int exponent = exponent_of(value);
    ImGui::SliderInt(label, &exponent, exponent_of(low), exponent_of(high),
                     std::to_string(value).c_str(), ImGuiSliderFlags_NoInput);
    value = 1U << static_cast<std::uint32_t>(exponent);
    return ImGui::IsItemDeactivatedAfterEdit();
}

inline bool slider(const char* label, float& value, float low, float high,
                   ImGuiSliderFlags flags = 0) {
    ImGui::SliderFloat(label, &value, low, high, "%.2f", flags | ImGuiSliderFlags_AlwaysClamp);
    return ImGui::IsItemDeactivatedAfterEdit();
}

// Tooltip of the last item, when the mouse rests on it.
inline void tip(const char* text) {
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
        ImGui::BeginTooltip();
        ImGui::PushTextWrapPos(26.0F * ImGui::GetFontSize());
        ImGui::TextUnformatted(text);
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
    }
}

inline void heading(const char* text) {
    ImGui::Spacing();
    ImGui::PushStyleColor(ImGuiCol_Text, HEADING_COLOUR);
    ImGui::TextUnformatted(text);
    ImGui::PopStyleColor();
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    const float middle = 0.5F * (low.y + high.y);
    ImGui::GetWindowDrawList()->AddLine(
        {high.x + 8.0F, middle},
        {ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x, middle}, RULE_COLOUR);
}

template <typename Table, typename Value>
void choose(const char* label, const Table& table, Value& value) {
    if (ImGui::BeginCombo(label, app::name_in(table, value).data())) {
        for (const auto& other : table) {
            if (ImGui::Selectable(other.name.data(), other.value == value)) {
                value = other.value;
            }
        }
        ImGui::EndCombo();
    }
}

}  // namespace quadtile::shadow
