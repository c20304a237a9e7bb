// The sections of the panel for the map and the threshold.

#include "panels.hpp"

#include "draw_tiles.hpp"
#include "platform.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace quadtile::viewer {

namespace {

constexpr const char* MAX_RESOLUTION_TIP =
    "Every tile needs fewer pixels than this on a side. Importance is the number of pixels that a "
    "texel needs, so a tile of 2^l texels on a side needs importance x 2^l. Smaller: more tiles.";

const std::vector<std::string> KIND_TIPS{
    "Every tile needs fewer pixels on a side than a number, if importance is the number of pixels "
    "that a texel needs. The usual kind.",
    "One number for squares of all sizes: splits each square whose largest importance is not below "
    "it.",
    "One number per tile size.",
    "Like max-resolution; also, every tile needs fewer nodes of per-pixel linked lists than a "
    "number. A second channel of the file predicts the fragments.",
    "Your GLSL function, which the GPU calls for each square."};

std::size_t position(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

// Returns thresholds from tiles everywhere to the root alone.
app::Range threshold_range(const app::MapStatistics& statistics,
                           std::uint32_t top_level_of_largest) {
    const float low = std::max(statistics.percentile(0.001), FLT_MIN);
    if (!(statistics.max > 0.0F)) {
        return {0.001F, 1000.0F};
    }
    const double high = 1.1 * std::ldexp(double{statistics.max}, int(top_level_of_largest));
    return {low, static_cast<float>(std::min(high, double{FLT_MAX} / 2.0))};
}

bool is_enter_pressed() {
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)) ||
           ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter));
}

}  // namespace

// ---- Map

void Panels::draw_map_section() {
    draw_files();
    if (viewer_.frame() != nullptr) {
        draw_channel();
        draw_values();
        draw_go_to();
    }
}

void Panels::draw_files() {
    if (form_.button(
            "Open...",
            "Opens an OpenEXR, PFM or PNG file (O). You can also drop files on the window.",
            form_.px(100.0F))) {
        ask_for_files();
    }
    ImGui::SameLine();
    if (form_.button("Demo", "Shows the map of a game level (D).", form_.px(70.0F))) {
        viewer_.open({});
    }
    MapFiles& files = viewer_.files();
    if (files.files().size() < 2) {
        return;
    }
    form_.text_row(
        "File",
        "Place among the files that were opened together. Left and right arrow: the file "
        "before, the next file.",
        std::to_string(files.index() + 1) + " / " + std::to_string(files.files().size()));
}

void Panels::draw_channel() {
    constexpr const char* TIP = "Channel of the file that holds the importance.";
    const MapFrame& frame = *viewer_.frame();
    form_.text_row("Name",
                   frame.path.empty() ? "The map of a game level, which comes with the viewer."
                                      : app::text_of(frame.path),
                   frame.name);
    if (frame.channels.size() < 2) {
        form_.text_row("Channel", TIP, frame.map.channel);
        return;
    }
    std::size_t index = position(frame.channels, frame.map.channel);
    std::vector<std::string> names = frame.channels;
    if (index == names.size()) {
        names.push_back(frame.map.channel);  // the luminance of several channels
    }
    if (form_.combo("Channel", TIP, names, {}, index) && index < frame.channels.size()) {
        viewer_.files().choose_channel(frame.channels[index]);
    }
}

void Panels::draw_values() {
    const MapFrame& frame = *viewer_.frame();
    const MapShape& shape = frame.map.shape;
    const app::MapStatistics& statistics = frame.statistics;
    form_.text_row(
        "Size", "In texels. Squares of level 0 are texels, those of each next level twice as wide.",
        count_text(shape.width) + " x " + count_text(shape.height) + ", levels 0 to " +
            std::to_string(map_top_level()));
    form_.text_row("Values", "The smallest and the largest finite value.",
                   number_text(statistics.min) + " to " + number_text(statistics.max));

    const auto add = [&](const char* name, std::uint64_t count, const app::Rgb& colour,
                         const char* tooltip) {
        ImGui::BeginGroup();
        if (count > 0) {
            form_.swatch(colour);
        }
        form_.text(name + (" " + count_text(count)), count > 0 ? TEXT_COLOUR : DIM_COLOUR);
        ImGui::EndGroup();
        form_.tip(tooltip);
    };
    using app::ColourScale;
    form_.label("Special values", "Texels that are outside of every scale of colours.");
    const float left = ImGui::GetCursorPosX();
    const float second = left + form_.px(116.0F);
    add("NaN", statistics.nan, ColourScale::nan, "Not a number: counts as infinitely important.");
    ImGui::SameLine(second);
    add("infinite", statistics.infinite, ColourScale::infinite,
        "Plus infinity, drawn white, or minus infinity, drawn as negative values.");
    ImGui::SetCursorPosX(left);
    add("negative", statistics.negative, ColourScale::negative, "Less important than zero.");
    ImGui::SameLine(second);
    add("zero", statistics.zero, ColourScale::zero, "Needs no resolution.");
    if (!statistics.odd_texels.empty()) {
        ImGui::SetCursorPosX(left);
        if (form_.button("Show next",
                         "Goes to the next texel that is NaN, infinite or negative (N).")) {
            viewer_.show_next_odd_texel();
        }
    }
}

void Panels::draw_go_to() {
    form_.label("Go to texel", "Shows and pins a texel.");
    ImGui::InputInt2("##texel", texel_to_show_.data());
    if (ImGui::IsItemDeactivated() && is_enter_pressed()) {
        viewer_.go_to(texel_to_show_[0], texel_to_show_[1], form_.px(VALUE_SIDE));
    }
    form_.tip("Click, type a column and a row, from 0, and press Enter.");
}

// ---- Threshold

void Panels::draw_threshold_section() {
    ThresholdSettings& settings = viewer_.settings.subdivision.threshold;
    ThresholdKind kind = settings.kind;
    if (form_.combo("Kind", "Kind of threshold: how it depends on the size of a tile.",
                    THRESHOLD_KINDS, kind, KIND_TIPS)) {
        choose_threshold_kind(kind);
    }
    const bool has_map = viewer_.frame() != nullptr;
    const app::MapStatistics none;
    const app::MapStatistics& statistics = has_map ? viewer_.frame()->statistics : none;
    const app::Range resolutions = threshold_range(statistics, has_map ? map_top_level() : 0);
    const app::Range values = threshold_range(statistics, 0);
    switch (settings.kind) {
        case ThresholdKind::max_resolution:
            form_.logarithmic("Resolution", std::string(MAX_RESOLUTION_TIP) + " Keys: [ and ].",
                              settings.max_resolution, resolutions);
            break;
        case ThresholdKind::constant:
            form_.logarithmic("Importance",
                              "Squares are split until their largest importance is below this. "
                              "Smaller: more tiles. Keys: [ and ].",
                              settings.constant, values);
            break;
        case ThresholdKind::per_level:
            draw_threshold_levels(values);
            break;
        case ThresholdKind::memory:
            draw_memory_threshold(resolutions);
            break;
        case ThresholdKind::glsl:
            draw_glsl_threshold();
            break;
    }
    draw_tile_search();
}

void Panels::draw_threshold_levels(const app::Range& range) {
    std::vector<float>& levels = viewer_.settings.subdivision.threshold.levels;
    for (std::size_t level = 0; level < levels.size(); ++level) {
        const std::string side =
            std::to_string(std::uint64_t{1} << std::min<std::size_t>(level, 16));
        const std::string name = side + (level == 0 ? " texel" : " texels");
        form_.logarithmic(name.c_str(),
                          "Squares of " + name + " on a side (level " + std::to_string(level) +
                              ") are split unless all their importance is below this.",
                          levels[level], range);
    }
}

void Panels::draw_memory_threshold(const app::Range& range) {
    ThresholdSettings& settings = viewer_.settings.subdivision.threshold;
    form_.logarithmic("Resolution", MAX_RESOLUTION_TIP, settings.max_resolution, range);
    form_.logarithmic("List nodes",
                      "Every tile needs fewer nodes of per-pixel linked lists than this, as the "
                      "fragments predict.",
                      settings.nodes, {1.0F, 1.0e9F});
    constexpr const char* TIP =
        "Channel of the file with the number of fragments in a pixel of each texel.";
    if (viewer_.frame() == nullptr) {
        form_.text_row("Fragments", TIP, settings.fragments_channel);
        return;
    }
    const std::vector<std::string>& channels = viewer_.frame()->channels;
    std::size_t index = position(channels, settings.fragments_channel);
    if (form_.combo("Fragments", TIP, channels, {}, index)) {
        settings.fragments_channel = channels[index];
    }
}

void Panels::draw_glsl_threshold() {
    ThresholdSettings& settings = viewer_.settings.subdivision.threshold;
    form_.text_row("File",
                   "File that defines float threshold(uint level, uvec2 position, uint layer).",
                   app::text_of(app::path_of(settings.glsl_file).filename()));
    form_.label("", "");
    if (form_.button("Choose...", "Chooses the file.")) {
        ask_for_glsl();
    }
    ImGui::SameLine();
    if (form_.button("Reload", "Reads the file again, for example after a change (F5).")) {
        viewer_.reload_threshold();
    }
    std::vector<float>& parameters = settings.glsl_parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::string name = "Parameter " + std::to_string(i);
        const std::string id = "##parameter" + std::to_string(i);
        form_.label(name.c_str(), "Value of threshold_parameter() of this number.");
        ImGui::SetNextItemWidth(-1.0F);
        const float speed = std::max(std::abs(parameters[i]), 0.01F) / 200.0F;
        ImGui::DragFloat(id.c_str(), &parameters[i], speed, 0.0F, 0.0F, "%g");
        form_.tip("Drag, or Ctrl+click to type.");
    }
    form_.label("", "");
    if (parameters.size() < Threshold::max_function_parameters &&
        form_.button("Add parameter", "Adds a value for threshold_parameter().")) {
        parameters.push_back(1.0F);
    }
    if (!parameters.empty()) {
        ImGui::SameLine();
        if (form_.button("Remove", "Removes the last value.")) {
            parameters.pop_back();
        }
    }
}

void Panels::draw_tile_search() {
    constexpr const char* TIP =
        "Number of tiles that you want. The viewer sets the threshold that gives the most tiles, "
        "but not more than this.";
    form_.label("Tiles wanted", TIP);
    const float spacing = ImGui::GetStyle().ItemInnerSpacing.x;
    const float button_width = form_.px(124.0F);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button_width - spacing);
    form_.count_field("##wanted", viewer_.tiles_wanted);
    const bool is_entered = ImGui::IsItemDeactivated() && is_enter_pressed();
    form_.tip("Click to type a number; Enter finds the threshold.");
    ImGui::SameLine(0.0F, spacing);
    const bool is_pressed = form_.button("Find threshold", TIP, button_width);
    if ((is_pressed || is_entered) && has_map()) {
        viewer_.find_threshold(viewer_.tiles_wanted);
    }
    ImGui::AlignTextToFramePadding();
    form_.label("Tiles", "Number of tiles that the threshold gives.");
    if (has_map() && viewer_.tiles().has_tiles()) {
        form_.large_text(count_text(viewer_.summary().header.required));
    } else {
        form_.large_text("-", DIM_COLOUR);
    }
}

}  // namespace quadtile::viewer
