// Overlays of the picture: legends, the picked tile, the line between two techniques.

#pragma once

#include "session.hpp"

#include <imgui.h>

#include <span>
#include <string>
#include <vector>

namespace quadtile::shadow {

// Lengths are in Dear ImGui's unit: pixels of the window, divided by its scale for dense displays.
struct LegendLine {
    std::optional<ImU32> colour;  // of a square before the text
    std::string text;
};

struct Legend {
    std::string title;
    std::vector<LegendLine> lines;
};

[[nodiscard]] ImVec2 legend_extent(const Legend& legend, float scale);
void draw_legend(ImDrawList& list, const ImVec2& corner, const Legend& legend, float scale);

// Returns the levels of these tiles, finest first, with colours and numbers of tiles.
[[nodiscard]] Legend level_legend(std::span<const ShadowTile> tiles);
// Returns the changes of tiles in the last frame.
[[nodiscard]] Legend change_legend(std::span<const ShadowTile> tiles);
[[nodiscard]] Legend error_legend();
// Returns the data of the picked tile; null: unknown.
[[nodiscard]] Legend picked_legend(const ShadowTile* tile, const std::optional<TileAge>& age,
                                   const ShadowParameters& parameters, const Light& light);

void draw_ring(ImDrawList& list, const ImVec2& centre, float radius);
// Draws a vertical line through the picture with the names at its sides.
void draw_wipe(ImDrawList& list, float x, float height, const std::string& left,
               const std::string& right, float scale);
void draw_frame(ImDrawList& list, const ImVec2& low, const ImVec2& high, ImU32 colour);

}  // namespace quadtile::shadow
