#include "panels.hpp"

#include "platform.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace quadtile::viewer {

namespace {

constexpr float PANEL_WIDTH = 380.0F;
constexpr float MARGIN = 12.0F;
constexpr float CLICK_DISTANCE = 4.0F;     // pixels; a mouse that moves further drags
constexpr float HOVER_BOX_WIDTH = 240.0F;  // pixels, approximate
constexpr float WHEEL_FACTOR = 1.25F;      // per notch

constexpr std::chrono::seconds NOTICE_TIME(6);
constexpr std::chrono::seconds PROBLEM_TIME(15);

constexpr ImU32 BOX_COLOUR = IM_COL32(14, 16, 20, 200);
constexpr ImU32 PINNED_COLOUR = IM_COL32(255, 221, 51, 255);

// Converts ImGui's coordinates to pixels of the picture and back.
ImVec2 to_picture(const ImVec2& position) {
    const ImVec2 factor = ImGui::GetIO().DisplayFramebufferScale;
    return {position.x * factor.x, position.y * factor.y};
}

ImVec2 from_picture(float x, float y) {
    const ImVec2 factor = ImGui::GetIO().DisplayFramebufferScale;
    return {x / factor.x, y / factor.y};
}

std::string size_text(const MapShape& shape) {
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height;
    return count_text(shape.width) + " x " + count_text(shape.height) + ", " + count_text(texels) +
           (texels == 1 ? " texel" : " texels");
}

}  // namespace

Panels::Panels(Viewer& viewer)
    : viewer_(viewer),
      actions_(make_actions()),
      level_colours_(app::colour_table(ColourMap::turbo)) {}

float Panels::width(float scale) const {
    return viewer_.settings.panel ? std::round(PANEL_WIDTH * scale) : 0.0F;
}

vk::Rect2D Panels::map_area(vk::Extent2D extent, float scale) const {
    const auto panel = static_cast<std::uint32_t>(width(scale));
    return {.extent = {extent.width - std::min(panel, extent.width - 1), extent.height}};
}

bool Panels::is_animated() const {
    constexpr int SETTLING_FRAMES = 3;  // frames until a window has the size of its contents
    return shows_notice() != has_shown_notice_ ||
           (viewer_.pinned() && inspector_frames_ < SETTLING_FRAMES);
}

float Panels::map_width() const {
    const ImGuiIO& io = ImGui::GetIO();
    return std::max(0.0F, io.DisplaySize.x - from_picture(width(scale_), 0.0F).x);
}

bool Panels::has_map() const {
    return viewer_.frame() != nullptr && viewer_.tiles().has_map();
}

std::uint32_t Panels::map_top_level() const {
    const MapShape& shape = viewer_.frame()->map.shape;
    return top_level(shape.width, shape.height);
}

// ---- The frame

void Panels::draw(float scale) {
    scale_ = scale;
    form_.set_scale(scale);
    handle_mouse();
    draw_texel_values();
    draw_highlights();
    draw_overlay();
    draw_messages();
    has_shown_notice_ = shows_notice();
    if (viewer_.settings.panel) {
        draw_panel();
    }
    draw_inspector();
    draw_hover_box();
    draw_help();
    path_field_.draw();
    const ThresholdSettings& threshold = viewer_.settings.subdivision.threshold;
    if (has_map() && !ImGui::IsAnyMouseDown() &&  // a drag is one change
        (thresholds_.empty() || thresholds_[threshold_number_] != threshold)) {
        thresholds_.resize(thresholds_.empty() ? 0 : threshold_number_ + 1);
        threshold_number_ = thresholds_.size();
        thresholds_.push_back(threshold);
    }
}

void Panels::draw_panel() {
    const ImGuiIO& io = ImGui::GetIO();
    const float left = map_width();
    ImGui::SetNextWindowPos({left, 0.0F});
    ImGui::SetNextWindowSize({io.DisplaySize.x - left, io.DisplaySize.y});
    constexpr auto FLAGS = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                           ImGuiWindowFlags_NoSavedSettings |
                           ImGuiWindowFlags_NoBringToFrontOnFocus;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0F);
    // A scrollbar that appears and disappears would move all controls.
    if (ImGui::Begin(
            "##panel", nullptr,
            (FLAGS & ~ImGuiWindowFlags_NoScrollbar) | ImGuiWindowFlags_AlwaysVerticalScrollbar)) {
        draw_panel_head();
        draw_section("Map", true, "The shown file and its values.", &Panels::draw_map_section);
        draw_section("Threshold", true,
                     "Limit of a square's importance: a square is split if its largest importance "
                     "is not below its threshold.",
                     &Panels::draw_threshold_section);
        draw_section("Subdivision", false, "Order, balance and budget of the tiles.",
                     &Panels::draw_subdivision_section);
        draw_section("Drawing", true, "Drawing of the map and its tiles.",
                     &Panels::draw_drawing_section);
        draw_section("Tiles", true, "Result of the subdivision.", &Panels::draw_tiles_section);
    }
    ImGui::End();
    ImGui::PopStyleVar();
}

void Panels::draw_section(const char* title, bool is_open_at_first, const char* tooltip,
                          void (Panels::*draw_rows)()) {
    if (form_.section(title, is_open_at_first, tooltip)) {
        ImGui::PushID(title);
        (this->*draw_rows)();
        ImGui::PopID();
    }
}

void Panels::draw_panel_head() {
    ImGui::AlignTextToFramePadding();
    form_.text("quadtile viewer", DIM_COLOUR);
    const char* const keys = "Keys (F1)";
    const float button_width =
        ImGui::CalcTextSize(keys).x + 2.0F * ImGui::GetStyle().FramePadding.x;
    ImGui::SameLine(ImGui::GetContentRegionMax().x - button_width);
    if (form_.button(keys, "Lists all actions of keys and mouse.")) {
        shows_help_ = !shows_help_;
    }
}

// ---- Boxes over the map

float Panels::draw_box(const std::vector<Paragraph>& paragraphs, ImVec2 corner, bool upwards) {
    const float padding = form_.px(8.0F);
    const float wrap =
        std::max(form_.px(120.0F), map_width() - 2.0F * (form_.px(MARGIN) + padding));
    ImVec2 size{0.0F, 0.0F};
    std::vector<float> heights;
    for (const Paragraph& paragraph : paragraphs) {
        const ImVec2 extent = ImGui::CalcTextSize(paragraph.text.c_str(), nullptr, false, wrap);
        heights.push_back(extent.y);
        size = {std::max(size.x, extent.x), size.y + extent.y};
    }
    size = {size.x + 2.0F * padding, size.y + 2.0F * padding};
    if (upwards) {
        corner.y -= size.y;
    }
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    list.AddRectFilled(corner, {corner.x + size.x, corner.y + size.y}, BOX_COLOUR, form_.px(4.0F));
    ImVec2 at{corner.x + padding, corner.y + padding};
    for (std::size_t i = 0; i < paragraphs.size(); ++i) {
        list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), at, paragraphs[i].colour,
                     paragraphs[i].text.c_str(), nullptr, wrap);
        at.y += heights[i];
    }
    return size.y;
}

void Panels::draw_overlay() {
    std::vector<Paragraph> paragraphs;
    const MapFiles& files = viewer_.files();
    if (const MapFrame* const frame = viewer_.frame()) {
        std::string name = frame->name;
        if (frame->channels.size() > 1) {
            name += "  [" + frame->map.channel + "]";
        }
        if (files.files().size() > 1) {
            name += "  " + std::to_string(files.index() + 1) + " / " +
                    std::to_string(files.files().size());
        }
        paragraphs.push_back({name, TEXT_COLOUR});
        paragraphs.push_back(
            {size_text(frame->map.shape) + ", zoom " +
                 number_text(100.0 * viewer_.view().zoom, viewer_.view().zoom < 1.0F ? 2 : 4) + "%",
             DIM_COLOUR});
    }
    if (files.is_loading()) {
        const std::string name = files.files().empty()
                                     ? "the demo map"
                                     : app::text_of(files.files()[files.index()].filename());
        paragraphs.push_back({"loading " + name + " ...", WARNING_COLOUR});
    }
    if (!viewer_.settings.panel) {
        paragraphs.push_back({"Tab: panel, F1: keys", DIM_COLOUR});
    }
    if (!paragraphs.empty()) {
        draw_box(paragraphs, {form_.px(MARGIN), form_.px(MARGIN)}, false);
    }
}

bool Panels::shows_notice() const {
    const auto& notice = viewer_.notice();
    const auto shown = notice && notice->is_problem ? PROBLEM_TIME : NOTICE_TIME;
    return notice && std::chrono::steady_clock::now() - notice->time < shown;
}

void Panels::draw_messages() {
    ImVec2 corner{form_.px(MARGIN), ImGui::GetIO().DisplaySize.y - form_.px(MARGIN)};
    const std::string problem = viewer_.problem();
    if (!problem.empty()) {
        corner.y -= draw_box({{problem, BAD_COLOUR}}, corner, true) + form_.px(6.0F);
    }
    if (shows_notice()) {
        const Notice& notice = *viewer_.notice();
        draw_box({{notice.text, notice.is_problem ? BAD_COLOUR : TEXT_COLOUR}}, corner, true);
    }
}

void Panels::draw_highlights() {
    if (viewer_.frame() == nullptr) {
        return;
    }
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    list.PushClipRect({0.0F, 0.0F}, {map_width(), ImGui::GetIO().DisplaySize.y});
    if (viewer_.hovered() && under_mouse_) {
        draw_highlight(*viewer_.hovered(), IM_COL32_WHITE, form_.px(1.0F));
    }
    if (viewer_.pinned()) {
        draw_highlight(*viewer_.pinned(), PINNED_COLOUR, form_.px(2.0F));
    }
    list.PopClipRect();
}

// Highlights the tile, or the texel if there is no tile.
void Panels::draw_highlight(const ProbedTexel& texel, ImU32 colour, float thickness) {
    const MapShape& shape = viewer_.frame()->map.shape;
    const TexelRect rect = texel.tile ? texels_of(*texel.tile, shape.width, shape.height)
                                      : TexelRect{texel.x, texel.y, texel.x + 1, texel.y + 1};
    const View view = viewer_.view();
    const auto corner = [&](std::uint32_t x, std::uint32_t y) {
        return from_picture(view.origin_x + static_cast<float>(x) * view.zoom,
                            view.origin_y + static_cast<float>(y) * view.zoom);
    };
    ImVec2 first = corner(rect.left, rect.top);
    ImVec2 end = corner(rect.right, rect.bottom);
    // Enlarges tiles of a pixel, so that they can be found.
    const float missing =
        std::max(0.0F, form_.px(5.0F) - std::min(end.x - first.x, end.y - first.y));
    first = {first.x - missing / 2.0F, first.y - missing / 2.0F};
    end = {end.x + missing / 2.0F, end.y + missing / 2.0F};
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    list.AddRect(first, end, IM_COL32(0, 0, 0, 150), 0.0F, 0, thickness + form_.px(2.0F));
    list.AddRect(first, end, colour, 0.0F, 0, thickness);
}

void Panels::draw_hover_box() {
    const bool is_dragging = std::ranges::any_of(is_map_grabbed_, [](bool is) { return is; });
    if (!viewer_.hovered() || !under_mouse_ || is_dragging) {
        return;
    }
    const ProbedTexel& texel = *viewer_.hovered();
    // Beside the panel the box would hide the panel's text.
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (mouse.x + form_.px(HOVER_BOX_WIDTH) > map_width()) {
        const float distance = form_.px(MARGIN);
        ImGui::SetNextWindowPos({mouse.x - distance, mouse.y + distance}, ImGuiCond_Always,
                                {1.0F, 0.0F});
    }
    ImGui::BeginTooltip();
    form_.text("texel " + std::to_string(texel.x) + ", " + std::to_string(texel.y) + ":  " +
               number_text(texel.value, 6));
    if (texel.tile) {
        const Tile& tile = *texel.tile;
        form_.swatch(level_colour(tile.level()));
        form_.text("level " + std::to_string(tile.level()) + ":  " + number_text(tile.importance) +
                       " / " + number_text(tile.threshold) + (tile.clamped() ? "  clamped" : ""),
                   DIM_COLOUR);
    }
    ImGui::EndTooltip();
}

// ---- Help

void Panels::draw_help() {
    if (!shows_help_) {
        return;
    }
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({display.x / 2.0F, display.y / 2.0F}, ImGuiCond_Appearing,
                            {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(form_.px(560.0F), 0.95F * display.x),
                              std::min(form_.px(820.0F), 0.92F * display.y)},
                             ImGuiCond_Appearing);
    constexpr auto FLAGS = ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings;
    if (ImGui::Begin("Keys and mouse", &shows_help_, FLAGS)) {
        for (const Action& action : actions_) {
            if (!action.group.empty()) {
                ImGui::Spacing();
                form_.text(action.group, GOOD_COLOUR);
                ImGui::Separator();
                continue;
            }
            form_.text(action.keys);
            ImGui::SameLine(form_.px(170.0F));
            form_.wrapped_text(action.name, DIM_COLOUR);
        }
    }
    ImGui::End();
}

// ---- Mouse

void Panels::handle_mouse() {
    const ImGuiIO& io = ImGui::GetIO();
    const bool is_over_map = !io.WantCaptureMouse && !path_field_.is_open() &&
                             ImGui::IsMousePosValid() && io.MousePos.x >= 0.0F &&
                             io.MousePos.y >= 0.0F && io.MousePos.x < map_width() &&
                             io.MousePos.y < io.DisplaySize.y;
    const bool has_map = viewer_.frame() != nullptr;
    const ImVec2 at = to_picture(io.MousePos);
    under_mouse_ = is_over_map && has_map ? viewer_.texel_at(at.x, at.y) : std::nullopt;
    viewer_.hover(under_mouse_);
    if (!has_map) {
        return;
    }
    if (is_over_map && io.MouseWheel != 0.0F) {
        viewer_.zoom_at(at.x, at.y, std::pow(WHEEL_FACTOR, io.MouseWheel));
    }
    for (int button = 0; button < static_cast<int>(is_map_grabbed_.size()); ++button) {
        handle_button(button, is_over_map);
    }
}

void Panels::handle_button(int button, bool is_over_map) {
    bool& is_grabbed = is_map_grabbed_[static_cast<std::size_t>(button)];
    const bool is_left = button == ImGuiMouseButton_Left;
    if (ImGui::IsMouseClicked(button)) {
        is_grabbed = is_over_map;
    }
    const float distance = form_.px(CLICK_DISTANCE);
    if (is_grabbed && ImGui::IsMouseDragging(button, distance)) {
        const ImVec2 moved = to_picture(ImGui::GetMouseDragDelta(button, distance));
        viewer_.pan(moved.x, moved.y);
        ImGui::ResetMouseDragDelta(button);
    }
    if (ImGui::IsMouseReleased(button)) {
        const float moved = ImGui::GetIO().MouseDragMaxDistanceSqr[button];
        if (is_left && is_grabbed && moved < distance * distance) {
            viewer_.pin(under_mouse_);
        }
        is_grabbed = false;
    }
}

}  // namespace quadtile::viewer
