// The panel in the window.

#pragma once

#include "renderer.hpp"

namespace quadtile::shadow {

// What the panel shows and changes.
struct PanelState {
    FrameSettings settings;
    bool has_moving = false;  // boxes
    bool is_paused = false;
    bool shows_panel = true;

    // Of the last frame.
    float frame_milliseconds = 0.0F;
    Timings timings;
    ShadowHeader header{};
    std::uint32_t atlas_cells = 1;
};

// Call it between ImGui::NewFrame and ImGui::Render.
void show_panel(PanelState& state, float scale);

}  // namespace quadtile::shadow
