// Actions of keys: the table of actions of Panels.

#include "panels.hpp"

#include "platform.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace quadtile::viewer {

void Panels::press(Shortcut pressed, bool is_repeated) {
    // All modifiers but the locks.
    pressed.modifiers &= GLFW_MOD_CONTROL | GLFW_MOD_SHIFT | GLFW_MOD_ALT | GLFW_MOD_SUPER;
    if (path_field_.is_open()) {
        if (pressed.key == GLFW_KEY_ENTER || pressed.key == GLFW_KEY_KP_ENTER) {
            path_field_.enter();
        } else if (pressed.key == GLFW_KEY_ESCAPE) {
            path_field_.cancel();
        }
        return;
    }
    // Dear ImGui wants text for one frame longer than the text field exists.
    const bool is_writing = ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
    if (is_writing && (pressed.modifiers & GLFW_MOD_CONTROL) == 0) {
        return;
    }
    for (const Action& action : actions_) {
        if ((action.repeats || !is_repeated) && std::ranges::count(action.shortcuts, pressed) > 0) {
            action.act();
        }
    }
}

// ---- The table

namespace {

// Returns the shortcuts of a text such as "Ctrl+Shift+Z" or "Left or ,".
std::vector<Shortcut> shortcuts_of(const std::string& text) {
    const std::size_t end = text.find(" or ");
    if (end != std::string::npos) {
        std::vector<Shortcut> both = shortcuts_of(text.substr(0, end));
        both.push_back(shortcuts_of(text.substr(end + 4)).front());
        return both;
    }
    Shortcut shortcut;
    std::string key = text;
    for (const auto& [prefix, modifier] :
         {std::pair<std::string, int>("Ctrl+", GLFW_MOD_CONTROL), {"Shift+", GLFW_MOD_SHIFT}}) {
        if (key.starts_with(prefix)) {
            key.erase(0, prefix.size());
            shortcut.modifiers |= modifier;
        }
    }
    static const std::map<std::string, int> names{
        {"Left", GLFW_KEY_LEFT}, {"Right", GLFW_KEY_RIGHT},     {"Up", GLFW_KEY_UP},
        {"Down", GLFW_KEY_DOWN}, {"Page up", GLFW_KEY_PAGE_UP}, {"Page down", GLFW_KEY_PAGE_DOWN},
        {"Tab", GLFW_KEY_TAB},   {"Escape", GLFW_KEY_ESCAPE},   {"F1", GLFW_KEY_F1},
        {"F5", GLFW_KEY_F5}};
    if (key.size() > 1) {
        shortcut.key = names.at(key);
    } else if (key[0] >= 'A' && key[0] <= 'Z') {
        shortcut.key = GLFW_KEY_A + (key[0] - 'A');
    } else {
        shortcut.character = static_cast<unsigned char>(key[0]);
    }
    return {shortcut};
}

constexpr float ZOOM_FACTOR = 1.25F;
constexpr float PAN_PIXELS = 60.0F;
const float SMALL_THRESHOLD_STEP = std::exp2(1.0F / 8.0F);

// Goes to the next value of a table, and from the last to the first.
template <typename Table, typename Value>
void go_on(const Table& table, Value& value) {
    const auto place = std::ranges::find(table, value, [](const auto& one) { return one.value; });
    value = (std::next(place) == table.end() ? table.front() : *std::next(place)).value;
}

}  // namespace

std::vector<Action> Panels::make_actions() {
    SubdivisionSettings& subdivision = viewer_.settings.subdivision;
    DrawingSettings& drawing = viewer_.settings.drawing;
    std::vector<Action> all;
    const auto group = [&](const char* heading) { all.push_back({.group = heading}); };
    const auto mouse = [&](const char* name, const char* action) {
        all.push_back({.name = name, .keys = action});
    };
    const auto add = [&](const char* name, const char* keys, std::function<void()> act) {
        all.push_back({{}, name, keys, shortcuts_of(keys), std::move(act), false});
    };
    const auto pan = [this](float x, float y) {
        return [=, this] { viewer_.pan(x * form_.px(PAN_PIXELS), y * form_.px(PAN_PIXELS)); };
    };
    const auto repeat = [&](const char* name, const char* keys, std::function<void()> act) {
        all.push_back({{}, name, keys, shortcuts_of(keys), std::move(act), true});
    };
    const auto toggle = [](bool& setting) { return [&setting] { setting = !setting; }; };
    const auto cycle = [](const auto& names, auto& setting) {
        return [&names, &setting] { go_on(names, setting); };
    };
    const auto scale = [this](float factor) {
        return [this, factor] { viewer_.scale_threshold(factor); };
    };

    group("Mouse over the map");
    mouse("Zoom, towards the mouse", "wheel");
    mouse("Move the map, by any button", "drag");
    mouse("Pin the tile: a window shows all that is known of it", "click");
    mouse("Unpin", "click beside the map");
    mouse("Open them; the arrow keys go through them", "drop files");

    group("Files");
    add("Open a file", "O", [this] { ask_for_files(); });
    add("Show the demo map", "D", [this] { viewer_.open({}); });
    repeat("Previous file", "Left or ,", [this] { viewer_.files().step(-1); });
    repeat("Next file", "Right or .", [this] { viewer_.files().step(1); });
    for (const Export& one : exports()) {
        add(one.what, one.keys, [this, &one] { save(one); });
    }

    group("View");
    add("Fit the whole map", "F", [this] { viewer_.show_all(); });
    // '=' lies below '+' on many keyboards.
    repeat("Zoom in", "+ or =", [this] { zoom_in_middle(ZOOM_FACTOR); });
    repeat("Zoom out", "-", [this] { zoom_in_middle(1.0F / ZOOM_FACTOR); });
    // The map moves in the other direction.
    repeat("Move the view left", "Shift+Left", pan(1, 0));
    repeat("Move the view right", "Shift+Right", pan(-1, 0));
    repeat("Move the view up", "Shift+Up", pan(0, 1));
    repeat("Move the view down", "Shift+Down", pan(0, -1));
    add("One pixel per texel", "1", [this] { viewer_.show_one_to_one(); });

    group("Threshold and subdivision");
    repeat("Lower the threshold by 8%: more tiles", "[", scale(1.0F / SMALL_THRESHOLD_STEP));
    repeat("Raise the threshold by 9%: fewer tiles", "]", scale(SMALL_THRESHOLD_STEP));
    repeat("Halve the threshold", "{", scale(0.5F));
    repeat("Double the threshold", "}", scale(2.0F));
    add("Undo the last change of the threshold", "Ctrl+Z",
        [this] { restore_threshold(threshold_number_ - 1); });
    add("Redo the change of the threshold", "Ctrl+Shift+Z",
        [this] { restore_threshold(threshold_number_ + 1); });
    add("Threshold of the program's start", "Shift+T", [this] { restore_threshold(0); });
    add("Read a threshold in GLSL again", "F5", [this] { viewer_.reload_threshold(); });
    add("Order of the list: any or canonical", "R", cycle(ORDERS, subdivision.order));
    add("Next balance: none, edges or corners; without a budget", "U",
        [this] { change_balance(); });
    add("Budget of tiles on or off; without a balance", "B", [this] { change_budget(); });

    group("Drawing");
    add("Next colour map", "C", cycle(COLOUR_MAPS, drawing.colour_map));
    add("Logarithmic or linear colours", "L", toggle(drawing.logarithmic));
    add("Automatic range of colours on or off", "A",
        [this] { change_range_mode(!viewer_.settings.drawing.automatic_range); });
    repeat("Show a coarser level of the pyramid", "Page up", [this] { change_pyramid_level(1); });
    repeat("Show a finer level of the pyramid", "Page down", [this] { change_pyramid_level(-1); });
    add("Outlines of tiles on or off", "E", toggle(drawing.outlines));
    add("Next fill of tiles", "G", cycle(FILLS, drawing.fill));
    add("Marks of clamped tiles on or off", "X", toggle(drawing.mark_clamped));

    group("Texels and tiles");
    add("Show the next texel that is NaN, infinite or negative", "N",
        [this] { viewer_.show_next_odd_texel(); });
    add("Pin the tile under the mouse", "P", [this] { viewer_.pin(under_mouse_); });

    group("Window");
    add("Panel on or off", "Tab", toggle(viewer_.settings.panel));
    add("This help", "F1", toggle(shows_help_));
    add("Close the help, else unpin the tile", "Escape", [this] { leave_step_by_step(); });
    add("Quit", "Ctrl+Q", [this] { quits_ = true; });
    return all;
}

// ---- Actions of more than a line

void Panels::zoom_in_middle(float factor) {
    const ImGuiIO& io = ImGui::GetIO();
    viewer_.zoom_at(map_width() / 2.0F * io.DisplayFramebufferScale.x,
                    io.DisplaySize.y / 2.0F * io.DisplayFramebufferScale.y, factor);
}

// Keeps the picture as it is until the range is changed by hand.
void Panels::change_range_mode(bool automatic) {
    DrawingSettings& settings = viewer_.settings.drawing;
    if (!automatic) {
        if (viewer_.frame() == nullptr) {
            return;
        }
        const app::Range range = viewer_.range();
        settings.range_low = range.low;
        settings.range_high = range.high;
    }
    settings.automatic_range = automatic;
}

void Panels::change_pyramid_level(int levels) {
    if (viewer_.frame() == nullptr) {
        return;
    }
    std::uint32_t& level = viewer_.settings.drawing.level;
    const int top = static_cast<int>(map_top_level());
    level = static_cast<std::uint32_t>(std::clamp(static_cast<int>(level) + levels, 0, top));
}

// Chooses a kind of threshold. Gives it values if it has none yet.
void Panels::choose_threshold_kind(ThresholdKind kind) {
    ThresholdSettings& settings = viewer_.settings.subdivision.threshold;
    settings.kind = kind;
    const MapFrame* const frame = viewer_.frame();
    if (frame == nullptr) {
        return;
    }
    if (kind == ThresholdKind::per_level && settings.levels.empty()) {
        for (std::uint32_t level = 0; level <= map_top_level(); ++level) {
            settings.levels.push_back(
                std::ldexp(settings.max_resolution, -static_cast<int>(level)));
        }
    }
    if (kind == ThresholdKind::constant && viewer_.tiles().has_tiles() &&
        settings.constant == ThresholdSettings{}.constant) {
        viewer_.find_threshold(viewer_.summary().header.required);
    }
    const std::vector<std::string>& channels = frame->channels;
    if (kind == ThresholdKind::memory &&
        std::ranges::find(channels, settings.fragments_channel) == channels.end()) {
        const auto other = std::ranges::find_if(
            channels, [&](const std::string& name) { return name != frame->map.channel; });
        const bool has_count = std::ranges::find(channels, "count") != channels.end();
        settings.fragments_channel = has_count ? "count" : other == channels.end() ? "" : *other;
    }
}

void Panels::restore_threshold(std::size_t number) {
    if (number < thresholds_.size()) {
        threshold_number_ = number;
        viewer_.settings.subdivision.threshold = thresholds_[number];
    }
}

void Panels::change_balance() {
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    go_on(app::BALANCES, settings.balance);
    settings.has_budget = settings.has_budget && settings.balance == Balance::none;
}

void Panels::change_budget() {
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    settings.has_budget = !settings.has_budget;
    settings.balance = settings.has_budget ? Balance::none : settings.balance;
}

void Panels::leave_step_by_step() {
    if (shows_help_) {
        shows_help_ = false;
    } else {
        viewer_.pin(std::nullopt);
    }
}

void Panels::ask_for_files() {
    path_field_.open("Open a map", last_folder_ / "", false, [this](const auto& path) {
        last_folder_ = path.parent_path();
        viewer_.open({path});
    });
}

void Panels::ask_for_glsl() {
    path_field_.open("Open a threshold in GLSL", last_folder_ / "", false,
                     [this](const auto& path) {
                         viewer_.settings.subdivision.threshold.glsl_file = app::text_of(path);
                         viewer_.reload_threshold();
                     });
}

// ---- Files to save

const std::vector<Panels::Export>& Panels::exports() {
    static const std::vector<Export> all{
        {"Save list...", "Save the tiles as JSON, or as CSV if the name ends in .csv",
         ".tiles.json", "Ctrl+S",
         [](Viewer& viewer, const auto& path) { viewer.export_list(path); }},
        {"Save picture...", "Save the shown part of the map as PNG, without the panel", ".png",
         "Ctrl+P", [](Viewer& viewer, const auto& path) { viewer.export_picture(path, false); }},
        {"Save whole map...", "Save the whole map as PNG, with a pixel per texel", ".map.png",
         "Ctrl+Shift+P",
         [](Viewer& viewer, const auto& path) { viewer.export_picture(path, true); }},
        {"Save settings...", "Save all settings as JSON, for --settings", ".viewer.json", "Ctrl+E",
         [](Viewer& viewer, const auto& path) { viewer.export_settings(path); }}};
    return all;
}

// Asks for the file and saves.
void Panels::save(const Export& one) {
    const MapFrame* const frame = viewer_.frame();
    if (frame == nullptr) {
        viewer_.notify("there is no map yet", true);
        return;
    }
    const std::string name = frame->path.empty() ? "demo" : app::text_of(frame->path.stem());
    path_field_.open(one.what, app::path_of(name + one.ending), true,
                     [this, write = one.write](const auto& path) { write(viewer_, path); });
}

}  // namespace quadtile::viewer
