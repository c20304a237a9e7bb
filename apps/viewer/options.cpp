#include "options.hpp"

#include "file_arguments.hpp"
#include "number_arguments.hpp"
#include "parse_arguments.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace quadtile::viewer {

namespace fs = std::filesystem;
using app::one_of;
using app::OptionGroup;
using app::parse_float;
using app::parse_whole;

namespace {

// Of the screenshot, pixels a side.
constexpr std::uint32_t MAX_SIZE = 16384;
// Pixels per texel.
constexpr float MIN_ZOOM = 0.0001F;
constexpr float MAX_ZOOM = 10000.0F;
constexpr const char* DEFAULT_FRAGMENTS_CHANNEL = "count";

// What was given, as text: here all numbers are read as strictly.
class Arguments {
 public:
    explicit Arguments(const CLI::App& app) : app_(app) {}

    [[nodiscard]] bool has(const std::string& option) const { return app_.count(option) > 0; }
    // Empty: not given.
    [[nodiscard]] std::string text(const std::string& option) const {
        return has(option) ? app_.get_option(option)->as<std::string>() : "";
    }

    [[nodiscard]] std::string only_one_of(std::initializer_list<const char*> options) const {
        return app::only_one_of(app_, options);
    }

    // What is not given leaves the value as it is.
    void take(const std::string& option, float& value, float low, float high) const {
        if (has(option)) {
            value = parse_float(option, text(option), low, high);
        }
    }
    template <typename Whole>
    void take_whole(const std::string& option, Whole& value, std::uint64_t low,
                    std::uint64_t high) const {
        if (has(option)) {
            value = static_cast<Whole>(parse_whole(option, text(option), low, high));
        }
    }
    // An enumerator by its place among `names`.
    template <typename Enum>
    void take_choice(const std::string& option, Enum& value,
                     const std::vector<std::string>& names) const {
        if (has(option)) {
            value = static_cast<Enum>(std::ranges::find(names, text(option)) - names.begin());
        }
    }

 private:
    const CLI::App& app_;
};

void define_map(CLI::App& app, std::vector<std::string>& files) {
    app.add_option("FILE", files,
                   "Importance maps: OpenEXR, PFM, or PNG of 8 or 16 bits;\n"
                   "without any the demo's map is shown")
        ->type_name("");
    OptionGroup(app, "Map")
        .add("--channel", "NAME",
             "Channel of FILE; default: Y, else the luminance of R,\n"
             "G and B, else the first");
}

void define_threshold(CLI::App& app) {
    OptionGroup group(app, "Threshold (at most one)");
    group.add("--max-resolution", "M",
              "A tile of 2^l texels a side needs less than M pixels a\n"
              "side: its importance is below M / 2^l");
    group.add("--constant", "T", "The importance of every tile is below T");
    group.add("--level-thresholds", "t0,t1,...",
              "The importance of a tile of level l is below tl; texels\n"
              "(level 0) first, the last one stands for the rest");
    group.add("--memory", "M,NODES",
              "As --max-resolution M, and a tile's image needs less than\n"
              "NODES nodes of per-pixel linked lists");
    group.add("--fragments-channel", "NAME",
              std::string("For --memory: channel of FILE with the number of fragments\n"
                          "in a pixel of each texel; default: ") +
                  DEFAULT_FRAGMENTS_CHANNEL);
    group.add("--glsl", "FILE",
              "A tile's importance is below what GLSL in FILE says,\n"
              "as 'quadtile tiles --glsl' (not by the strategy fused)");
    group.add("--glsl-parameters", "p0,p1,...",
              "For --glsl: what threshold_parameter(0), ... are there");
    group.add("--find-tiles", "N", "The smallest threshold that leaves no more than N tiles");
}

void define_subdivision(CLI::App& app) {
    OptionGroup group(app, "Subdivision");
    group.add("--strategy", "NAME", "auto, fused, subtree or per-level", one_of(strategy_names()));
    group.add("--subtree-levels", "N", "Levels that one dispatch of subtree descends, 1 to 8");
    group.add("--order", "NAME",
              "any (faster), or canonical: by Morton code, always the\n"
              "same (strategies auto and fused)",
              one_of(order_names()));
    group.add("--max-tiles", "K",
              "At most K tiles: scales the thresholds by the smallest\n"
              "factor that leaves no more (strategies auto and fused)");
    group.add("--device", "N|NAME",
              "Number of the Vulkan device or part of its name; see\n"
              "'quadtile devices'");
}

void define_drawing(CLI::App& app) {
    OptionGroup group(app, "Drawing");
    group.add("--fill", "NAME",
              "What gives a tile its colour: none, level, ratio\n"
              "(importance / threshold), or order (place in the list)",
              one_of(fill_names()));
    group.add("--fill-opacity", "A", "Of that colour, 0 to 1");
    group.add_flag("--no-outlines", "Leave out the tiles' outlines");
    group.add("--outline-width", "W", "Of the outlines, in pixels of an ordinary display");
    group.add_flag("--no-clamped-marks", "Leave out the marks of texels above their threshold");
    group.add("--colour-map", "NAME", "inferno, viridis, magma, plasma, cividis, turbo or grey",
              one_of(colour_map_names()));
    group.add_flag("--linear", "Colours on a linear scale");
    group.add_flag("--logarithmic", "Colours on a logarithmic scale");
    group.add("--range", "LOW,HIGH",
              "Importance with the first and the last colour; default:\n"
              "after the map's values");
    group.add("--level", "N", "Shows level N of the pyramid of maxima; 0: the map");
}

void define_view(CLI::App& app) {
    OptionGroup group(app, "View");
    group.add("--zoom", "Z", "Pixels per texel; default: the whole map");
    group.add("--centre", "X,Y", "Texel in the middle; default: that of the map");
    group.add("--pin", "X,Y", "Pins the tile that has this texel");
    group.add_flag("--panel", "Show the panel, in screenshots, too");
    group.add("--ui-scale", "S", "Size of text and panel, 0.25 to 8; 0: as the display asks");
}

void define_screenshot(CLI::App& app) {
    OptionGroup group(app, "Without a window");
    group.add("--screenshot", "FILE.png",
              "Write what a window would show, and end; settings of the\n"
              "last run have no part in it");
    group.add("--size", "WxH", "Of the screenshot, in pixels; default: 1600x1000");
    group.add("--list", "FILE", "With --screenshot: file for the tiles, .json or .csv");
}

void define_program(CLI::App& app) {
    const std::string heading = "Program";
    OptionGroup group(app, heading);
    group.add_flag("--no-settings",
                   "Neither read nor write the settings that a run leaves to\n"
                   "the next one");
    group.add_flag("--validation", "Use Vulkan's validation layer; its messages fail the run");
    group.add_flag("--log", "Print a line to standard error for all that happens");
    app.set_help_flag("-h,--help", "Print this help")->group(heading);
    app.set_version_flag("--version", "quadtile-viewer " QUADTILE_VERSION_STRING,
                         "Print the version")
        ->group(heading);
}

void define(CLI::App& app, std::vector<std::string>& files) {
    app.set_help_flag();  // it comes last
    define_map(app, files);
    define_threshold(app);
    define_subdivision(app);
    define_drawing(app);
    define_view(app);
    define_screenshot(app);
    define_program(app);
    app.footer(
        "What is not given stays as the last run left it.\n"
        "Examples: quadtile-viewer map.exr --max-resolution 256\n"
        "          quadtile-viewer map.exr --find-tiles 500 --fill level --screenshot tiles.png\n"
        "Exit status: 0, 1 (failed; standard error says why) or 2 (wrong arguments)");
}

// An argument as a message names it.
std::string quoted(const std::string& option, std::string_view text) {
    return option + " '" + std::string(text) + "'";
}

// Infinity is none: JSON, which keeps settings, has no notation for it.
float parse_threshold(const std::string& option, std::string_view text) {
    return parse_float(option, text, 0.0F);
}

std::array<std::string, 2> split_in_two(const std::string& option, std::string_view text,
                                        char separator, const std::string& form) {
    const std::size_t middle = text.find(separator);
    if (middle == std::string_view::npos || middle != text.rfind(separator)) {
        throw UsageError(quoted(option, text) + " must be two numbers, " + form);
    }
    return {std::string(text.substr(0, middle)), std::string(text.substr(middle + 1))};
}

// None where the option is not given.
std::optional<TexelPosition> parse_position(const Arguments& arguments, const std::string& option) {
    if (!arguments.has(option)) {
        return {};
    }
    const std::string text = arguments.text(option);
    const auto [x, y] = split_in_two(option, text, ',', "X,Y");
    const auto parse = [&](std::string_view part) {
        return static_cast<std::uint32_t>(parse_whole(option, part, 0, MAX_MAP_EXTENT - 1));
    };
    return TexelPosition{parse(x), parse(y)};
}

void apply_memory(const Arguments& arguments, ThresholdSettings& settings) {
    const std::string option = "--memory";
    const auto [max_resolution, nodes] =
        split_in_two(option, arguments.text(option), ',', "M,NODES");
    settings.kind = ThresholdKind::memory;
    settings.max_resolution = parse_threshold(option, max_resolution);
    settings.nodes = parse_threshold(option, nodes);
    const bool has_channel = arguments.has("--fragments-channel");
    if (has_channel && arguments.text("--fragments-channel").empty()) {
        throw UsageError("--fragments-channel needs the name of a channel");
    }
    settings.fragments_channel =
        has_channel ? arguments.text("--fragments-channel") : DEFAULT_FRAGMENTS_CHANNEL;
}

// Its file by its whole path: the next run may be in another folder.
void apply_glsl(const Arguments& arguments, ThresholdSettings& settings) {
    if (arguments.text("--glsl").empty()) {
        throw UsageError("--glsl needs a file");
    }
    settings.kind = ThresholdKind::glsl;
    settings.glsl_file = std::filesystem::absolute(arguments.text("--glsl")).string();
    settings.glsl_parameters.clear();
    const std::string parameters = arguments.text("--glsl-parameters");
    if (!parameters.empty()) {
        settings.glsl_parameters = app::parse_floats("--glsl-parameters", parameters);
    }
    if (settings.glsl_parameters.size() > Threshold::max_function_parameters) {
        throw UsageError(
            "--glsl-parameters has " + std::to_string(settings.glsl_parameters.size()) +
            " numbers; give at most " + std::to_string(Threshold::max_function_parameters));
    }
}

// `given`: the option for the threshold; empty: none.
void apply_threshold(const Arguments& arguments, const std::string& given,
                     ThresholdSettings& settings) {
    if (arguments.has("--fragments-channel") && given != "--memory") {
        throw UsageError("--fragments-channel is for the threshold of --memory; give that, too");
    }
    if (arguments.has("--glsl-parameters") && given != "--glsl") {
        throw UsageError("--glsl-parameters are for the threshold of --glsl; give that, too");
    }
    if (given == "--max-resolution") {
        settings.kind = ThresholdKind::max_resolution;
        settings.max_resolution = parse_threshold(given, arguments.text(given));
    } else if (given == "--constant") {
        settings.kind = ThresholdKind::constant;
        settings.constant = parse_threshold(given, arguments.text(given));
    } else if (given == "--level-thresholds") {
        settings.kind = ThresholdKind::per_level;
        settings.levels = app::parse_floats(given, arguments.text(given), 0.0F);
        if (settings.levels.size() > MAX_LEVELS) {
            throw UsageError(given + " has " + std::to_string(settings.levels.size()) +
                             " numbers; give at most " + std::to_string(MAX_LEVELS));
        }
    } else if (given == "--memory") {
        apply_memory(arguments, settings);
    } else if (given == "--glsl") {
        apply_glsl(arguments, settings);
    }
}

bool only_fused_serves(const SubdivisionSettings& settings) {
    return settings.order == Order::canonical || settings.has_budget;
}

bool may_be_fused(Strategy strategy) {
    return strategy == Strategy::automatic || strategy == Strategy::fused;
}

// Budgets and the canonical order are made by fused alone. Where the arguments contradict each
// other they are wrong; where they contradict the last run, what is left of that gives way.
void settle_strategy(const Arguments& arguments, SubdivisionSettings& settings) {
    if (may_be_fused(settings.strategy) || !only_fused_serves(settings)) {
        return;
    }
    if (!arguments.has("--strategy")) {
        if (arguments.has("--order") || arguments.has("--max-tiles")) {
            settings.strategy = Strategy::automatic;
        }
        return;
    }
    const std::string problem =
        " needs the strategy auto or fused, not " + arguments.text("--strategy");
    if (settings.order == Order::canonical && arguments.has("--order")) {
        throw UsageError("--order canonical" + problem);
    }
    if (settings.has_budget && arguments.has("--max-tiles")) {
        throw UsageError("--max-tiles" + problem);
    }
    settings.order = Order::any;
    settings.has_budget = false;
}

void apply_subdivision(const Arguments& arguments, SubdivisionSettings& settings) {
    if (arguments.has("--strategy")) {
        std::size_t place = 0;
        arguments.take_choice("--strategy", place, strategy_names());
        settings.strategy = strategies().at(place);
    }
    arguments.take_whole("--subtree-levels", settings.subtree_levels, 1, MAX_SUBTREE_LEVELS);
    arguments.take_choice("--order", settings.order, order_names());
    arguments.take_whole("--max-tiles", settings.max_tiles, 1, MAX_TILES_LIMIT);
    settings.has_budget |= arguments.has("--max-tiles");
    settle_strategy(arguments, settings);
}

void apply_range(const Arguments& arguments, DrawingSettings& settings) {
    const bool logarithmic = arguments.has("--logarithmic");
    if (!arguments.only_one_of({"--linear", "--logarithmic"}).empty()) {
        settings.logarithmic = logarithmic;
    }
    const std::string option = "--range";
    if (!arguments.has(option)) {
        // The range of the last run may have been a linear one.
        settings.automatic_range |= settings.logarithmic && settings.range_low <= 0.0F;
        return;
    }
    const auto [low, high] = split_in_two(option, arguments.text(option), ',', "LOW,HIGH");
    settings.automatic_range = false;
    settings.range_low = parse_float(option, low);
    settings.range_high = parse_float(option, high);
    if (settings.range_high <= settings.range_low) {
        throw UsageError(quoted(option, arguments.text(option)) +
                         " must go up; give LOW below HIGH");
    }
    if (settings.logarithmic && settings.range_low <= 0.0F) {
        throw UsageError(quoted(option, arguments.text(option)) +
                         " has no place on a logarithmic scale; give --linear, too, or LOW above "
                         "0");
    }
}

void apply_drawing(const Arguments& arguments, DrawingSettings& settings) {
    arguments.take_choice("--fill", settings.fill, fill_names());
    arguments.take("--fill-opacity", settings.fill_opacity, 0.0F, 1.0F);
    settings.outlines &= !arguments.has("--no-outlines");
    arguments.take("--outline-width", settings.outline_width, 0.0F, MAX_OUTLINE_WIDTH);
    settings.mark_clamped &= !arguments.has("--no-clamped-marks");
    arguments.take_choice("--colour-map", settings.colour_map, colour_map_names());
    arguments.take_whole("--level", settings.level, 0, MAX_TOP_LEVEL);
    apply_range(arguments, settings);
}

void apply_settings(const Arguments& arguments, Settings& settings) {
    apply_subdivision(arguments, settings.subdivision);
    apply_drawing(arguments, settings.drawing);
    if (arguments.has("--device")) {
        settings.device = arguments.text("--device");
    }
    settings.panel |= arguments.has("--panel");
    arguments.take("--ui-scale", settings.ui_scale, 0.0F, MAX_UI_SCALE);
    if (arguments.has("--ui-scale") && settings.ui_scale > 0.0F &&
        settings.ui_scale < MIN_UI_SCALE) {
        throw UsageError(quoted("--ui-scale", arguments.text("--ui-scale")) +
                         " is too small to read; give at least " + app::text_of(MIN_UI_SCALE) +
                         ", or 0 for what the display asks");
    }
}

void apply_view(const Arguments& arguments, Options& options) {
    if (arguments.has("--zoom")) {
        arguments.take("--zoom", options.zoom.emplace(), MIN_ZOOM, MAX_ZOOM);
    }
    options.centre = parse_position(arguments, "--centre");
    options.pin = parse_position(arguments, "--pin");
    options.gives_device = arguments.has("--device");
    options.panel = arguments.has("--panel");
    options.validation = arguments.has("--validation");
    options.log = arguments.has("--log");
}

// The file that the option names; empty: it is not given.
fs::path named_file(const Arguments& arguments, const std::string& option) {
    if (arguments.has(option) && arguments.text(option).empty()) {
        throw UsageError(option + " needs a file name");
    }
    return arguments.text(option);
}

void apply_screenshot(const Arguments& arguments, Options& options) {
    for (const char* option : {"--size", "--list"}) {
        if (arguments.has(option) && !arguments.has("--screenshot")) {
            throw UsageError(std::string(option) + " is for screenshots; give --screenshot, too");
        }
    }
    options.screenshot = named_file(arguments, "--screenshot");
    if (arguments.has("--size")) {
        const std::string size = arguments.text("--size");
        const auto [width, height] = split_in_two("--size", size, 'x', "WxH");
        options.width = static_cast<std::uint32_t>(parse_whole("--size", width, 1, MAX_SIZE));
        options.height = static_cast<std::uint32_t>(parse_whole("--size", height, 1, MAX_SIZE));
    }
    options.list = named_file(arguments, "--list");
    if (!options.list.empty() && options.list.extension() != ".json" &&
        options.list.extension() != ".csv") {
        throw UsageError(quoted("--list", arguments.text("--list")) +
                         " must end in .json or .csv, which says the format");
    }
}

void apply_files(const Arguments& arguments, const std::vector<std::string>& names,
                 Options& options) {
    std::vector<app::FileArgument> files{{"--glsl", arguments.text("--glsl"), false},
                                         {"--screenshot", options.screenshot, true},
                                         {"--list", options.list, true}};
    for (const std::string& file : names) {
        if (file.empty()) {
            throw UsageError("FILE needs a file name");
        }
        options.files.emplace_back(file);
        files.push_back({"FILE", file, false});
    }
    app::check_files(files);
    options.channel = arguments.text("--channel");
}

// Whether there were settings that could be read.
bool load_last_run(ParsedOptions& parsed) {
    const fs::path path = settings_path();
    try {
        // Where it cannot be seen whether it exists, loading says why.
        std::error_code ignored;
        const bool exists = fs::status(path, ignored).type() != fs::file_type::not_found;
        parsed.options.settings = load_settings(path);
        return exists;
    } catch (const std::runtime_error& error) {
        parsed.warning = std::string("the settings of the last run do not count: ") + error.what();
        return false;
    }
}

ParsedOptions options_of(const Arguments& arguments, const std::vector<std::string>& files) {
    ParsedOptions parsed;
    Options& options = parsed.options;
    apply_view(arguments, options);
    apply_screenshot(arguments, options);
    apply_files(arguments, files, options);
    // What a screenshot shows must not depend on what someone did last. Without a home there is no
    // place for settings.
    options.keeps_settings =
        !arguments.has("--no-settings") && options.screenshot.empty() && !settings_path().empty();
    const bool has_last_run = options.keeps_settings && load_last_run(parsed);
    apply_settings(arguments, options.settings);
    const std::string threshold =
        arguments.only_one_of({"--max-resolution", "--constant", "--level-thresholds", "--memory",
                               "--glsl", "--find-tiles"});
    apply_threshold(arguments, threshold, options.settings.subdivision.threshold);
    if (threshold == "--find-tiles") {
        options.tile_count = parse_whole(threshold, arguments.text(threshold), 1, MAX_TILES_LIMIT);
    }
    options.chooses_threshold = threshold.empty() && !has_last_run && !options.files.empty();
    return parsed;
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
    CLI::App app("Shows importance maps and the tiles that quadtile subdivides them into",
                 "quadtile-viewer");
    std::vector<std::string> files;
    define(app, files);
    return app::parse_arguments(app, argc, argv, [&] { return options_of(Arguments(app), files); });
}

}  // namespace quadtile::viewer
