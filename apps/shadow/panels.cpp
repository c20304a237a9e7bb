#include "panels.hpp"

#include "widgets.hpp"

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
    const auto next_filter = [this] {
        controls_.settings.filter = static_cast<Filter>(
            (static_cast<std::size_t>(controls_.settings.filter) + 1) % FILTERS.size());
    };
    const auto begin_flight = [this] {
        controls_.flight_second = 0.0F;
        controls_.follows_flight = true;
    };
    return {
        {GLFW_KEY_1, false, "1", "fitted", use(Technique::fitted)},
        {GLFW_KEY_2, false, "2", "single map", use(Technique::single)},
        {GLFW_KEY_3, false, "3", "cascades", use(Technique::cascades)},
        {GLFW_KEY_4, false, "4", "stable cascades", use(Technique::stable_cascades)},
        {GLFW_KEY_5, false, "5", "ray casting", use(Technique::rays)},
        {GLFW_KEY_V, false, "V", "compare with another technique; drag the line",
         [this] { toggle_other(); }},
        {GLFW_KEY_T, false, "T", "tiles", show(Display::tiles)},
        {GLFW_KEY_X, false, "X", "errors", show(Display::error)},
        {GLFW_KEY_B, false, "B", "shaded and errors, both", show(Display::sides)},
        {GLFW_KEY_N, false, "N", "next error", [this] { controls_.wants_next_error = true; }},
        {GLFW_KEY_Z, false, "Z", "magnify the picked place", flip(controls_.shows_magnifier)},
        {GLFW_KEY_ESCAPE, false, "Escape", "nothing is picked", [this] { unpick(); }},
        {GLFW_KEY_H, false, "H", "filter: hard, 3x3, soft", next_filter},
        {GLFW_KEY_F, false, "F", "follow the flight, or stop", flip(controls_.follows_flight)},
        {GLFW_KEY_SPACE, false, "Space", "pause", flip(controls_.is_paused)},
        {GLFW_KEY_R, false, "R", "restart the flight", begin_flight},
        {GLFW_KEY_L, false, "L", "the light's view", flip(controls_.shows_light_view)},
        {GLFW_KEY_K, false, "K", "in that view: levels or changes", flip(controls_.shows_changes)},
        {GLFW_KEY_M, false, "M", "the atlas", flip(controls_.shows_atlas)},
        {GLFW_KEY_TAB, false, "Tab", "this panel", flip(controls_.shows_panel)},
        {GLFW_KEY_F1, false, "F1", "help", flip(controls_.shows_help)},
        {GLFW_KEY_Q, true, "Ctrl+Q", "quit", [this] { controls_.wants_to_quit = true; }}};
}

// Compares with cascades, or with fitted tiles if the picture shows cascades.
void Panels::toggle_other() {
    if (controls_.other) {
        controls_.other.reset();
    } else {
        controls_.other = controls_.settings.technique == Technique::fitted ? Technique::cascades
                                                                            : Technique::fitted;
    }
}

void Panels::unpick() {
    controls_.picked_point.reset();
    controls_.picked_place.reset();
    controls_.shows_magnifier = false;
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

void Panels::add_frame(const FrameStatistics& statistics, float frame_milliseconds) {
    statistics_ = statistics;
    history_[frame_ % HISTORY_FRAMES] = statistics.timings;
    ++frame_;
    frame_milliseconds_ = frame_milliseconds;
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
    insets.wipe = controls_.wipe;
    const std::optional<glm::vec2> pixel = pixel_of_picked(session);
    if (controls_.shows_magnifier && pixel && side > 100) {
        insets.magnifier = {.area = {{static_cast<std::int32_t>(picture.width - side) - margin,
                                      static_cast<std::int32_t>(picture.height - side) - margin},
                                     {side, side}},
                            .centre = *pixel};
    }
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

void Panels::draw(const Session& session, float scale) {
    scale_ = scale;
    const ImGuiIO& io = ImGui::GetIO();
    const glm::vec2 window(io.DisplaySize.x * std::max(1.0F, io.DisplayFramebufferScale.x),
                           io.DisplaySize.y * std::max(1.0F, io.DisplayFramebufferScale.y));
    const vk::Extent2D target{std::max(1U, static_cast<std::uint32_t>(window.x)),
                              std::max(1U, static_cast<std::uint32_t>(window.y))};
    picture_ = picture_area(target, scale);
    find_next_error(session);
    follow_picked(session);
    insets_ = insets(session, target, scale);
    follow_mouse(session);
    draw_overlays(session, draw_problem());
    if (controls_.shows_panel) {
        draw_panel(scale);
    }
    if (controls_.shows_help) {
        draw_help();
    }
}

void Panels::draw_panel(float scale) {
    scale_ = scale;
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
        tip("F1 lists the keys. Click into the picture or the light's view to pick a tile.");
        draw_picture_section();
        heading("Statistics");
        draw_times();
        draw_tiles();
        draw_errors();
        statistics_bottom_ = ImGui::GetCursorPosY();
        heading("Options (F1: keys)");
        const float rest = ImGui::GetContentRegionAvail().y;
        ImGui::BeginChild("options", {0.0F, std::max(rest, 150.0F * scale_)});
        ImGui::PushItemWidth(0.5F * wide);
        draw_options();
        ImGui::PopItemWidth();
        ImGui::EndChild();
        ImGui::PopItemWidth();
    }
    ImGui::End();
}

void Panels::draw_picture_section() {
    heading("Picture");
    choose("Technique", TECHNIQUES, controls_.settings.technique);
    tip("Technique of the shadows. 1 fitted: tiles as fine as the picture needs. 2 single: one map "
        "per light. 3 cascades and 4 stable cascades: four maps per sun. 5 rays: ray casting "
        "without maps, slow and exact.");
    ImGui::BeginDisabled(controls_.display == Display::sides);
    if (ImGui::BeginCombo("Compare with", controls_.other
                                              ? app::name_in(TECHNIQUES, *controls_.other).data()
                                              : "nothing")) {
        if (ImGui::Selectable("nothing", !controls_.other)) {
            controls_.other.reset();
        }
        for (const auto& technique : TECHNIQUES) {
            if (ImGui::Selectable(technique.name.data(), controls_.other == technique.value)) {
                controls_.other = technique.value;
            }
        }
        ImGui::EndCombo();
    }
    ImGui::EndDisabled();
    tip("Another technique in the right part of the picture, with its own maps. Drag the line "
        "between them. V turns it on and off.");
    choose("Show", DISPLAYS, controls_.display);
    tip("shaded; tiles, in the colours of their levels (T); error: pixels whose hard shadow "
        "differs from that of rays (X); sides: shaded and errors side by side (B).");
    choose("Filter", FILTERS, controls_.settings.filter);
    tip("hard: the nearest texel. 3x3: the mean of 3 x 3 bilinear comparisons. soft: as wide as "
        "the penumbra of a light with an extent. H switches to the next filter.");
}

void Panels::draw_times() const {
    const double all = sum_of(statistics_.timings);
    row("Frame, GPU",
        formatted("%.1f ms, %.2f ms", static_cast<double>(frame_milliseconds_), all / 1000.0));
    tip("Time from one frame to the next, and the GPU time of the first technique.");
    if (controls_.other) {
        row("GPU of the other", formatted("%.2f ms", sum_of(statistics_.other_timings) / 1000.0));
    }
    draw_parts();
    draw_history();
}

// Draws the parts, two per line, each with its colour in the history.
void Panels::draw_parts() const {
    constexpr std::array<const char*, PARTS.size()> TIPS{
        "Depth buffer and normals of the camera", "Refit: from the depth buffer to the page table",
        "Culling: objects to draw in each slot", "Drawing into the shadow maps",
        "The picture, with lookups of shadows"};
    const float half = 0.5F * ImGui::GetWindowWidth();
    for (std::size_t i = 0; i < PARTS.size(); ++i) {
        if (i % 2 == 1) {
            ImGui::SameLine(half);
        }
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        const float side = ImGui::GetTextLineHeight();
        ImGui::GetWindowDrawList()->AddRectFilled(
            {corner.x, corner.y + 2.0F * scale_},
            {corner.x + side - 4.0F * scale_, corner.y + side}, PARTS[i].colour);
        ImGui::Dummy({side, side});
        ImGui::SameLine();
        ImGui::TextUnformatted(
            formatted("%s %.2f ms", PARTS[i].name, statistics_.timings.*PARTS[i].microseconds / 1e3)
                .c_str());
        tip(TIPS[i]);
    }
}

// Draws the last frames, each as a column of its parts, and the slowest one's time.
void Panels::draw_history() const {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 extent{ImGui::GetContentRegionAvail().x, 44.0F * scale_};
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
    const ShadowHeader& header = *statistics_.header;
    row("Tiles", formatted("%u of %u", header.tiles, statistics_.max_tiles));
    tip("Tiles in the list, and their largest number (max tiles).");
    row("kept, new, gone", formatted("%u, %u, %u", header.kept, header.added, header.removed));
    tip("Changes of tiles since the last frame.");
    row("drawn, resized", formatted("%u, %u%s", header.render_count, header.resized,
                                    (header.flags & SHADOW_REPACKED) != 0 ? ", packed anew" : ""));
    tip("Slots that were cleared and drawn in this frame; kept tiles that have another slot. "
        "'packed anew': the atlas was too fragmented, so all slots were laid out and drawn again.");
    row("Objects drawn", std::to_string(header.instances));
    tip("Pairs of an object (up to 64 triangles) and a slot.");
    row("Factor", formatted("%.3f", static_cast<double>(header.factor)));
    tip("Divisor of all resolutions that keeps the budgets; 1: the budgets suffice.");
    row("Atlas in use", formatted("%.1f %%", 100.0 * header.used_cells / statistics_.atlas_cells));
}

void Panels::draw_errors() const {
    if (!statistics_.difference) {
        return;
    }
    const MaskDifference& difference = *statistics_.difference;
    const double pixels = std::max(1U, difference.surface_pixels);
    row("Wrong pixels", formatted("%.3f %%", 100.0 * difference.wrong / pixels));
    tip("Share of the pixels with surfaces whose hard shadow differs from that of rays.");
    row("lit, in shadow", formatted("%.3f, %.3f %%", 100.0 * difference.wrongly_lit / pixels,
                                    100.0 * difference.wrongly_shadowed / pixels));
    tip("Shares of pixels that are wrongly lit and wrongly in shadow.");
    if (controls_.settings.filter == Filter::soft) {
        row("Light",
            formatted("%.3f %% off", difference.light_percent(controls_.settings.lights.size())));
        tip("Mean difference of the arriving light from that of rays to the lights' discs.");
    }
    if (statistics_.other_difference) {
        const MaskDifference& other = *statistics_.other_difference;
        row("Wrong in the other",
            formatted("%.3f %%", 100.0 * other.wrong / std::max(1U, other.surface_pixels)));
    }
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
        line("Right button", "look around; C: on or off without a button");
        line("Left button", "pick a tile, in the picture or in the light's view");
        for (const Action& action : actions_) {
            line(action.key_name, action.description);
        }
    }
    ImGui::End();
}

float Panels::draw_problem() const {
    if (controls_.problem.empty()) {
        return 0.0F;
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
    return extent.y + 3.0F * border;
}

}  // namespace quadtile::shadow
