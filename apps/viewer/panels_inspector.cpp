// The inspector of the pinned tile, and the values in large texels.

#include "panels.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace quadtile::viewer {

namespace {

constexpr float INSPECTOR_WIDTH = 340.0F;
constexpr float INSPECTOR_TOP = 96.0F;  // below the name of the map
constexpr float INSPECTOR_MARGIN = 12.0F;

// Returns the sides of a tile on which the neighbour is coarser.
std::string coarser_text(const Tile& tile) {
    std::string text;
    for (const auto& [flag, side] :
         {std::pair(TILE_COARSER_LEFT, "left"), std::pair(TILE_COARSER_RIGHT, "right"),
          std::pair(TILE_COARSER_TOP, "top"), std::pair(TILE_COARSER_BOTTOM, "bottom")}) {
        if ((tile.flags() & flag) != 0) {
            text += (text.empty() ? "" : ", ") + std::string(side);
        }
    }
    return text.empty() ? "no neighbour" : text;
}

}  // namespace

// Writes the value into each texel that is large enough.
void Panels::draw_texel_values() {
    const View view = viewer_.view();
    const ImVec2 factor = ImGui::GetIO().DisplayFramebufferScale;
    const float side = view.zoom / factor.x;
    if (!has_map() || side < form_.px(VALUE_SIDE) || viewer_.settings.drawing.level != 0) {
        return;
    }
    const MapView map = viewer_.frame()->map.view();
    const auto texel = [&](float pixel, float origin, std::uint32_t extent) {
        return static_cast<std::uint32_t>(
            std::clamp(std::floor((pixel - origin) / view.zoom), 0.0F, float(extent - 1)));
    };
    const ImVec2 end{map_width() * factor.x, ImGui::GetIO().DisplaySize.y * factor.y};
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    list.PushClipRect({0.0F, 0.0F}, {map_width(), ImGui::GetIO().DisplaySize.y});
    const std::uint32_t right = texel(end.x, view.origin_x, map.shape.width);
    const std::uint32_t bottom = texel(end.y, view.origin_y, map.shape.height);
    for (std::uint32_t y = texel(0.0F, view.origin_y, map.shape.height); y <= bottom; ++y) {
        for (std::uint32_t x = texel(0.0F, view.origin_x, map.shape.width); x <= right; ++x) {
            const std::string text = number_text(app::texel_value(map, x, y), 3);
            const ImVec2 size = ImGui::CalcTextSize(text.c_str());
            const ImVec2 at{
                std::round((view.origin_x + (float(x) + 0.5F) * view.zoom) / factor.x - size.x / 2),
                std::round((view.origin_y + (float(y) + 0.5F) * view.zoom) / factor.y -
                           size.y / 2)};
            const float inset = form_.px(2.0F);
            list.AddRectFilled({at.x - inset, at.y}, {at.x + size.x + inset, at.y + size.y},
                               IM_COL32(14, 16, 20, 170), inset);
            list.AddText(at, TEXT_COLOUR, text.c_str());
        }
    }
    list.PopClipRect();
}

// Draws the inspector at the side of the map that the pinned texel is not on. The user may move it.
void Panels::draw_inspector() {
    if (!viewer_.pinned() || viewer_.frame() == nullptr) {
        inspector_frames_ = 0;
        return;
    }
    ++inspector_frames_;
    const ProbedTexel& texel = *viewer_.pinned();
    const float factor = ImGui::GetIO().DisplayFramebufferScale.x;
    const View view = viewer_.view();
    const bool is_left = (view.origin_x + float(texel.x) * view.zoom) / factor < map_width() / 2.0F;
    const float margin = form_.px(INSPECTOR_MARGIN);
    const float width = std::min(form_.px(INSPECTOR_WIDTH), map_width());
    const float top = form_.px(INSPECTOR_TOP);
    ImGui::SetNextWindowPos({is_left ? map_width() - width - margin : margin, top},
                            ImGuiCond_Appearing);
    ImGui::SetNextWindowSizeConstraints(
        {width, 0.0F}, {width, std::max(top, ImGui::GetIO().DisplaySize.y - top - margin)});
    ImGui::SetNextWindowSize({width, 0.0F});
    bool is_open = true;
    constexpr auto FLAGS = ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                           ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoFocusOnAppearing;
    if (ImGui::Begin("Pinned tile", &is_open, FLAGS)) {
        draw_texel(texel);
    }
    ImGui::End();
    if (!is_open) {
        viewer_.pin(std::nullopt);
    }
}

void Panels::draw_texel(const ProbedTexel& texel) {
    form_.text_row("Texel", "Column and row, from 0 at the upper left.",
                   std::to_string(texel.x) + ", " + std::to_string(texel.y));
    form_.text_row("Value", "Value in the file.", number_text(texel.value, 9));
    if (!texel.tile) {
        form_.text_row("Tile", "The tile that covers the texel.", "none", BAD_COLOUR);
        return;
    }
    const Tile& tile = *texel.tile;
    const MapShape& shape = viewer_.frame()->map.shape;
    const TexelRect rect = texels_of(tile, shape.width, shape.height);
    form_.text_row(
        "Tile", "Level (2^level texels on a side) and number in the list, from 0.",
        "level " + std::to_string(tile.level()) + ", number " + count_text(texel.tile_index));
    form_.text_row("Place", "First column and row, width and height, cut at the map's edge.",
                   std::to_string(rect.left) + ", " + std::to_string(rect.top) + ";  " +
                       std::to_string(rect.right - rect.left) + " x " +
                       std::to_string(rect.bottom - rect.top));
    if ((viewer_.summary().header.flags & TILE_LIST_BALANCED) != 0) {
        form_.text_row("Coarser", "Sides with a coarser neighbour; their outline is magenta.",
                       coarser_text(tile));
    }
    form_.text_row("Importance", "Largest importance in the tile.",
                   number_text(tile.importance, 7));
    form_.text_row("Threshold", "Threshold of the tile.", number_text(tile.threshold, 7));
    form_.text_row(
        "Ratio",
        "Importance / threshold: below 1, unless the tile is clamped, a single texel "
        "that cannot be split further.",
        number_text(tile.importance / tile.threshold, 4) + (tile.clamped() ? "  clamped" : ""),
        tile.clamped() ? WARNING_COLOUR : TEXT_COLOUR);
    draw_ancestors(texel);
}

void Panels::draw_ancestors(const ProbedTexel& texel) {
    constexpr std::array<std::array<const char*, 2>, 4> HEADS{
        {{"Level",
          "Squares of 2^level texels on a side that contain the texel, the smallest first."},
         {"Importance", "Largest importance in the square."},
         {"Threshold", "Threshold of the square: it is split if its importance is not below it."},
         {"Outcome", "State of the square: split, a tile, or inside of a tile."}}};
    if (texel.thresholds.empty() ||
        !ImGui::BeginTable("ancestors", static_cast<int>(HEADS.size()), TABLE_FLAGS)) {
        return;
    }
    form_.table_heads(HEADS);
    for (std::uint32_t level = 0; level < texel.thresholds.size(); ++level) {
        const bool is_tile = level == texel.tile->level();
        const bool is_inside = level < texel.tile->level();
        const ImU32 colour = is_inside ? DIM_COLOUR : TEXT_COLOUR;
        ImGui::TableNextRow();
        if (is_tile) {
            ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, with_opacity(ACCENT_COLOUR, 0.45F));
        }
        ImGui::TableNextColumn();
        form_.swatch(level_colour(level));
        form_.text(std::to_string(level), colour);
        ImGui::TableNextColumn();
        form_.text(number_text(texel.importance[level]), colour);
        ImGui::TableNextColumn();
        form_.text(number_text(texel.thresholds[level]), colour);
        ImGui::TableNextColumn();
        if (is_tile) {
            form_.text(texel.tile->clamped() ? "tile, clamped" : "tile");
        } else {
            form_.text(is_inside ? "in the tile" : "split", colour);
        }
    }
    ImGui::EndTable();
}

}  // namespace quadtile::viewer
