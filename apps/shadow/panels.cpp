#include "panels.hpp"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

namespace quadtile::shadow {

namespace {

constexpr float PANEL_WIDTH = 330.0F;
constexpr float INSET_EXTENT = 240.0F;
constexpr float MARGIN = 12.0F;
constexpr ImU32 BOX_COLOUR = IM_COL32(14, 16, 20, 200);
constexpr ImU32 PROBLEM_COLOUR = IM_COL32(255, 140, 110, 255);

struct Part {
    const char* name;
    double Timings::*microseconds;
    ImU32 colour;
};
constexpr std::array<Part, 5> PARTS{{{"depth", &Timings::depth, IM_COL32(120, 160, 210, 255)},
                                     {"fit", &Timings::fit, IM_COL32(240, 180, 80, 255)},
                                     {"cull", &Timings::cull, IM_COL32(210, 110, 90, 255)},
                                     {"maps", &Timings::maps, IM_COL32(120, 190, 120, 255)},
                                     {"shade", &Timings::shade, IM_COL32(160, 130, 200, 255)}}};

double sum_of(const Timings& timings) {
    double sum = 0.0;
    for (const Part& part : PARTS) {
        sum += timings.*part.microseconds;
    }
    return sum;
}

template <typename... Values>
std::string formatted(const char* format, Values... values) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

void row(const char* name, const std::string& value) {
    ImGui::TextDisabled("%s", name);
    ImGui::SameLine(0.45F * ImGui::GetWindowWidth());
    ImGui::TextUnformatted(value.c_str());
}

// A slider over the powers of two from `low` to `high`. True where it is let go.
bool power_slider(const char* label, std::uint32_t& value, std::uint32_t low, std::uint32_t high) {
    int exponent = std::bit_width(value) - 1;
    ImGui::SliderInt(label, &exponent, std::bit_width(low) - 1, std::bit_width(high) - 1,
                     std::to_string(value).c_str(), ImGuiSliderFlags_NoInput);
    value = 1U << static_cast<std::uint32_t>(exponent);
    return ImGui::IsItemDeactivatedAfterEdit();
}

bool slider(const char* label, float& value, float low, float high, ImGuiSliderFlags flags = 0) {
    ImGui::SliderFloat(label, &value, low, high, "%.2f", flags | ImGuiSliderFlags_AlwaysClamp);
    return ImGui::IsItemDeactivatedAfterEdit();
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

}  // namespace

Panels::Panels(Controls& controls, const Show& show, std::string device_name)
    : controls_(controls),
      show_(show),
      device_name_(std::move(device_name)),
      actions_(make_actions()),
      draft_(controls.shadows) {}

// ---- Keys

std::vector<Panels::Action> Panels::make_actions() {
    const auto use = [this](Technique technique) {
        return [this, technique] { controls_.settings.technique = technique; };
    };
    const auto show = [this](Display display) {
        return [this, display] {
            controls_.display = controls_.display == display ? Display::shaded : display;
        };
    };
    const auto flip = [](bool& flag) { return [&flag] { flag = !flag; }; };
    const auto begin_flight = [this] {
        controls_.flight_second = 0.0F;
        controls_.follows_flight = true;
    };
    return {{GLFW_KEY_1, false, "1", "fitted", use(Technique::fitted)},
            {GLFW_KEY_2, false, "2", "single map", use(Technique::single)},
            {GLFW_KEY_3, false, "3", "cascades", use(Technique::cascades)},
            {GLFW_KEY_4, false, "4", "stable cascades", use(Technique::stable_cascades)},
            {GLFW_KEY_T, false, "T", "tiles", show(Display::tiles)},
            {GLFW_KEY_X, false, "X", "errors", show(Display::error)},
            {GLFW_KEY_B, false, "B", "shaded and errors, both", show(Display::sides)},
            {GLFW_KEY_H, false, "H", "hard or filtered shadows", flip(controls_.settings.filtered)},
            {GLFW_KEY_F, false, "F", "follow the flight, or steer", flip(controls_.follows_flight)},
            {GLFW_KEY_SPACE, false, "Space", "pause", flip(controls_.is_paused)},
            {GLFW_KEY_R, false, "R", "the flight from its beginning", begin_flight},
            {GLFW_KEY_L, false, "L", "what the light sees", flip(controls_.shows_light_view)},
            {GLFW_KEY_K, false, "K", "there: levels or changes", flip(controls_.shows_changes)},
            {GLFW_KEY_M, false, "M", "the atlas", flip(controls_.shows_atlas)},
            {GLFW_KEY_TAB, false, "Tab", "this panel", flip(controls_.shows_panel)},
            {GLFW_KEY_F1, false, "F1", "help", flip(controls_.shows_help)},
            {GLFW_KEY_Q, true, "Ctrl+Q", "quit", [this] { controls_.wants_to_quit = true; }}};
}

void Panels::press(int key, int modifiers) {
    const bool with_control = (modifiers & GLFW_MOD_CONTROL) != 0;
    for (const Action& action : actions_) {
        if (action.key == key && action.with_control == with_control) {
            action.act();
        }
    }
}

// ---- Frames

void Panels::add_frame(const FrameStatistics& statistics, float seconds) {
    statistics_ = statistics;
    history_[frame_ % HISTORY_FRAMES] = statistics.timings;
    ++frame_;
    const float milliseconds = 1000.0F * seconds;
    frame_milliseconds_ =
        frame_ == 1 ? milliseconds : 0.95F * frame_milliseconds_ + 0.05F * milliseconds;
}

std::uint32_t Panels::width(float scale) const {
    return controls_.shows_panel ? static_cast<std::uint32_t>(std::round(PANEL_WIDTH * scale)) : 0;
}

vk::Extent2D Panels::picture_area(vk::Extent2D target, float scale) const {
    return {target.width - std::min(width(scale), target.width - 1), target.height};
}

Insets Panels::insets(const Session& session, vk::Extent2D target, float scale) const {
    const vk::Extent2D picture = picture_area(target, scale);
    const auto margin = static_cast<std::int32_t>(MARGIN * scale);
    const auto wanted = static_cast<std::uint32_t>(INSET_EXTENT * scale);
    const std::uint32_t side =
        std::max(1U, std::min({wanted, picture.width / 3, picture.height / 2}));
    vk::Rect2D area{{margin, static_cast<std::int32_t>(picture.height - side) - margin},
                    {side, side}};
    Insets insets{.light = controls_.light,
                  .centre = session.place_on_map(controls_.settings, controls_.light,
                                                 controls_.settings.camera.position),
                  .zoom = controls_.zoom,
                  .shows_changes = controls_.shows_changes};
    if (area.offset.y < 0) {
        return insets;
    }
    if (controls_.shows_light_view && statistics_.header) {
        insets.light_view = area;
        area.offset.x += static_cast<std::int32_t>(side) + margin;
    }
    if (controls_.shows_atlas) {
        insets.atlas = area;
    }
    return insets;
}

void Panels::draw(float scale) {
    scale_ = scale;
    draw_problem();
    if (controls_.shows_panel) {
        draw_panel();
    }
    if (controls_.shows_help) {
        draw_help();
    }
}

void Panels::draw_panel() {
    const ImGuiIO& io = ImGui::GetIO();
    const float wide =
        static_cast<float>(width(scale_)) / std::max(1.0F, io.DisplayFramebufferScale.x);
    const float left = io.DisplaySize.x - wide;
    ImGui::SetNextWindowPos({left, 0.0F});
    ImGui::SetNextWindowSize({wide, io.DisplaySize.y});
    constexpr auto FLAGS = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                           ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                           ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBringToFrontOnFocus;
    if (ImGui::Begin("##panel", nullptr, FLAGS)) {
        ImGui::PushItemWidth(0.5F * wide);
        ImGui::Text("%s: %zu triangles", show_.name.c_str(), show_.geometry.indices.size() / 3);
        ImGui::TextDisabled("%s", device_name_.c_str());
        ImGui::TextDisabled("F1: keys");
        draw_technique();
        draw_error();
        draw_budget();
        draw_sun();
        draw_flight();
        draw_insets_section();
        draw_times();
        draw_tiles();
        ImGui::PopItemWidth();
    }
    ImGui::End();
}

void Panels::draw_technique() {
    ImGui::Separator();
    choose("Technique", TECHNIQUES, controls_.settings.technique);
    choose("Picture", DISPLAYS, controls_.display);
    ImGui::Checkbox("Filtered", &controls_.settings.filtered);
}

void Panels::draw_budget() {
    ImGui::Separator();
    auto tiles = static_cast<int>(draft_.max_tiles);
    bool changed = false;
    ImGui::SliderInt("Tiles K", &tiles, static_cast<int>(draft_.lights), 4096, "%d",
                     ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
    changed |= ImGui::IsItemDeactivatedAfterEdit();
    draft_.max_tiles = static_cast<std::uint32_t>(tiles);
    changed |= power_slider("Atlas", draft_.atlas_extent, 512, 16384);
    changed |= power_slider("Tile extent", draft_.tile_extent, 128, 1024);
    changed |= power_slider("Map extent", draft_.map_extent, 64, 2048);
    changed |= slider("Resolution scale", draft_.resolution_scale, 0.25F, 4.0F,
                      ImGuiSliderFlags_Logarithmic);
    changed |= slider("Edge scale", draft_.edge_scale, 1.0F, 16.0F, ImGuiSliderFlags_Logarithmic);
    changed |= slider("Merge ratio", draft_.merge_ratio, 0.51F, 1.0F);
    changed |= slider("Atlas fill", draft_.atlas_fill, 0.1F, 1.0F);
    changed |= slider("Importance decay", draft_.importance_decay, 0.0F, 0.99F);
    changed |= slider("Max stretch", draft_.max_stretch, 1.0F, 64.0F, ImGuiSliderFlags_Logarithmic);
    if (changed) {
        controls_.problem.clear();
        controls_.shadows = draft_;
    } else if (!ImGui::IsAnyItemActive()) {
        draft_ = controls_.shadows;  // where the renderer has refused what was asked for
    }
}

void Panels::draw_sun() {
    ImGui::Separator();
    float azimuth = controls_.sun_azimuth_degrees();
    float elevation = controls_.sun_elevation_degrees();
    bool changed = ImGui::SliderFloat("Sun azimuth", &azimuth, -180.0F, 180.0F, "%.0f°");
    // Not quite overhead: there it has no azimuth.
    changed |= ImGui::SliderFloat("Elevation", &elevation, 2.0F, 89.0F, "%.0f°",
                                  ImGuiSliderFlags_AlwaysClamp);
    if (changed) {
        controls_.set_sun(azimuth, elevation);
    }
}

void Panels::draw_flight() {
    ImGui::Separator();
    ImGui::Checkbox("Follow the flight", &controls_.follows_flight);
    ImGui::SameLine();
    ImGui::Checkbox("Pause", &controls_.is_paused);
    const float seconds = show_.flight.seconds();
    controls_.flight_second = std::min(controls_.flight_second, seconds);
    ImGui::SliderFloat("Flight", &controls_.flight_second, 0.0F, seconds, "%.1f s");
    ImGui::SliderFloat("Speed", &controls_.units_per_second, 0.1F, 100.0F, "%.1f",
                       ImGuiSliderFlags_Logarithmic);
}

void Panels::draw_insets_section() {
    ImGui::Separator();
    ImGui::Checkbox("Light's view", &controls_.shows_light_view);
    ImGui::SameLine();
    ImGui::Checkbox("changes", &controls_.shows_changes);
    ImGui::SameLine();
    ImGui::Checkbox("The atlas", &controls_.shows_atlas);
    slider("Zoom", controls_.zoom, 1.0F, 64.0F, ImGuiSliderFlags_Logarithmic);
    if (controls_.shadows.lights > 1) {
        auto light = static_cast<int>(controls_.light);
        ImGui::SliderInt("Light", &light, 0, static_cast<int>(controls_.shadows.lights) - 1);
        controls_.light = static_cast<std::uint32_t>(light);
    }
}

void Panels::draw_times() {
    ImGui::Separator();
    const double all = sum_of(statistics_.timings);
    row("Frame",
        formatted("%.1f ms, GPU %.1f", static_cast<double>(frame_milliseconds_), all / 1000.0));
    for (const Part& part : PARTS) {
        const double microseconds = statistics_.timings.*part.microseconds;
        ImGui::PushStyleColor(ImGuiCol_PlotHistogram, part.colour);
        ImGui::ProgressBar(all > 0.0 ? static_cast<float>(microseconds / all) : 0.0F,
                           {0.5F * ImGui::GetWindowWidth(), ImGui::GetTextLineHeight()},
                           formatted("%.2f ms", microseconds / 1000.0).c_str());
        ImGui::PopStyleColor();
        ImGui::SameLine();
        ImGui::TextUnformatted(part.name);
    }
    draw_history();
}

// The last frames, each a column of its parts, beside the slowest.
void Panels::draw_history() const {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 extent{ImGui::GetContentRegionAvail().x, 60.0F * scale_};
    ImGui::Dummy(extent);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(corner, {corner.x + extent.x, corner.y + extent.y}, BOX_COLOUR);
    double slowest = 1.0;
    for (const Timings& timings : history_) {
        slowest = std::max(slowest, sum_of(timings));
    }
    const float column = extent.x / static_cast<float>(HISTORY_FRAMES);
    for (std::size_t i = 0; i < HISTORY_FRAMES; ++i) {
        const Timings& timings = history_[(frame_ + i) % HISTORY_FRAMES];
        const float left = corner.x + static_cast<float>(i) * column;
        float bottom = corner.y + extent.y;
        for (const Part& part : PARTS) {
            const float top =
                bottom - extent.y * static_cast<float>(timings.*part.microseconds / slowest);
            list.AddRectFilled({left, top}, {left + column, bottom}, part.colour);
            bottom = top;
        }
    }
    list.AddText({corner.x + 4.0F * scale_, corner.y + 2.0F * scale_}, IM_COL32_WHITE,
                 formatted("%.1f ms", slowest / 1000.0).c_str());
}

void Panels::draw_tiles() const {
    if (!statistics_.header) {
        return;
    }
    ImGui::Separator();
    const ShadowHeader& header = *statistics_.header;
    row("Tiles", formatted("%u of %u", header.tiles, statistics_.max_tiles));
    row("kept, added", formatted("%u, %u", header.kept, header.added));
    row("removed, resized", formatted("%u, %u", header.removed, header.resized));
    row("rendered", formatted("%u%s", header.render_count,
                              (header.flags & SHADOW_REPACKED) != 0 ? ", atlas packed anew" : ""));
    row("Objects drawn", std::to_string(header.instances));
    row("Factor", formatted("%.3f", static_cast<double>(header.factor)));
    row("Atlas in use", formatted("%.1f %%", 100.0 * header.used_cells / statistics_.atlas_cells));
}

void Panels::draw_error() const {
    if (!statistics_.difference) {
        return;
    }
    const MaskDifference& difference = *statistics_.difference;
    const double pixels = std::max(1U, difference.surface_pixels);
    row("Wrong pixels", formatted("%.3f %%", 100.0 * difference.wrong / pixels));
    row("wrongly lit", formatted("%.3f %%", 100.0 * difference.wrongly_lit / pixels));
    row("wrongly in shadow", formatted("%.3f %%", 100.0 * difference.wrongly_shadowed / pixels));
}

void Panels::draw_help() {
    const ImGuiIO& io = ImGui::GetIO();
    ImGui::SetNextWindowPos({0.5F * io.DisplaySize.x, 0.5F * io.DisplaySize.y}, ImGuiCond_Always,
                            {0.5F, 0.5F});
    if (ImGui::Begin("Keys", &controls_.shows_help,
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoNav |
                         ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
        const auto line = [this](const char* key, const char* description) {
            ImGui::TextDisabled("%s", key);
            ImGui::SameLine(120.0F * scale_);
            ImGui::TextUnformatted(description);
        };
        line("W A S D", "forwards, left, backwards, right");
        line("Q E", "down, up");
        line("Shift", "faster");
        line("Right button", "look around; C: with no button, C again: no more");
        for (const Action& action : actions_) {
            line(action.key_name, action.description);
        }
    }
    ImGui::End();
}

void Panels::draw_problem() const {
    if (controls_.problem.empty()) {
        return;
    }
    const ImGuiIO& io = ImGui::GetIO();
    const float wide = io.DisplaySize.x -
                       static_cast<float>(width(scale_)) / io.DisplayFramebufferScale.x -
                       4.0F * MARGIN * scale_;
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const ImVec2 corner{2.0F * MARGIN * scale_, 2.0F * MARGIN * scale_};
    const ImVec2 extent = ImGui::CalcTextSize(controls_.problem.c_str(), nullptr, false, wide);
    const float border = 6.0F * scale_;
    list.AddRectFilled({corner.x - border, corner.y - border},
                       {corner.x + extent.x + border, corner.y + extent.y + border}, BOX_COLOUR);
    list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), corner, PROBLEM_COLOUR,
                 controls_.problem.c_str(), nullptr, wide);
}

}  // namespace quadtile::shadow
