#include "overlays.hpp"

#include "shaders/level_colour.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace quadtile::shadow {

namespace {

constexpr ImU32 BACKGROUND = IM_COL32(14, 16, 20, 215);
constexpr ImU32 TITLE_COLOUR = IM_COL32(160, 190, 230, 255);
constexpr ImU32 LINE_COLOUR = IM_COL32(255, 255, 255, 230);
constexpr float BORDER = 7.0F;

float line_height() {
    return ImGui::GetTextLineHeight() + 3.0F;
}

ImU32 level_colour(std::uint32_t level) {
    const auto channel = [&](std::uint32_t i) {
        return static_cast<int>(255.0F * level_channel(level, i) + 0.5F);
    };
    return IM_COL32(channel(0), channel(1), channel(2), 255);
}

void draw_label(ImDrawList& list, const ImVec2& corner, const std::string& text, float scale) {
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    const float border = 4.0F * scale;
    list.AddRectFilled({corner.x - border, corner.y - border},
                       {corner.x + extent.x + border, corner.y + extent.y + border}, BACKGROUND,
                       3.0F * scale);
    list.AddText(corner, LINE_COLOUR, text.c_str());
}

}  // namespace

ImVec2 legend_extent(const Legend& legend, float scale) {
    float wide = ImGui::CalcTextSize(legend.title.c_str()).x;
    for (const LegendLine& line : legend.lines) {
        const float square = line.colour ? ImGui::GetTextLineHeight() + 4.0F * scale : 0.0F;
        wide = std::max(wide, square + ImGui::CalcTextSize(line.text.c_str()).x);
    }
    const float high = static_cast<float>(legend.lines.size() + 1) * line_height();
    return {wide + 2.0F * BORDER * scale, high + 2.0F * BORDER * scale};
}

void draw_legend(ImDrawList& list, const ImVec2& corner, const Legend& legend, float scale) {
    const ImVec2 extent = legend_extent(legend, scale);
    list.AddRectFilled(corner, {corner.x + extent.x, corner.y + extent.y}, BACKGROUND,
                       4.0F * scale);
    ImVec2 at{corner.x + BORDER * scale, corner.y + BORDER * scale};
    list.AddText(at, TITLE_COLOUR, legend.title.c_str());
    const float side = ImGui::GetTextLineHeight();
    for (const LegendLine& line : legend.lines) {
        at.y += line_height();
        float left = at.x;
        if (line.colour) {
            list.AddRectFilled({at.x, at.y + 2.0F * scale},
                               {at.x + side - 2.0F * scale, at.y + side}, *line.colour);
            left += side + 4.0F * scale;
        }
        list.AddText({left, at.y}, LINE_COLOUR, line.text.c_str());
    }
}

Legend level_legend(std::span<const ShadowTile> tiles) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const ShadowTile& tile : tiles) {
        ++counts[tile.node & 0xffU];
    }
    Legend legend{.title = "Level: tiles"};
    for (const auto& [level, count] : counts) {
        legend.lines.push_back(
            {level_colour(level), std::to_string(level) + ": " + std::to_string(count)});
    }
    return legend;
}

Legend change_legend(std::span<const ShadowTile> tiles) {
    std::size_t kept = 0;
    std::size_t drawn_again = 0;
    std::size_t added = 0;
    for (const ShadowTile& tile : tiles) {
        const bool is_kept = (tile.state & (SHADOW_KEPT << 8U)) != 0;
        const bool is_drawn = (tile.state & (SHADOW_RENDER << 8U)) != 0;
        kept += is_kept && !is_drawn ? 1 : 0;
        drawn_again += is_kept && is_drawn ? 1 : 0;
        added += is_kept ? 0 : 1;
    }
    return {"Changes of tiles",
            {{IM_COL32(51, 61, 77, 255), "kept as it was: " + std::to_string(kept)},
             {IM_COL32(242, 204, 64, 255), "kept, drawn again: " + std::to_string(drawn_again)},
             {IM_COL32(242, 115, 51, 255), "new: " + std::to_string(added)}}};
}

Legend error_legend() {
    return {"Errors of hard shadows",
            {{IM_COL32(255, 26, 13, 255), "lit, but in shadow by rays"},
             {IM_COL32(26, 89, 255, 255), "in shadow, but lit by rays"}}};
}

Legend picked_legend(const ShadowTile* tile, const std::optional<TileAge>& age,
                     const ShadowParameters& parameters, const Light& light) {
    Legend legend{.title = "Picked tile"};
    if (tile == nullptr) {
        legend.lines.push_back({std::nullopt, "outside of the light's map"});
        return legend;
    }
    const auto add = [&](const char* format, auto... values) {
        std::array<char, 120> text{};
        std::snprintf(text.data(), text.size(), format, values...);
        legend.lines.push_back({std::nullopt, text.data()});
    };
    const std::uint32_t level = tile->node & 0xffU;
    const std::uint32_t slot = shadow_slot_extent(parameters.tile_extent, tile->state & 0xffU);
    add("light %u: %s", tile->node >> 16U, light.kind == Light::Kind::sun ? "the sun" : "a spot");
    legend.lines.push_back({level_colour(level), "level " + std::to_string(level)});
    add("slot %u x %u texels at (%u, %u)", slot, slot, tile->slot & 0xffffU, tile->slot >> 16U);
    add("%.3g texels per map texel",
        static_cast<double>(shadow_crop_density(parameters, level, tile->state & 0xffU)));
    if (age) {
        add("frames in the list: %u", age->in_list);
        add("frames since drawn: %u", age->drawn);
    }
    return legend;
}

void draw_ring(ImDrawList& list, const ImVec2& centre, float radius) {
    list.AddCircle(centre, radius, IM_COL32(0, 0, 0, 200), 32, 4.0F);
    list.AddCircle(centre, radius, IM_COL32(255, 230, 60, 255), 32, 2.0F);
}

void draw_wipe(ImDrawList& list, float x, float height, const std::string& left,
               const std::string& right, float scale) {
    list.AddLine({x, 0.0F}, {x, height}, IM_COL32(0, 0, 0, 200), 3.0F * scale);
    list.AddLine({x, 0.0F}, {x, height}, LINE_COLOUR, scale);
    list.AddCircleFilled({x, 0.5F * height}, 6.0F * scale, LINE_COLOUR);
    const float y = height - ImGui::GetTextLineHeight() - 10.0F * scale;
    draw_label(list, {x - ImGui::CalcTextSize(left.c_str()).x - 12.0F * scale, y}, left, scale);
    draw_label(list, {x + 12.0F * scale, y}, right, scale);
}

void draw_frame(ImDrawList& list, const ImVec2& low, const ImVec2& high, ImU32 colour) {
    list.AddRect({low.x - 1.0F, low.y - 1.0F}, {high.x + 1.0F, high.y + 1.0F}, colour, 0.0F, 0,
                 2.0F);
}

}  // namespace quadtile::shadow
