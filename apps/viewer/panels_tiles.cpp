// The sections of the panel for the subdivision and its tiles.

#include "panels.hpp"

#include <algorithm>

namespace quadtile::viewer {

namespace {

const std::vector<std::string> ORDER_TIPS{
    "The fastest order; it differs from run to run.",
    "Along the Z-order (Morton) curve: always the same list. Only the strategy fused makes it."};

const std::vector<std::string> BALANCE_TIPS{
    "By any number of levels.", "By at most one level if tiles share an edge.",
    "By at most one level if tiles share an edge or a corner."};

constexpr ImU32 BAR_COLOUR = IM_COL32(92, 150, 210, 255);

}  // namespace

// ---- Subdivision

void Panels::draw_subdivision_section() {
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    if (viewer_.frame() != nullptr) {
        const TilesSummary& summary = viewer_.summary();
        form_.text_row("Strategy", "The GPU's method, and why it is the one.",
                       std::string(summary.strategy_name()) + ": " + summary.strategy_reason,
                       DIM_COLOUR);
    }
    form_.combo("Order", "Order of the tiles in the list (R).", ORDERS, settings.order, ORDER_TIPS);
    if (form_.combo("Balance",
                    "Largest difference of levels of tiles that touch (U). A budget cannot count "
                    "the tiles that balancing adds, so this switches it off.",
                    app::BALANCES, settings.balance, BALANCE_TIPS)) {
        settings.has_budget = settings.has_budget && settings.balance == Balance::none;
    }
    const bool had_budget = settings.has_budget;
    form_.switched("Budget",
                   "Largest number of tiles: the GPU raises the threshold, in steps of 1 to 2%, "
                   "until there are no more (B). Only the strategy fused keeps it. Switches the "
                   "balance off.",
                   settings.has_budget, [&] { form_.count_field("##tiles", settings.max_tiles); });
    if (settings.has_budget && !had_budget) {
        settings.balance = Balance::none;
    }
}

// ---- Tiles

void Panels::draw_tiles_section() {
    if (!has_map()) {
        form_.text("There is no map yet.", DIM_COLOUR);
    } else if (!viewer_.tiles().has_tiles()) {
        form_.wrapped_text("There are no tiles: " + viewer_.summary().problem, BAD_COLOUR);
    } else {
        draw_totals();
        draw_levels_table();
        draw_times();
    }
    draw_exports();
}

void Panels::draw_totals() {
    const TilesSummary& summary = viewer_.summary();
    const TileListHeader& header = summary.header;
    form_.text_row("Number", "Tiles in the list.", count_text(header.written));
    form_.text_row(
        "Clamped",
        "Single texels whose importance is not below their threshold: they need a finer map.",
        count_text(summary.clamped), summary.clamped > 0 ? WARNING_COLOUR : TEXT_COLOUR);
    if (viewer_.settings.subdivision.has_budget) {
        form_.text_row("Budget factor",
                       "Factor by which the budget has raised the threshold, in steps of 1 to 2%. "
                       "With one step less there are more tiles than the budget allows.",
                       number_text(header.threshold_factor, 6) + ", " + count_text(header.written) +
                           " of " + count_text(viewer_.settings.subdivision.max_tiles));
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
    const std::span counts = std::span(viewer_.summary().tiles_of_level).first(map_top_level() + 1);
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
        form_.text_right(count_text(std::uint64_t{1} << level), colour);
        ImGui::TableNextColumn();
        form_.text_right(count_text(count), colour);
        ImGui::TableNextColumn();
        form_.bar(static_cast<float>(count) / most, BAR_COLOUR);
    }
    ImGui::EndTable();
}

void Panels::draw_exports() {
    const float spacing = ImGui::GetStyle().ItemSpacing.x;
    const float button_width = (ImGui::GetContentRegionAvail().x - spacing) / 2.0F;
    for (std::size_t i = 0; i < exports().size(); ++i) {
        const Export& one = exports()[i];
        if (i % 2 == 1) {
            ImGui::SameLine(0.0F, spacing);
        }
        if (form_.button(one.name, std::string(one.what) + " (" + one.keys + ").", button_width)) {
            save(one);
        }
    }
}

void Panels::draw_times() {
    const auto row = [&](const char* name, const char* tooltip, std::optional<double> time) {
        form_.text_row(name, tooltip, time ? time_text(*time) : "not known");
    };
    row("Time on the GPU", "Time on the GPU of the last subdivision.",
        viewer_.summary().milliseconds);
    row("Pyramid",
        "Time on the GPU to find the largest importance of all squares of the map; the strategy "
        "fused needs no such pass.",
        viewer_.tiles().pyramid_milliseconds());
    row("On the host", "Time of the last subdivision on the host, including the wait for the GPU.",
        viewer_.update_milliseconds());
}

}  // namespace quadtile::viewer
