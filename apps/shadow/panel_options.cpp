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
    tip("Texels on a side of the image that holds all shadow maps, of every technique.");
    ImGui::BeginDisabled(!is_fitted);
    ImGui::SliderInt("Max tiles", &tiles, static_cast<int>(draft_.lights), 4096, "%d",
                     ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
    changed |= ImGui::IsItemDeactivatedAfterEdit();
    draft_.max_tiles = static_cast<std::uint32_t>(tiles);
    tip("Budget K of fitted shadow maps. Where it is short, all resolutions become coarser.");
    changed |= power_slider("Tile extent", draft_.tile_extent, 128, 1024);
    tip("Texels on a side of the largest slot.");
    changed |= power_slider("Map extent", draft_.map_extent, 64, 2048);
    tip("Texels on a side of each importance map: the finest tiles have one.");
    changed |= slider("Resolution scale", draft_.resolution_scale, 0.25F, 4.0F,
                      ImGuiSliderFlags_Logarithmic);
    tip("Shadow texels for each pixel, along a side.");
    changed |= slider("Edge scale", draft_.edge_scale, 1.0F, 16.0F, ImGuiSliderFlags_Logarithmic);
    tip("As many times more of them beside shadows' edges.");
    changed |= slider("Merge ratio", draft_.merge_ratio, 0.51F, 1.0F);
    tip("Tiles are merged below this part of the threshold for splitting; 1: no hysteresis.");
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
    tip("Rays to each light where soft shadows are cast: by technique 'rays', and for errors.");
}

void Panels::draw_flight() {
    ImGui::Checkbox("Follow the flight", &controls_.follows_flight);
    tip("F. Any key or turn that steers the camera ends it.");
    ImGui::SameLine();
    ImGui::Checkbox("Pause", &controls_.is_paused);
    tip("Space");
    const float seconds = show_.flight.seconds();
    controls_.flight_second = std::min(controls_.flight_second, seconds);
    ImGui::SliderFloat("Second", &controls_.flight_second, 0.0F, seconds, "%.1f s");
    tip("Of the flight");
    ImGui::SliderFloat("Speed", &controls_.units_per_second, 0.1F, 100.0F, "%.1f units/s",
                       ImGuiSliderFlags_Logarithmic);
    tip("Of the camera that is steered by W A S D Q E.");
}

void Panels::draw_insets_section() {
    ImGui::BeginDisabled(controls_.settings.technique != Technique::fitted);
    ImGui::Checkbox("Light's view", &controls_.shows_light_view);
    tip("L. The tiles of a light's map.");
    ImGui::SameLine();
    ImGui::Checkbox("Changes", &controls_.shows_changes);
    tip("K. In the light's view: what happened to tiles; else their levels.");
    slider("Zoom", controls_.zoom, 1.0F, 64.0F, ImGuiSliderFlags_Logarithmic);
    tip("Of the light's view, around the camera.");
    if (controls_.shadows.lights > 1) {
        auto light = static_cast<int>(controls_.light);
        ImGui::SliderInt("Light", &light, 0, static_cast<int>(controls_.shadows.lights) - 1);
        controls_.light = static_cast<std::uint32_t>(light);
        tip("Of the light's view and of the tile that is picked. A point light counts as six, and "
            "a "
            "sun as many times as it has levels.");
    }
    ImGui::EndDisabled();
    ImGui::BeginDisabled(controls_.settings.technique == Technique::rays);
    ImGui::Checkbox("Atlas", &controls_.shows_atlas);
    tip("M. The image with all shadow maps.");
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::Checkbox("Magnifier", &controls_.shows_magnifier);
    tip("Z. What is picked, eight times as large.");
    ImGui::BeginDisabled(controls_.display != Display::error &&
                         controls_.display != Display::sides);
    ImGui::SliderInt("Mark size", &controls_.mark_pixels, 0, 8, "+ %d px",
                     ImGuiSliderFlags_AlwaysClamp);
    tip("Marks of errors reach so far beyond the pixels that are wrong.");
    ImGui::EndDisabled();
    if (ImGui::Button("Next error")) {
        controls_.wants_next_error = true;
    }
    tip("N. Picks the place with most wrong pixels, then the next one; after the last one of this "
        "view, the next view of the flight that has any.");
}

}  // namespace quadtile::shadow
