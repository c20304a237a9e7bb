// The lower part of the panel: options that seldom change.

#include "panels.hpp"

#include "widgets.hpp"

#include <algorithm>

namespace quadtile::shadow {

void Panels::draw_options() {
    const auto section = [](const char* title) { return ImGui::CollapsingHeader(title); };
    if (section("Resolution and budgets")) {
        draw_budget();
    }
    if (section("Lights")) {
        draw_lights();
    }
    if (section("Camera and flight")) {
        draw_flight();
    }
    if (section("Insets and marks")) {
        draw_insets_section();
    }
}

void Panels::draw_budget() {
    const bool is_fitted = controls_.uses(Technique::fitted);
    const bool has_maps = controls_.settings.technique != Technique::rays ||
                          (controls_.other && controls_.other != Technique::rays);
    auto tiles = static_cast<int>(draft_.max_tiles);
    bool changed = false;
    ImGui::BeginDisabled(!has_maps);
    changed |= power_slider("Atlas", draft_.atlas_extent, 512, 16384);
    ImGui::EndDisabled();
    tip("Side of the image that holds all shadow maps of a technique, in texels.");
    ImGui::BeginDisabled(!is_fitted);
    ImGui::SliderInt("Max tiles", &tiles, static_cast<int>(draft_.lights), 4096, "%d",
                     ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
    changed |= ImGui::IsItemDeactivatedAfterEdit();
    draft_.max_tiles = static_cast<std::uint32_t>(tiles);
    tip("Budget of tiles of fitted shadow maps. If it is too small, all resolutions become "
        "coarser.");
    changed |= power_slider("Tile extent", draft_.tile_extent, 128, 1024);
    tip("Side of the largest slot, in texels.");
    changed |= power_slider("Map extent", draft_.map_extent, 64, 2048);
    tip("Side of each importance map, in texels. The finest tiles cover one texel.");
    changed |= slider("Resolution scale", draft_.resolution_scale, 0.25F, 4.0F,
                      ImGuiSliderFlags_Logarithmic);
    tip("Shadow texels per pixel, along a side.");
    changed |= slider("Edge scale", draft_.edge_scale, 1.0F, 16.0F, ImGuiSliderFlags_Logarithmic);
    tip("Factor of these texels beside shadow edges.");
    changed |= slider("Merge ratio", draft_.merge_ratio, 0.51F, 1.0F);
    tip("Tiles are merged below this times the threshold for splitting; 1: no hysteresis.");
    changed |= slider("Atlas fill", draft_.atlas_fill, 0.1F, 1.0F);
    tip("Share of the atlas that slots may take.");
    changed |= slider("Importance decay", draft_.importance_decay, 0.0F, 0.99F);
    tip("Part of the last frame's importance that counts in this one.");
    changed |= slider("Max stretch", draft_.max_stretch, 1.0F, 64.0F, ImGuiSliderFlags_Logarithmic);
    tip("Largest ratio of a shadow's length to its width that texels follow.");
    ImGui::EndDisabled();
    if (changed) {
        controls_.problem.clear();
        controls_.shadows = draft_;
    } else if (!ImGui::IsAnyItemActive()) {
        draft_ = controls_.shadows;  // the renderer may have refused the draft
    }
}

void Panels::draw_lights() {
    float azimuth = controls_.sun_azimuth_degrees();
    float elevation = controls_.sun_elevation_degrees();
    bool changed = ImGui::SliderFloat("Sun azimuth", &azimuth, -180.0F, 180.0F, "%.0f°");
    // Stays below the zenith, where the sun has no azimuth.
    changed |= ImGui::SliderFloat("Sun elevation", &elevation, 2.0F, 89.0F, "%.0f°",
                                  ImGuiSliderFlags_AlwaysClamp);
    if (changed) {
        controls_.set_sun(azimuth, elevation);
    }
    std::vector<Light>& lights = controls_.settings.lights;
    ImGui::BeginDisabled(controls_.settings.filter != Filter::soft);
    ImGui::SliderFloat("Sun radius", &lights.front().radius, 0.0F, 5.0F, "%.2f°",
                       ImGuiSliderFlags_AlwaysClamp);
    tip("Radius of the sun's disc in the sky, for the soft filter; that of the real sun is 0.27°.");
    if (lights.size() > 1) {
        float radius = lights[1].radius;
        if (ImGui::SliderFloat("Lamp radius", &radius, 0.0F, 2.0F, "%.2f",
                               ImGuiSliderFlags_AlwaysClamp)) {
            std::for_each(lights.begin() + 1, lights.end(),
                          [&](Light& light) { light.radius = radius; });
        }
        tip("Radius of spot and point lights in units of the scene, for the soft filter.");
    }
    auto samples = static_cast<int>(controls_.samples);
    ImGui::SliderInt("Ray samples", &samples, 1, RayCaster::MOST_SAMPLES, "%d",
                     ImGuiSliderFlags_AlwaysClamp);
    controls_.samples = static_cast<std::uint32_t>(samples);
    ImGui::EndDisabled();
    tip("Rays to each light for soft shadows by ray casting: the technique 'rays', and errors.");
}

void Panels::draw_flight() {
    ImGui::Checkbox("Follow the flight", &controls_.follows_flight);
    tip("Moves the camera along the flight (F). Any key or turn that steers the camera ends it.");
    ImGui::SameLine();
    ImGui::Checkbox("Pause", &controls_.is_paused);
    tip("Space");
    const float seconds = show_.flight.seconds();
    controls_.flight_second = std::min(controls_.flight_second, seconds);
    ImGui::SliderFloat("Second", &controls_.flight_second, 0.0F, seconds, "%.1f s");
    tip("Time on the flight");
    ImGui::SliderFloat("Speed", &controls_.units_per_second, 0.1F, 100.0F, "%.1f units/s",
                       ImGuiSliderFlags_Logarithmic);
    tip("Speed of the camera for the keys W A S D Q E.");
}

void Panels::draw_insets_section() {
    ImGui::BeginDisabled(controls_.settings.technique != Technique::fitted);
    ImGui::Checkbox("Light's view", &controls_.shows_light_view);
    tip("Shows the tiles of a light's map (L).");
    ImGui::SameLine();
    ImGui::Checkbox("Changes", &controls_.shows_changes);
    tip("Shows changes of tiles in the light's view, instead of levels (K).");
    slider("Zoom", controls_.zoom, 1.0F, 64.0F, ImGuiSliderFlags_Logarithmic);
    tip("Magnification of the light's view, around the camera.");
    if (controls_.shadows.lights > 1) {
        auto light = static_cast<int>(controls_.light);
        ImGui::SliderInt("Light", &light, 0, static_cast<int>(controls_.shadows.lights) - 1);
        controls_.light = static_cast<std::uint32_t>(light);
        tip("Light of the light's view and of the picked tile. A point light counts as six, a sun "
            "as its number of levels.");
    }
    ImGui::EndDisabled();
    ImGui::BeginDisabled(controls_.settings.technique == Technique::rays);
    ImGui::Checkbox("Atlas", &controls_.shows_atlas);
    tip("Shows the image with all shadow maps (M).");
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::Checkbox("Magnifier", &controls_.shows_magnifier);
    tip("Shows the picked place, eight times as large (Z).");
    ImGui::BeginDisabled(controls_.display != Display::error &&
                         controls_.display != Display::sides);
    ImGui::SliderInt("Mark size", &controls_.mark_pixels, 0, 8, "+ %d px",
                     ImGuiSliderFlags_AlwaysClamp);
    tip("Pixels that marks of errors reach beyond the wrong pixels.");
    ImGui::EndDisabled();
    if (ImGui::Button("Next error")) {
        controls_.wants_next_error = true;
    }
    tip("Picks the place with most wrong pixels, then the next one. After the last one of this "
        "view, goes to the next view of the flight with errors (N).");
}

}  // namespace quadtile::shadow
