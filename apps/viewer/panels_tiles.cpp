// The sections of the panel for the result: tiles, texel, times.

#include "panels.hpp"

#include <algorithm>
#include <cfloat>

namespace quadtile::viewer {

namespace {

constexpr ImU32 BAR_COLOUR = IM_COL32(92, 150, 210, 255);

float median(const std::deque<float>& values) {
    std::vector<float> sorted(values.begin(), values.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

void text_right(Form& form, const std::string& text, ImU32 colour = TEXT_COLOUR) {
    const float left = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, left));
    form.text(text, colour);
}

std::string times_text(const std::optional<double>& last, const std::deque<float>& history) {
    if (!last) {
        return "-";
    }
    std::string text = time_text(*last);
    if (!history.empty()) {
        text += ", median " + time_text(median(history));
    }
    return text;
}

}  // namespace

// ---- Tiles

void Panels::draw_tiles_section() {
    if (!has_map()) {
        form_.text("There is no map yet.", DIM_COLOUR);
    } else if (!viewer_.tiles().has_tiles()) {
        form_.wrapped_text("There are no tiles: " + viewer_.summary().problem, BAD_COLOUR);
    } else {
        draw_totals();
        draw_levels_table();
        if (form_.button("Check against CPU reference",
                         "Reads the list back, checks that its tiles cover each texel once, and "
                         "compares it with the list of the CPU reference (K).",
                         -FLT_MIN)) {
            viewer_.check_list();
        }
    }
    draw_exports();
}

void Panels::draw_totals() {
    const TilesSummary& summary = viewer_.summary();
    const MapShape& shape = viewer_.frame()->map.shape;
    const TileListHeader& header = summary.header;
    form_.text_row("Number", "Tiles in the list.", count_text(header.written));
    if (header.required != header.written) {
        form_.text_row("Required",
                       "Number of tiles of the whole list; the buffer had no room for all.",
                       count_text(header.required), BAD_COLOUR);
    }
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height;
    constexpr const char* COVERED_TIP =
        "The summed areas of all tiles: as many texels as the map has.";
    form_.label("Texels covered", COVERED_TIP);
    form_.tick(summary.covered_texels == texels);
    form_.text(summary.covered_texels == texels
                   ? "all " + count_text(texels)
                   : count_text(summary.covered_texels) + " of " + count_text(texels));
    form_.tip(COVERED_TIP);
    form_.text_row(
        "Clamped",
        "Single texels whose importance is not below their threshold: they need a finer map.",
        count_text(summary.tally.clamped),
        summary.tally.clamped > 0 ? WARNING_COLOUR : TEXT_COLOUR);
    if (viewer_.settings.subdivision.has_budget) {
        const bool is_scaled = header.threshold_factor != 1.0F;
        form_.text_row("Budget factor",
                       is_scaled
                           ? "Factor by which the budget has raised the threshold. It goes in "
                             "steps of 1 to 2%, and squares at the same limit split together: with "
                             "one step less there are more tiles than the budget allows."
                           : "The threshold alone gives no more tiles than the budget allows.",
                       number_text(header.threshold_factor, 6) + ", " + count_text(header.written) +
                           " of " + tiles_text(viewer_.settings.subdivision.max_tiles));
    }
}

void Panels::draw_levels_table() {
    constexpr std::array<std::array<const char*, 2>, 4> HEADS{
        {{"Level",
          "Level of the tiles: tiles of level l have 2^l texels on a side. The colour is that of "
          "the fill by level."},
         {"Side", "Texels on a side; the map's edge cuts some."},
         {"Tiles", "Number of tiles of this size."},
         {"", "In relation to the most frequent size."}}};
    const Tally& tally = viewer_.summary().tally;
    const std::span counts(tally.tiles_of_level, map_top_level() + 1);
    const auto most = static_cast<float>(std::max(1U, *std::ranges::max_element(counts)));
    if (!ImGui::BeginTable("levels", static_cast<int>(HEADS.size()), TABLE_FLAGS)) {
        return;
    }
    ImGui::TableSetupColumn("level", ImGuiTableColumnFlags_WidthFixed, form_.px(52.0F));
    ImGui::TableSetupColumn("side", ImGuiTableColumnFlags_WidthFixed, form_.px(54.0F));
    ImGui::TableSetupColumn("tiles", ImGuiTableColumnFlags_WidthFixed, form_.px(82.0F));
    ImGui::TableSetupColumn("bar", ImGuiTableColumnFlags_WidthStretch);
    form_.table_heads(HEADS);
    for (std::uint32_t level = 0; level < counts.size(); ++level) {
        const std::uint32_t count = counts[level];
        const ImU32 colour = count > 0 ? TEXT_COLOUR : DIM_COLOUR;
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        form_.swatch(level_colour(level));
        form_.text(std::to_string(level), colour);
        ImGui::TableNextColumn();
        text_right(form_, count_text(std::uint64_t{1} << level), colour);
        ImGui::TableNextColumn();
        text_right(form_, count_text(count), colour);
        ImGui::TableNextColumn();
        form_.bar(static_cast<float>(count) / most, BAR_COLOUR);
    }
    ImGui::EndTable();
}

void Panels::draw_comparison_section() {
    constexpr const char* KEEP_TIP =
        "Keeps the shown list as A, to compare lists of other thresholds and maps with it (H).";
    if (form_.button("Keep as A", KEEP_TIP)) {
        viewer_.keep_list();
    }
    if (!viewer_.kept()) {
        form_.wrapped_text(
            "Keep a list as A, then change the threshold or the map: tiles that differ are marked.",
            DIM_COLOUR);
        return;
    }
    ImGui::SameLine();
    if (form_.button("Swap A and B", "Shows A, and keeps the shown list as A (Y).")) {
        viewer_.swap_with_kept();
    }
    ImGui::SameLine();
    if (form_.button("Forget A", "Ends the comparison.")) {
        viewer_.forget_kept();
        return;
    }
    const KeptList& kept = *viewer_.kept();
    form_.text_row(
        "A", "The kept list.",
        kept.name + ", " + describe(kept.settings.threshold) + ": " + tiles_text(kept.keys.size()));
    if (!viewer_.difference()) {
        form_.wrapped_text("The shown map has another size than A's map, or no list.",
                           WARNING_COLOUR);
        return;
    }
    const ListDifference& difference = *viewer_.difference();
    form_.text_row("B", "The shown list.",
                   viewer_.frame()->name + ", " + describe(viewer_.settings.subdivision.threshold) +
                       ": " + tiles_text(difference.in_both + difference.only_shown));
    form_.text_row("In both", "Tiles that cover the same texels in A and B.",
                   count_text(difference.in_both));
    form_.text_row("Only in A", "Tiles of A that B does not have.",
                   count_text(difference.only_kept));
    form_.text_row("Only in B", "Tiles of B that A does not have: orange if they are marked.",
                   count_text(difference.only_shown));
    form_.checkbox("Mark differences", "Tiles that are only in B are orange, all others dark.",
                   viewer_.settings.drawing.mark_differences);
}

void Panels::draw_exports() {
    struct Export {
        const char* name;
        const char* tooltip;
        void (Panels::*save)();
    };
    constexpr std::array<Export, 4> EXPORTS{
        {{"Save list...", "Saves the tiles as JSON, or as CSV if the name ends in .csv (Ctrl+S).",
          &Panels::save_list},
         {"Save picture...", "Saves the shown part of the map as PNG, without the panel (Ctrl+P).",
          &Panels::save_picture},
         {"Save whole map...", "Saves the whole map as PNG, with a pixel per texel (Ctrl+Shift+P).",
          &Panels::save_whole_map},
         {"Save settings...", "Saves all settings as JSON (Ctrl+E).", &Panels::save_settings}}};
    const float spacing = ImGui::GetStyle().ItemSpacing.x;
    const float button_width = (ImGui::GetContentRegionAvail().x - spacing) / 2.0F;
    for (std::size_t i = 0; i < EXPORTS.size(); ++i) {
        if (i % 2 == 1) {
            ImGui::SameLine(0.0F, spacing);
        }
        if (form_.button(EXPORTS[i].name, EXPORTS[i].tooltip, button_width)) {
            (this->*EXPORTS[i].save)();
        }
    }
}

// ---- Times

void Panels::draw_times_section() {
    if (!has_map()) {
        form_.text("There is no map yet.", DIM_COLOUR);
        return;
    }
    const TimeHistory& times = viewer_.times();
    if (viewer_.gpu().timestamp_milliseconds() > 0.0) {
        form_.text_row(
            "Pyramid",
            "Time on the GPU to find the largest importance of all squares of the map; the "
            "strategy fused needs no such pass.",
            times_text(viewer_.tiles().pyramid_milliseconds(), times.pyramid_milliseconds));
        form_.text_row("Subdivision",
                       "Time on the GPU to make the list: of the last run, and the median of the "
                       "runs in the plot.",
                       times_text(viewer_.summary().milliseconds, times.subdivision_milliseconds));
        draw_time_plot();
    } else {
        form_.wrapped_text("This device has no timestamps, so GPU times are unknown.",
                           WARNING_COLOUR);
    }
    form_.text_row("On the host",
                   "Time of the last subdivision on the host, including the wait for the GPU.",
                   time_text(viewer_.update_milliseconds()));
    form_.checkbox("Continuously", "Subdivides again for each picture, for the plot (M).",
                   viewer_.measures_continuously);
    if (form_.button("Compare strategies",
                     "Makes the list once by each strategy and shows their times (V).", -FLT_MIN)) {
        viewer_.compare_strategies();
    }
    draw_strategy_times();
}

void Panels::draw_time_plot() {
    const std::deque<float>& history = viewer_.times().subdivision_milliseconds;
    if (history.size() < 2) {
        return;
    }
    const std::vector<float> values(history.begin(), history.end());
    const float most = *std::ranges::max_element(values);
    const std::string text = "up to " + time_text(most);
    ImGui::PlotLines("##times", values.data(), static_cast<int>(values.size()), 0, text.c_str(),
                     0.0F, 1.15F * most, {ImGui::GetContentRegionAvail().x, form_.px(60.0F)});
}

void Panels::draw_strategy_times() {
    const std::vector<StrategyTime>& times = viewer_.strategy_times();
    if (times.empty() || !ImGui::BeginTable("strategies", 3, TABLE_FLAGS)) {
        return;
    }
    double most = 0.0;
    for (const StrategyTime& time : times) {
        most = std::max(most, time.milliseconds.value_or(0.0));
    }
    ImGui::TableSetupColumn("strategy", ImGuiTableColumnFlags_WidthFixed, form_.px(76.0F));
    ImGui::TableSetupColumn("bar", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed, form_.px(84.0F));
    for (const StrategyTime& time : times) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        form_.text(std::string(app::name_in(STRATEGIES, time.strategy)));
        ImGui::TableNextColumn();
        if (!time.problem.empty()) {
            form_.wrapped_text(time.problem, WARNING_COLOUR);
            continue;
        }
        if (time.milliseconds && most > 0.0) {
            form_.bar(static_cast<float>(*time.milliseconds / most), BAR_COLOUR);
        }
        ImGui::TableNextColumn();
        text_right(form_, time.milliseconds ? time_text(*time.milliseconds) : "not known");
    }
    ImGui::EndTable();
}

}  // namespace quadtile::viewer
