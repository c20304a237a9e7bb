#include "panel.hpp"

#include "options.hpp"

#include <imgui.h>

#include <cmath>

namespace quadtile::shadow {

namespace {

void show_filters(FrameSettings& settings) {
    for (const auto& [name, filter] : FILTERS) {
        if (ImGui::RadioButton(std::string(name).c_str(), settings.filter == filter)) {
            settings.filter = filter;
        }
        ImGui::SameLine();
    }
    ImGui::TextUnformatted("filter (H)");
}

void show_sun(Light& sun) {
    const glm::vec3 to_sun = -glm::normalize(sun.direction);
    float azimuth = glm::degrees(std::atan2(to_sun.x, to_sun.z));
    float elevation = glm::degrees(std::asin(to_sun.y));
    bool has_moved = ImGui::SliderFloat("sun's azimuth", &azimuth, -180.0F, 180.0F, "%.1f");
    has_moved |= ImGui::SliderFloat("sun's elevation", &elevation, 1.0F, 89.0F, "%.1f");
    if (has_moved) {
        const glm::vec2 angles = glm::radians(glm::vec2(azimuth, elevation));
        sun.direction = -glm::vec3(std::sin(angles.x) * std::cos(angles.y), std::sin(angles.y),
                                   std::cos(angles.x) * std::cos(angles.y));
    }
}

void show_statistics(const PanelState& state) {
    const ShadowHeader& header = state.header;
    const Timings& times = state.timings;
    ImGui::Text("%.1f ms from frame to frame", static_cast<double>(state.frame_milliseconds));
    ImGui::Text("GPU, us: depth %.0f, fit %.0f, cull %.0f,", times.depth, times.fit, times.cull);
    ImGui::Text("    shadow maps %.0f, picture %.0f", times.maps, times.shade);
    ImGui::Text("%u tiles, %u drawn in this frame", header.tiles, header.render_count);
    ImGui::Text("%.0f %% of the atlas, resolution / %.2f",
                100.0 * header.used_cells / state.atlas_cells, static_cast<double>(header.factor));
}

}  // namespace

void show_panel(PanelState& state, float scale) {
    ImGui::SetNextWindowPos({10.0F * scale, 10.0F * scale}, ImGuiCond_Always);
    ImGui::SetNextWindowBgAlpha(0.85F);
    ImGui::Begin("Shadows", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                     ImGuiWindowFlags_NoMove);
    show_filters(state.settings);
    ImGui::Checkbox("tiles (T)", &state.settings.shows_tiles);
    if (state.has_moving) {
        ImGui::SameLine();
        ImGui::Checkbox("pause (space)", &state.is_paused);
    }
    if (state.settings.lights.front().kind == Light::Kind::sun) {
        ImGui::PushItemWidth(150.0F * scale);
        show_sun(state.settings.lights.front());
        ImGui::PopItemWidth();
    }
    ImGui::Separator();
    show_statistics(state);
    ImGui::Separator();
    ImGui::TextUnformatted("W A S D Q E, Shift: fly; right button: turn; Tab: panel");
    ImGui::End();
}

}  // namespace quadtile::shadow
