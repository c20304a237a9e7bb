// The section of the panel for the drawing of the map and its tiles.

#include "panels.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace quadtile::viewer {

namespace {

constexpr float HISTOGRAM_HEIGHT = 72.0F;

const std::vector<std::string> FILL_TIPS{
    "Shows only the map.", "A colour for each tile size.",
    "Importance divided by threshold: how close a tile is to being split.",
    "Place in the list: the first tile has the first colour."};

// A linear or logarithmic scale of importance, from 0 to 1.
class Scale {
 public:
    Scale(float low, float high, bool is_logarithmic)
        : is_logarithmic_(is_logarithmic), low_(place(low)), width_(place(high) - low_) {}

    [[nodiscard]] float position(float importance) const {
        return (place(importance) - low_) / width_;
    }
    [[nodiscard]] float importance(float position) const {
        const float at = low_ + position * width_;
        return is_logarithmic_ ? std::exp2(at) : at;
    }

 private:
    [[nodiscard]] float place(float importance) const {
        return is_logarithmic_ ? std::log2(std::max(importance, FLT_MIN)) : importance;
    }

    bool is_logarithmic_;
    float low_;
    float width_;
};

// Returns the range of the positive values and the colours; low < high.
app::Range histogram_range(const app::MapStatistics& statistics, const app::Range& colours,
                           bool is_logarithmic) {
    const float high = std::max(statistics.max, colours.high);
    if (!is_logarithmic) {
        return {high * 1.0e-6F, high};
    }
    const float low = std::max(std::min(statistics.percentile(0.0), colours.low), FLT_MIN);
    return {low, std::max(high, 1.01F * low)};
}

std::uint64_t positive_values(const app::MapStatistics& statistics) {
    const std::uint64_t others =
        statistics.nan + statistics.infinite + statistics.negative + statistics.zero;
    return statistics.texels - std::min(others, statistics.texels);
}

}  // namespace

app::Rgb Panels::level_colour(std::uint32_t level) const {
    const std::size_t entry = (2 * level + 1) * app::COLOUR_MAP_SIZE / (2 * (map_top_level() + 1));
    return level_colours_[std::min(entry, app::COLOUR_MAP_SIZE - 1)];
}

void Panels::draw_drawing_section() {
    DrawingSettings& settings = viewer_.settings.drawing;
    draw_colours();
    if (viewer_.frame() != nullptr) {
        settings.level = std::min(settings.level, map_top_level());
        form_.slider(
            "Pyramid level",
            "0: the map. Higher: the largest importance in squares of 2, 4, 8, ... texels on a "
            "side, which decides whether they are split (Page up, Page down).",
            settings.level, 0U, map_top_level(), settings.level == 0 ? "%u (the map)" : "%u");
    }
    draw_fill();
}

void Panels::draw_colours() {
    DrawingSettings& settings = viewer_.settings.drawing;
    form_.combo("Colour map", "The colours of the map, from unimportant to important (C).",
                COLOUR_MAPS, settings.colour_map, {});
    form_.checkbox("Logarithmic",
                   "On: equal ratios of importance are equally far apart in colour. Off: equal "
                   "differences (L).",
                   settings.logarithmic);
    bool automatic = settings.automatic_range;
    if (form_.checkbox("Automatic range",
                       "Uses the colours for the middle 99% of the map's positive values, so that "
                       "single bright texels do not darken all others (A).",
                       automatic)) {
        change_range_mode(automatic);
    }
    if (viewer_.frame() != nullptr) {
        draw_histogram();
    }
}

void Panels::draw_histogram() {
    constexpr const char* TIP =
        "Histogram of importance, with logarithmic counts, in the colours of the map. The lines "
        "mark the range of colours; drag them to change it.";
    DrawingSettings& settings = viewer_.settings.drawing;
    const app::MapStatistics& statistics = viewer_.frame()->statistics;
    if (positive_values(statistics) == 0) {
        form_.text("The map has no positive values.", DIM_COLOUR);
        return;
    }
    const app::Range colours = viewer_.range();
    const app::Range shown = histogram_range(statistics, colours, settings.logarithmic);
    const Scale scale(shown.low, shown.high, settings.logarithmic);
    const Scale colour_scale(colours.low, colours.high, settings.logarithmic);

    const ImVec2 size{std::max(1.0F, ImGui::GetContentRegionAvail().x), form_.px(HISTOGRAM_HEIGHT)};
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float bottom = corner.y + size.y;
    const auto x_of = [&](float importance) {
        return corner.x + std::clamp(scale.position(importance), 0.0F, 1.0F) * size.x;
    };
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(corner, {corner.x + size.x, bottom}, IM_COL32(10, 11, 14, 255));
    const auto count = static_cast<std::size_t>(std::max(8.0F, size.x / form_.px(3.0F)));
    const std::vector<float> bins =
        statistics.histogram(shown.low, shown.high, settings.logarithmic, count);
    const app::ColourTable table = app::importance_colours(settings.colour_map);
    const float most = std::log1p(*std::ranges::max_element(bins));
    const float step = size.x / static_cast<float>(count);
    for (std::size_t i = 0; i < bins.size(); ++i) {
        if (bins[i] == 0.0F) {
            continue;
        }
        const float middle = (static_cast<float>(i) + 0.5F) / static_cast<float>(count);
        const float colour = colour_scale.position(scale.importance(middle));
        const auto entry = static_cast<std::size_t>(std::clamp(colour, 0.0F, 1.0F) *
                                                    static_cast<float>(app::COLOUR_MAP_SIZE - 1));
        const float height = std::log1p(bins[i]) / most * (size.y - form_.px(4.0F));
        const float x = corner.x + step * static_cast<float>(i);
        list.AddRectFilled({x, bottom - height}, {x + step, bottom}, opaque(table[entry]));
        // Brightens dark colours, so that they can be seen.
        list.AddLine({x, bottom - height}, {x + step, bottom - height},
                     with_opacity(TEXT_COLOUR, 0.55F));
    }
    for (const float end : {colours.low, colours.high}) {
        list.AddLine({x_of(end), corner.y}, {x_of(end), bottom}, IM_COL32_WHITE, form_.px(1.5F));
    }

    ImGui::InvisibleButton("##histogram", size);
    form_.tip(TIP);
    const float mouse_x = ImGui::GetIO().MousePos.x;
    if (ImGui::IsItemActivated()) {
        moves_high_end_ =
            std::abs(mouse_x - x_of(colours.high)) < std::abs(mouse_x - x_of(colours.low));
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1.0F)) {
        change_range_mode(false);
        const float position = std::clamp((mouse_x - corner.x) / size.x, 0.0F, 1.0F);
        (moves_high_end_ ? settings.range_high : settings.range_low) = scale.importance(position);
    }
    form_.text(number_text(shown.low, 3), DIM_COLOUR);
    const std::string middle = number_text(colours.low, 3) + " to " + number_text(colours.high, 3);
    ImGui::SameLine((ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(middle.c_str()).x) /
                    2.0F);
    form_.text(middle);
    form_.tip("Range of importance that the colours cover.");
    ImGui::SameLine();
    form_.text_right(number_text(shown.high, 3), DIM_COLOUR);
}

// ---- Tiles

void Panels::draw_fill() {
    DrawingSettings& settings = viewer_.settings.drawing;
    form_.switched("Outlines",
                   "Draws the border of each tile (E). In a balanced list it is magenta where the "
                   "neighbour is coarser.",
                   settings.outlines, [&] {
                       ImGui::SliderFloat("##width", &settings.outline_width, 0.5F, 5.0F,
                                          "%.1f pixels", ImGuiSliderFlags_AlwaysClamp);
                   });
    form_.tip("Width of the outlines. Ctrl+click to type.");

    form_.combo("Fill", "Property that colours the tiles (G).", FILLS, settings.fill, FILL_TIPS);
    if (settings.fill != Fill::none) {
        form_.slider("Opacity", "Opacity of the fill over the map.", settings.fill_opacity, 0.0F,
                     1.0F, "%.2f");
    }
    form_.checkbox("Mark clamped",
                   "Draws stripes on single texels whose importance is not below their threshold: "
                   "they need a finer map (X).",
                   settings.mark_clamped);
}

}  // namespace quadtile::viewer
