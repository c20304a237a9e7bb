// The sections of the panel for the input: map, threshold, subdivision.

#include "panels.hpp"

#include "draw_tiles.hpp"

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

const std::vector<std::string> STRATEGY_TIPS{
    "The fastest for this device, map and threshold.",
    "One GPU dispatch for several levels, a workgroup per subtree. For all thresholds.",
    "One GPU dispatch from the map to the list. For thresholds that do not grow from a tile size "
    "to the next larger one."};

const std::vector<std::string> ORDER_TIPS{
    "The fastest order; it differs from run to run.",
    "Along the Z-order (Morton) curve: always the same list. Only the strategy fused makes it."};

constexpr const char* NO_BALANCE =
    "A budget cannot count the tiles that balancing adds; switch the budget off first.";
constexpr const char* NO_BUDGET =
    "A budget cannot count the tiles that balancing adds; set the balance to none first.";

const std::vector<std::string> BALANCE_TIPS{
    "By any number of levels.", "By at most one level if tiles share an edge.",
    "By at most one level if tiles share an edge or a corner."};

std::size_t position(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

// Returns thresholds from tiles everywhere to the root alone.
ValueRange threshold_range(const MapStatistics& statistics, std::uint32_t top_level_of_largest) {
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

bool grows(const std::vector<float>& levels) {
    return std::ranges::adjacent_find(levels, std::ranges::less()) != levels.end();
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
    if (form_.prominent_button("Open...",
                               "Opens OpenEXR, PFM or PNG files; several files are a sequence to "
                               "play (O). You can also drop files on the window.",
                               form_.px(100.0F))) {
        ask_for_files();
    }
    ImGui::SameLine();
    if (form_.button("Demo", "Shows the map of a game level (D).", form_.px(70.0F))) {
        viewer_.open({});
    }
    MapSequence& sequence = viewer_.sequence();
    const std::size_t files = sequence.files().size();
    if (files < 2) {
        return;
    }
    form_.label("File", "Place among the files that were opened together.");
    if (form_.button("<", "The file before (left arrow).")) {
        sequence.step(-1);
    }
    ImGui::SameLine();
    if (form_.button(">", "The next file (right arrow).")) {
        sequence.step(1);
    }
    ImGui::SameLine();
    form_.text(std::to_string(sequence.index() + 1) + " / " + std::to_string(files));

    form_.label("Play", "Shows the files one after the other (Space).");
    if (form_.button(viewer_.is_playing ? "Stop" : "Play",
                     "Shows the files one after the other (Space).", form_.px(56.0F))) {
        toggle_playing();
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::SliderFloat("##speed", &viewer_.settings.playback_frames_per_second, 0.5F, 60.0F,
                       "%.3g files per second",
                       ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
    form_.tip("Speed of playback, if loading keeps up. Ctrl+click to type.");
}

void Panels::draw_channel() {
    constexpr const char* TIP = "Channel of the file that holds the importance.";
    const MapFrame& frame = *viewer_.frame();
    form_.text_row("Name", frame.path.empty() ? "Made by the viewer." : frame.path.string(),
                   frame.name);
    if (frame.channels.size() < 2) {
        form_.text_row("Channel", TIP, frame.map.channel);
        return;
    }
    std::size_t index = position(frame.channels, frame.map.channel);
    std::vector<Choice> choices = choices_of(frame.channels);
    if (index == choices.size()) {
        // The map is the luminance of several channels.
        choices.push_back({frame.map.channel, "Luminance of several channels."});
    }
    if (form_.combo("Channel", TIP, choices, index) && index < frame.channels.size()) {
        viewer_.sequence().choose_channel(frame.channels[index]);
    }
}

void Panels::draw_values() {
    const MapFrame& frame = *viewer_.frame();
    const MapShape& shape = frame.map.shape;
    const MapStatistics& statistics = frame.statistics;
    form_.text_row("Size",
                   "Width and height in texels, and the levels of the quadtree: a square of level "
                   "0 is a texel, squares of each next level are twice as wide.",
                   count_text(shape.width) + " x " + count_text(shape.height) + ", levels 0 to " +
                       std::to_string(map_top_level()));
    form_.text_row("Values", "The smallest and the largest finite value.",
                   number_text(statistics.min) + " to " + number_text(statistics.max));

    struct Oddity {
        const char* name;
        std::uint64_t count;
        app::Rgb colour;
        const char* tooltip;
    };
    using app::ColourScale;
    const std::array<Oddity, 4> oddities{
        {{"NaN", statistics.nan, ColourScale::nan,
          "Texels that are not a number, which count as infinitely important."},
         {"infinite", statistics.infinite, ColourScale::infinite,
          "Texels of plus infinity, drawn white, or minus infinity, drawn as negative ones."},
         {"negative", statistics.negative, ColourScale::negative,
          "Texels below zero, which are less important than zero."},
         {"zero", statistics.zero, ColourScale::zero,
          "Texels of zero, which need no resolution."}}};
    form_.label("Special values",
                "Counts and colours of texels that are outside of every scale of colours.");
    constexpr float SECOND_COLUMN = 116.0F;
    const float left = ImGui::GetCursorPosX();
    for (std::size_t i = 0; i < oddities.size(); ++i) {
        const Oddity& oddity = oddities[i];
        if (i % 2 == 1) {
            ImGui::SameLine(left + form_.px(SECOND_COLUMN));
        } else if (i > 0) {
            ImGui::SetCursorPosX(left);
        }
        ImGui::BeginGroup();
        if (oddity.count > 0) {
            form_.swatch(opaque(oddity.colour));
        }
        form_.text(oddity.name + (" " + count_text(oddity.count)),
                   oddity.count > 0 ? TEXT_COLOUR : DIM_COLOUR);
        ImGui::EndGroup();
        form_.tip(oddity.tooltip);
    }
    if (!statistics.odd_texels.empty()) {
        ImGui::SetCursorPosX(left);
        if (form_.button("Show next",
                         "Goes to the next texel that is NaN, infinite or negative (N).")) {
            viewer_.show_next_odd_texel();
        }
    }
}

void Panels::draw_go_to() {
    constexpr const char* TIP =
        "Shows and pins a texel: click, type its column and its row, from 0, and press Enter.";
    form_.label("Go to texel", TIP);
    const float button_width = form_.px(44.0F);
    const float spacing = ImGui::GetStyle().ItemInnerSpacing.x;
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button_width - spacing);
    ImGui::InputInt2("##texel", texel_to_show_.data());
    const bool is_entered = ImGui::IsItemDeactivated() && is_enter_pressed();
    form_.tip(TIP);
    ImGui::SameLine(0.0F, spacing);
    if (form_.button("Go", TIP, button_width) || is_entered) {
        viewer_.go_to(texel_to_show_[0], texel_to_show_[1], form_.px(VALUE_SIDE));
    }
}

// ---- Threshold

void Panels::draw_threshold_section() {
    ThresholdSettings& settings = viewer_.settings.subdivision.threshold;
    ThresholdKind kind = settings.kind;
    if (form_.combo("Kind", "Kind of threshold: how it depends on the size of a tile (T).",
                    THRESHOLD_KINDS, kind, KIND_TIPS)) {
        choose_threshold_kind(kind);
    }
    const bool has_map = viewer_.frame() != nullptr;
    const MapStatistics none;
    const MapStatistics& statistics = has_map ? viewer_.frame()->statistics : none;
    const ValueRange resolutions = threshold_range(statistics, has_map ? map_top_level() : 0);
    const ValueRange values = threshold_range(statistics, 0);
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
    draw_threshold_history();
}

void Panels::draw_threshold_history() {
    const ThresholdSettings& threshold = viewer_.settings.subdivision.threshold;
    form_.label("Changes", "Of the threshold.");
    const auto add = [&](const char* name, const char* tooltip, bool is_possible) {
        ImGui::BeginDisabled(!is_possible);
        const bool is_pressed = form_.button(name, tooltip);
        ImGui::EndDisabled();
        ImGui::SameLine();
        return is_pressed;
    };
    if (add("Undo", "Undoes the last change (Ctrl+Z).", history_.can_go(-1))) {
        change_threshold(-1);
    }
    if (add("Redo", "Redoes the change that was undone (Ctrl+Shift+Z).", history_.can_go(1))) {
        change_threshold(1);
    }
    if (add("Reset", "Restores the threshold of the program's start (Shift+T).",
            history_.first(threshold) != threshold)) {
        viewer_.settings.subdivision.threshold = history_.first(threshold);
    }
    ImGui::NewLine();
}

void Panels::draw_threshold_levels(const ValueRange& range) {
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
    if (viewer_.frame() != nullptr && levels.size() != map_top_level() + 1) {
        form_.label("Levels", "The map has more or fewer sizes of squares than there are numbers.");
        if (form_.button(
                "+",
                "Makes a number per size of squares of this map; new ones repeat the last one.")) {
            levels.resize(map_top_level() + 1, levels.empty() ? 1.0F : levels.back());
        }
        ImGui::SameLine();
        form_.text(levels.size() <= map_top_level() ? "the last number stands for larger squares"
                                                    : "more numbers than sizes",
                   DIM_COLOUR);
    }
    if (grows(levels)) {
        form_.wrapped_text(
            "Larger squares have larger thresholds than smaller ones: the strategy "
            "fused and budgets cannot be used.",
            WARNING_COLOUR);
    }
}

void Panels::draw_memory_threshold(const ValueRange& range) {
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
    if (form_.combo("Fragments", TIP, choices_of(channels), index)) {
        settings.fragments_channel = channels[index];
    }
}

void Panels::draw_glsl_threshold() {
    ThresholdSettings& settings = viewer_.settings.subdivision.threshold;
    form_.text_row("File",
                   "File that defines float threshold(uint level, uvec2 position, uint layer), or "
                   "the result of 'quadtile compile'.",
                   std::filesystem::path(settings.glsl_file).filename().string());
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
    form_.count_field("##wanted", tiles_wanted_);
    const bool is_entered = ImGui::IsItemDeactivated() && is_enter_pressed();
    form_.tip("Click to type a number; Enter finds the threshold.");
    ImGui::SameLine(0.0F, spacing);
    const bool is_pressed = form_.prominent_button("Find threshold", TIP, button_width);
    if ((is_pressed || is_entered) && has_map()) {
        viewer_.find_threshold(tiles_wanted_);
    }
    ImGui::AlignTextToFramePadding();
    form_.label("Tiles", "Number of tiles that the threshold gives.");
    if (has_map() && viewer_.tiles().has_tiles()) {
        form_.large_text(count_text(viewer_.summary().header.required));
    } else {
        form_.large_text("-", DIM_COLOUR);
    }
}

// ---- Subdivision

void Panels::draw_subdivision_section() {
    draw_strategy();
    draw_budget();
    draw_device();
    const std::uint32_t repeats = viewer_.frame() != nullptr ? viewer_.summary().repeats : 0;
    form_.text_row("Repeats",
                   "Times that the last list was made again because the buffer was too small.",
                   std::to_string(repeats), repeats > 0 ? WARNING_COLOUR : DIM_COLOUR);
}

void Panels::draw_strategy() {
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    form_.combo("Strategy", "Method of the GPU (S). Only the time differs.", STRATEGIES,
                settings.strategy, STRATEGY_TIPS);
    if (viewer_.frame() != nullptr && !viewer_.summary().strategy_reason.empty()) {
        const TilesSummary& summary = viewer_.summary();
        form_.text_row("", "The choice of auto, and its reason.",
                       std::string(app::name_in(STRATEGIES, summary.strategy)) + ": " +
                           summary.strategy_reason,
                       DIM_COLOUR);
    }
    if (settings.strategy == Strategy::subtree) {
        form_.label("Subtree levels", "Levels of the quadtree that one dispatch descends.");
        constexpr std::uint32_t LEAST = 1;
        ImGui::SliderScalar("##levels", ImGuiDataType_U32, &settings.subtree_levels, &LEAST,
                            &MAX_SUBTREE_LEVELS, "%u", ImGuiSliderFlags_AlwaysClamp);
        form_.tip("More: fewer dispatches, each with more work. Ctrl+click to type.");
    }
    form_.combo("Order",
                "Order of the tiles in the list (R). Canonical: along the Z-order (Morton) curve, "
                "always the same; only the strategy fused makes it.",
                ORDERS, settings.order, ORDER_TIPS);
    form_.combo("Balance",
                "Largest difference of levels of tiles that touch (U). A budget cannot count the "
                "tiles that balancing adds.",
                app::BALANCES, settings.balance, BALANCE_TIPS,
                settings.has_budget ? NO_BALANCE : "");
}

void Panels::draw_budget() {
    constexpr const char* TIP =
        "Largest number of tiles: the GPU raises the threshold, in steps of 1 to 2%, until there "
        "are no more (B). Only the strategy fused keeps it.";
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    const bool is_possible = settings.balance == Balance::none || settings.has_budget;
    const auto draw_number = [&] {
        constexpr std::uint64_t LEAST = 1;
        ImGui::DragScalar("##tiles", ImGuiDataType_U64, &settings.max_tiles, 2.0F, &LEAST,
                          &MAX_TILES_LIMIT, "%llu tiles",
                          ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
    };
    form_.switched("Budget", is_possible ? TIP : NO_BUDGET, settings.has_budget, draw_number,
                   is_possible);
    form_.tip(is_possible ? "Drag to change, with Alt slowly; Ctrl+click to type." : NO_BUDGET);
}

void Panels::draw_device() {
    const std::vector<app::DeviceChoice>& devices = viewer_.gpu().choices();
    std::vector<Choice> choices;
    for (const app::DeviceChoice& device : devices) {
        choices.push_back({device.name, device.objection, device.objection.empty()});
    }
    std::size_t index = viewer_.gpu().chosen();
    if (form_.combo("Device", "The GPU, or the CPU driver of Mesa, that makes the tiles.", choices,
                    index)) {
        viewer_.settings.device = std::to_string(index);
    }
}

}  // namespace quadtile::viewer
