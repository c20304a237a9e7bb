// Actions of keys: the table of actions of Panels.

#include "panels.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace quadtile::viewer {

namespace {

// Returns the key by the letter printed on it. GLFW names keys by their place on a US keyboard,
// which is the fallback for other scripts.
int printed_key(int key) {
    const bool has_character = key >= GLFW_KEY_APOSTROPHE && key <= GLFW_KEY_WORLD_2;
    const char* const name = has_character ? glfwGetKeyName(key, 0) : nullptr;
    if (name == nullptr || static_cast<unsigned char>(name[0]) >= 0x80U) {
        return key;
    }
    if (name[0] >= 'a' && name[0] <= 'z') {
        return GLFW_KEY_A + (name[0] - 'a');
    }
    return key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? GLFW_KEY_UNKNOWN : key;
}

// All modifiers but the locks.
constexpr int MODIFIERS = GLFW_MOD_CONTROL | GLFW_MOD_SHIFT | GLFW_MOD_ALT | GLFW_MOD_SUPER;

bool is_typed(unsigned int character) {
    if (is_writing()) {
        return false;
    }
    const ImVector<ImWchar>& typed = ImGui::GetIO().InputQueueCharacters;
    return character != 0 && std::find(typed.begin(), typed.end(), character) != typed.end();
}

}  // namespace

// Dear ImGui wants text for one frame longer than the text field exists.
bool is_writing() {
    return ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
}

void act_on_keys(const std::vector<Action>& actions, const std::vector<PressedKey>& pressed) {
    for (const Action& action : actions) {
        const auto is_pressed = [&](const Shortcut& shortcut) {
            return std::ranges::any_of(pressed, [&](const PressedKey& key) {
                const bool is_text = is_writing() && (key.modifiers & GLFW_MOD_CONTROL) == 0;
                return !is_text && shortcut.key == printed_key(key.key) &&
                       shortcut.modifiers == (key.modifiers & MODIFIERS) &&
                       (action.repeats || !key.is_repeated);
            });
        };
        if (std::ranges::any_of(action.shortcuts, [&](const Shortcut& shortcut) {
                return is_typed(shortcut.character) || is_pressed(shortcut);
            })) {
            action.act();
        }
    }
}

// ---- The table

namespace {

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
    std::vector<Action> actions;
    std::string group;
    const auto add = [&](const std::string& name, const std::string& keys,
                         std::vector<Shortcut> shortcuts, std::function<void()> act,
                         bool repeats = false) {
        actions.push_back({group, name, keys, std::move(shortcuts), std::move(act), repeats});
    };
    SubdivisionSettings& subdivision = viewer_.settings.subdivision;
    DrawingSettings& drawing = viewer_.settings.drawing;

    group = "Mouse over the map";
    const auto add_mouse = [&](const char* mouse, const char* effect) {
        add(effect, mouse, {}, [] {});
    };
    add_mouse("wheel", "Zoom, towards the mouse");
    add_mouse("drag", "Move the map, by any button");
    add_mouse("click", "Pin the tile: a window shows all that is known of it");
    add_mouse("click beside the map", "Unpin");
    add_mouse("double click", "Show the whole map");
    add_mouse("drop files", "Open them; several are a sequence to play");

    group = "Files";
    add("Open files", "O", {{GLFW_KEY_O}}, [this] { ask_for_files(); });
    add("Show the demo map", "D", {{GLFW_KEY_D}}, [this] { viewer_.open({}); });
    add(
        "Previous file", "Left or ,", {{GLFW_KEY_LEFT}, {.character = ','}},
        [this] { viewer_.sequence().step(-1); }, true);
    add(
        "Next file", "Right or .", {{GLFW_KEY_RIGHT}, {.character = '.'}},
        [this] { viewer_.sequence().step(1); }, true);
    add("Play the files one after the other, or stop", "Space", {{GLFW_KEY_SPACE}},
        [this] { toggle_playing(); });
    add("Save the tile list", "Ctrl+S", {{GLFW_KEY_S, GLFW_MOD_CONTROL}}, [this] { save_list(); });
    add("Save the picture as it is seen", "Ctrl+P", {{GLFW_KEY_P, GLFW_MOD_CONTROL}},
        [this] { save_picture(); });
    add("Save a picture of the whole map, with a pixel per texel", "Ctrl+Shift+P",
        {{GLFW_KEY_P, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}}, [this] { save_whole_map(); });
    add("Save the settings", "Ctrl+E", {{GLFW_KEY_E, GLFW_MOD_CONTROL}},
        [this] { save_settings(); });

    group = "View";
    const auto add_to_view = [&](const std::string& name, const std::string& keys,
                                 std::vector<Shortcut> shortcuts, std::function<void()> act) {
        add(name, keys, std::move(shortcuts), on_map(std::move(act)), true);
    };
    const auto add_pan = [&](const char* side, const char* key_name, int key, float x, float y) {
        add_to_view(std::string("Move the view ") + side, std::string("Shift+") + key_name,
                    {{key, GLFW_MOD_SHIFT}}, [this, x, y] {
                        viewer_.pan(x * form_.px(PAN_PIXELS), y * form_.px(PAN_PIXELS));
                    });
    };
    add_to_view("Fit the whole map", "F", {{GLFW_KEY_F}}, [this] { viewer_.show_all(); });
    add_to_view("One pixel per texel", "1", {{GLFW_KEY_1}, {GLFW_KEY_KP_1}},
                [this] { viewer_.show_one_to_one(); });
    // '=' lies below '+' on many keyboards.
    add_to_view("Zoom in", "+", {{.character = '+'}, {.character = '='}},
                [this] { zoom_in_middle(ZOOM_FACTOR); });
    add_to_view("Zoom out", "-", {{.character = '-'}},
                [this] { zoom_in_middle(1.0F / ZOOM_FACTOR); });
    // The map moves in the other direction.
    add_pan("left", "Left", GLFW_KEY_LEFT, 1.0F, 0.0F);
    add_pan("right", "Right", GLFW_KEY_RIGHT, -1.0F, 0.0F);
    add_pan("up", "Up", GLFW_KEY_UP, 0.0F, 1.0F);
    add_pan("down", "Down", GLFW_KEY_DOWN, 0.0F, -1.0F);

    group = "Threshold and subdivision";
    const auto add_scale = [&](const char* name, const char* keys, unsigned int character,
                               float factor) {
        add(
            name, keys, {{.character = character}},
            [this, factor] { viewer_.scale_threshold(factor); }, true);
    };
    add_scale("Lower the threshold by 8%: more tiles", "[", '[', 1.0F / SMALL_THRESHOLD_STEP);
    add_scale("Raise the threshold by 9%: fewer tiles", "]", ']', SMALL_THRESHOLD_STEP);
    add_scale("Halve the threshold", "Shift+[", '{', 0.5F);
    add_scale("Double the threshold", "Shift+]", '}', 2.0F);
    add("Undo the last change of the threshold", "Ctrl+Z", {{GLFW_KEY_Z, GLFW_MOD_CONTROL}},
        [this] { change_threshold(-1); });
    add("Redo the change of the threshold", "Ctrl+Shift+Z",
        {{GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}}, [this] { change_threshold(1); });
    add("Reset the threshold to that of the program's start", "Shift+T",
        {{GLFW_KEY_T, GLFW_MOD_SHIFT}}, [this] {
            ThresholdSettings& threshold = viewer_.settings.subdivision.threshold;
            threshold = history_.first(threshold);
        });
    add("Next kind of threshold", "T", {{GLFW_KEY_T}}, [this] { cycle_threshold_kind(); });
    add("Read a threshold in GLSL again", "F5", {{GLFW_KEY_F5}},
        [this] { viewer_.reload_threshold(); });
    add("Next strategy", "S", {{GLFW_KEY_S}},
        [&subdivision] { go_on(STRATEGIES, subdivision.strategy); });
    add("Order of the list: any or canonical", "R", {{GLFW_KEY_R}},
        [&subdivision] { go_on(ORDERS, subdivision.order); });
    add("Next balance: none, edges or corners", "U", {{GLFW_KEY_U}}, [this] { change_balance(); });
    add("Budget of tiles on or off", "B", {{GLFW_KEY_B}}, [this] { change_budget(); });

    group = "Drawing";
    add("Next colour map", "C", {{GLFW_KEY_C}},
        [&drawing] { go_on(COLOUR_MAPS, drawing.colour_map); });
    add("Logarithmic or linear colours", "L", {{GLFW_KEY_L}},
        [&drawing] { drawing.logarithmic = !drawing.logarithmic; });
    add("Automatic range of colours on or off", "A", {{GLFW_KEY_A}},
        [this] { change_range_mode(!viewer_.settings.drawing.automatic_range); });
    add(
        "Show a coarser level of the pyramid", "Page up", {{GLFW_KEY_PAGE_UP}},
        [this] { change_pyramid_level(1); }, true);
    add(
        "Show a finer level of the pyramid", "Page down", {{GLFW_KEY_PAGE_DOWN}},
        [this] { change_pyramid_level(-1); }, true);
    add("Outlines of tiles on or off", "E", {{GLFW_KEY_E}},
        [&drawing] { drawing.outlines = !drawing.outlines; });
    add("Next fill of tiles", "G", {{GLFW_KEY_G}}, [&drawing] { go_on(FILLS, drawing.fill); });
    add("Marks of clamped tiles on or off", "X", {{GLFW_KEY_X}},
        [&drawing] { drawing.mark_clamped = !drawing.mark_clamped; });

    group = "Texels, tiles and times";
    add("Show the next texel that is NaN, infinite or negative", "N", {{GLFW_KEY_N}},
        on_map([this] { viewer_.show_next_odd_texel(); }));
    add("Pin the tile under the mouse", "P", {{GLFW_KEY_P}}, [this] { viewer_.pin(under_mouse_); });
    add("Keep the list as A, to compare others with it", "H", {{GLFW_KEY_H}},
        on_map([this] { viewer_.keep_list(); }));
    add("Swap A and B of the comparison", "Y", {{GLFW_KEY_Y}},
        on_map([this] { viewer_.swap_with_kept(); }));
    add("Check the list against the CPU reference", "K", {{GLFW_KEY_K}},
        on_map([this] { viewer_.check_list(); }));
    add("Measure continuously on or off", "M", {{GLFW_KEY_M}},
        [this] { viewer_.measures_continuously = !viewer_.measures_continuously; });
    add("Compare the times of all strategies", "V", {{GLFW_KEY_V}},
        on_map([this] { viewer_.compare_strategies(); }));

    group = "Window";
    add("Panel on or off", "Tab", {{GLFW_KEY_TAB}},
        [this] { viewer_.settings.panel = !viewer_.settings.panel; });
    add("This help", "F1", {{GLFW_KEY_F1}}, [this] { shows_help_ = !shows_help_; });
    add("Close an open list or the help, else unpin the tile", "Escape", {{GLFW_KEY_ESCAPE}},
        [this] { leave_step_by_step(); });
    add("Quit", "Ctrl+Q", {{GLFW_KEY_Q, GLFW_MOD_CONTROL}}, [this] { quits_ = true; });
    return actions;
}

// ---- Actions of more than a line

std::function<void()> Panels::on_map(std::function<void()> act) const {
    return [this, act = std::move(act)] {
        if (has_map()) {
            act();
        }
    };
}

void Panels::zoom_in_middle(float factor) {
    const ImGuiIO& io = ImGui::GetIO();
    viewer_.zoom_at(map_width() / 2.0F * io.DisplayFramebufferScale.x,
                    io.DisplaySize.y / 2.0F * io.DisplayFramebufferScale.y, factor);
}

void Panels::toggle_playing() {
    viewer_.is_playing = !viewer_.is_playing && viewer_.sequence().files().size() > 1;
}

// Keeps the picture as it is until the range is changed by hand.
void Panels::change_range_mode(bool automatic) {
    DrawingSettings& settings = viewer_.settings.drawing;
    if (!automatic) {
        if (viewer_.frame() == nullptr) {
            return;
        }
        const Range range = viewer_.range();
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

void Panels::cycle_threshold_kind() {
    ThresholdKind kind = viewer_.settings.subdivision.threshold.kind;
    go_on(THRESHOLD_KINDS, kind);
    const MapFrame* const frame = viewer_.frame();
    // The memory threshold needs a second channel.
    if (kind == ThresholdKind::memory && (frame == nullptr || frame->channels.size() < 2)) {
        go_on(THRESHOLD_KINDS, kind);
    }
    choose_threshold_kind(kind);
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

void Panels::change_threshold(std::ptrdiff_t changes) {
    history_.go(changes, viewer_.settings.subdivision.threshold);
}

void Panels::change_balance() {
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    if (settings.has_budget) {
        viewer_.notify(
            "a budget cannot count the tiles that balancing adds; B switches the budget off", true);
        return;
    }
    go_on(app::BALANCES, settings.balance);
}

void Panels::change_budget() {
    SubdivisionSettings& settings = viewer_.settings.subdivision;
    if (settings.balance != Balance::none) {
        viewer_.notify("a budget cannot count the tiles that balancing adds; U changes the balance",
                       true);
        return;
    }
    settings.has_budget = !settings.has_budget;
}

void Panels::leave_step_by_step() {
    if (form_.close_list()) {
        return;
    }
    if (shows_help_) {
        shows_help_ = false;
    } else {
        viewer_.pin(std::nullopt);
    }
}

void Panels::ask_for_files() {
    take_chosen_ = [this](const PathPrompt::Paths& files) { viewer_.open(files); };
    prompt_.open_files("Open maps", {".exr", ".pfm", ".png"});
}

void Panels::ask_for_glsl() {
    take_chosen_ = [this](const PathPrompt::Paths& files) {
        viewer_.settings.subdivision.threshold.glsl_file = files.front().string();
        viewer_.reload_threshold();
    };
    prompt_.open_files("Open a threshold in GLSL", {});
}

void Panels::save_list() {
    ask_where_to_save("Save the tile list (.json or .csv)", "%.tiles.json",
                      [this](const auto& path) { viewer_.export_list(path); });
}

void Panels::save_picture() {
    ask_where_to_save("Save the picture as it is seen", "%.png",
                      [this](const auto& path) { viewer_.export_picture(path, false); });
}

void Panels::save_whole_map() {
    ask_where_to_save("Save a picture of the whole map", "%.map.png",
                      [this](const auto& path) { viewer_.export_picture(path, true); });
}

void Panels::save_settings() {
    ask_where_to_save("Save the settings", "viewer.json",
                      [this](const auto& path) { viewer_.export_settings(path); });
}

// Asks for a file to write. "%" at the start of the suggestion stands for the map's name.
void Panels::ask_where_to_save(const char* title, std::string suggestion,
                               std::function<void(const std::filesystem::path&)> save) {
    const MapFrame* const frame = viewer_.frame();
    if (frame == nullptr) {
        viewer_.notify("there is no map yet", true);
        return;
    }
    if (suggestion.starts_with('%')) {
        suggestion.replace(0, 1, frame->path.empty() ? "demo" : frame->path.stem().string());
    }
    take_chosen_ = [save = std::move(save)](const PathPrompt::Paths& files) {
        save(files.front());
    };
    prompt_.save_file(title, suggestion);
}

}  // namespace quadtile::viewer
