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
using app::parse_float;
using app::parse_whole;

namespace {

// Of the screenshot, pixels a side.
constexpr std::uint32_t MAX_SIZE = 16384;
// Pixels per texel.
constexpr float MIN_ZOOM = 0.0001F;
constexpr float MAX_ZOOM = 10000.0F;
constexpr const char* DEFAULT_FRAGMENTS_CHANNEL = "count";

// The options as text, before they become Options: here all numbers are read as strictly.
struct Arguments {
    std::vector<std::string> files;
    std::string channel;
    std::string max_resolution;
    std::string constant;
    std::string level_thresholds;
    std::string memory;
    std::string fragments_channel;
    std::string glsl;
    std::string glsl_parameters;
    std::string find_tiles;
    std::string strategy;
    std::string subtree_levels;
    std::string order;
    std::string max_tiles;
    std::string device;
    std::string fill;
    std::string fill_opacity;
    std::string outline_width;
    std::string colour_map;
    std::string range;
    std::string level;
    std::string zoom;
    std::string centre;
    std::string pin;
    std::string ui_scale;
    std::string screenshot;
    std::string size;
    std::string list;
    bool no_outlines = false;
    bool no_clamped_marks = false;
    bool linear = false;
    bool logarithmic = false;
    bool panel = false;
    bool validation = false;
    bool log = false;
    bool no_settings = false;
};

// The lines of a long description end where those of the whole help do not become too long.
CLI::Option* add(CLI::App& app, const std::string& group, const std::string& option,
                 std::string& text, const std::string& type, const std::string& description) {
    return app.add_option(option, text, description)->type_name(type)->group(group);
}

CLI::Option* add_choice(CLI::App& app, const std::string& group, const std::string& option,
                        std::string& text, const std::vector<std::string>& names,
                        const std::string& description) {
    return add(app, group, option, text, "NAME", description)
        ->check(CLI::IsMember(names).description(""));
}

void add_flag(CLI::App& app, const std::string& group, const std::string& option, bool& flag,
              const std::string& description) {
    app.add_flag(option, flag, description)->group(group);
}

void define_map(CLI::App& app, Arguments& arguments) {
    app.add_option("FILE", arguments.files,
                   "Importance maps: OpenEXR, PFM, or PNG of 8 or 16 bits;\n"
                   "without any the demo's map is shown")
        ->type_name("");
    add(app, "Map", "--channel", arguments.channel, "NAME",
        "Channel of FILE; without it Y, else the luminance of R,\n"
        "G and B, else the first");
}

void define_threshold(CLI::App& app, Arguments& arguments) {
    const std::string group = "Threshold (at most one)";
    add(app, group, "--max-resolution", arguments.max_resolution, "M",
        "A tile of 2^l texels a side needs less than M pixels a\n"
        "side: its importance is below M / 2^l");
    add(app, group, "--constant", arguments.constant, "T",
        "The importance of every tile is below T");
    add(app, group, "--level-thresholds", arguments.level_thresholds, "t0,t1,...",
        "The importance of a tile of level l is below tl; texels\n"
        "(level 0) first, the last one stands for the rest");
    add(app, group, "--memory", arguments.memory, "M,NODES",
        "As --max-resolution M, and a tile's image needs less than\n"
        "NODES nodes of per-pixel linked lists");
    add(app, group, "--fragments-channel", arguments.fragments_channel, "NAME",
        std::string("For --memory: channel of FILE with the number of fragments\n"
                    "in a pixel of each texel; without it ") +
            DEFAULT_FRAGMENTS_CHANNEL);
    add(app, group, "--glsl", arguments.glsl, "FILE",
        "A tile's importance is below what GLSL in FILE says,\n"
        "as 'quadtile tiles --glsl' (not by the strategy fused)");
    add(app, group, "--glsl-parameters", arguments.glsl_parameters, "p0,p1,...",
        "For --glsl: what threshold_parameter(0), ... are there");
    add(app, group, "--find-tiles", arguments.find_tiles, "N",
        "The smallest threshold that leaves no more than N tiles");
}

void define_subdivision(CLI::App& app, Arguments& arguments) {
    const std::string group = "Subdivision";
    add_choice(app, group, "--strategy", arguments.strategy, strategy_names(),
               "auto, fused, subtree or per-level");
    add(app, group, "--subtree-levels", arguments.subtree_levels, "N",
        "Levels that one dispatch of subtree descends, 1 to 8");
    add_choice(app, group, "--order", arguments.order, order_names(),
               "any (faster), or canonical: by Morton code, always the\n"
               "same (strategies auto and fused)");
    add(app, group, "--max-tiles", arguments.max_tiles, "K",
        "At most K tiles: scales the thresholds by the smallest\n"
        "factor that leaves no more (strategies auto and fused)");
    add(app, group, "--device", arguments.device, "N|NAME",
        "Number of the Vulkan device or part of its name; see\n"
        "'quadtile devices'");
}

void define_drawing(CLI::App& app, Arguments& arguments) {
    const std::string group = "Drawing";
    add_choice(app, group, "--fill", arguments.fill, fill_names(),
               "What gives a tile its colour: none, level, ratio\n"
               "(importance / threshold), or order (place in the list)");
    add(app, group, "--fill-opacity", arguments.fill_opacity, "A", "Of that colour, 0 to 1");
    add_flag(app, group, "--no-outlines", arguments.no_outlines, "Leave out the tiles' outlines");
    add(app, group, "--outline-width", arguments.outline_width, "W",
        "Of the outlines, in pixels of an ordinary display");
    add_flag(app, group, "--no-clamped-marks", arguments.no_clamped_marks,
             "Leave out the marks of texels above their threshold");
    add_choice(app, group, "--colour-map", arguments.colour_map, colour_map_names(),
               "inferno, viridis, magma, plasma, cividis, turbo or grey");
    add_flag(app, group, "--linear", arguments.linear, "Colours on a linear scale");
    add_flag(app, group, "--logarithmic", arguments.logarithmic, "Colours on a logarithmic scale");
    add(app, group, "--range", arguments.range, "LOW,HIGH",
        "Importance with the first and the last colour; without it\n"
        "after the map's values");
    add(app, group, "--level", arguments.level, "N",
        "Shows level N of the pyramid of maxima; 0: the map");
}

void define_view(CLI::App& app, Arguments& arguments) {
    const std::string group = "View";
    add(app, group, "--zoom", arguments.zoom, "Z",
        "Pixels per texel; without it the whole map is seen");
    add(app, group, "--centre", arguments.centre, "X,Y",
        "Texel in the middle; without it that of the map");
    add(app, group, "--pin", arguments.pin, "X,Y", "Pins the tile that has this texel");
    add_flag(app, group, "--panel", arguments.panel, "Show the panel, in screenshots, too");
    add(app, group, "--ui-scale", arguments.ui_scale, "S",
        "Size of text and panel, 0.25 to 8; 0: as the display asks");
}

void define_screenshot(CLI::App& app, Arguments& arguments) {
    const std::string group = "Without a window";
    add(app, group, "--screenshot", arguments.screenshot, "FILE.png",
        "Write what a window would show, and end; settings of the\n"
        "last run have no part in it");
    add(app, group, "--size", arguments.size, "WxH",
        "Of the screenshot, in pixels; without it 1600x1000");
    add(app, group, "--list", arguments.list, "FILE",
        "With --screenshot: file for the tiles, .json or .csv");
}

void define_program(CLI::App& app, Arguments& arguments) {
    const std::string group = "Program";
    add_flag(app, group, "--no-settings", arguments.no_settings,
             "Neither read nor write the settings that a run leaves to\n"
             "the next one");
    add_flag(app, group, "--validation", arguments.validation,
             "Use Vulkan's validation layer; its messages fail the run");
    add_flag(app, group, "--log", arguments.log,
             "Print a line to standard error for all that happens");
    app.set_help_flag("-h,--help", "Print this help")->group(group);
    app.set_version_flag("--version", "quadtile-viewer " QUADTILE_VERSION_STRING,
                         "Print the version")
        ->group(group);
}

void define(CLI::App& app, Arguments& arguments) {
    app.set_help_flag();  // it comes last
    define_map(app, arguments);
    define_threshold(app, arguments);
    define_subdivision(app, arguments);
    define_drawing(app, arguments);
    define_view(app, arguments);
    define_screenshot(app, arguments);
    define_program(app, arguments);
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

std::array<std::string_view, 2> split_in_two(const std::string& option, std::string_view text,
                                             char separator, const std::string& form) {
    const std::size_t middle = text.find(separator);
    if (middle == std::string_view::npos || middle != text.rfind(separator)) {
        throw UsageError(quoted(option, text) + " must be two numbers, " + form);
    }
    return {text.substr(0, middle), text.substr(middle + 1)};
}

TexelPosition parse_position(const std::string& option, std::string_view text) {
    const auto [x, y] = split_in_two(option, text, ',', "X,Y");
    const auto parse = [&](std::string_view part) {
        return static_cast<std::uint32_t>(parse_whole(option, part, 0, MAX_MAP_EXTENT - 1));
    };
    return {parse(x), parse(y)};
}

template <typename Enum>
Enum parse_name(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

Strategy parse_strategy(const std::string& name) {
    return strategies().at(parse_name<std::size_t>(strategy_names(), name));
}

// The threshold option that was given, or empty.
std::string threshold_option(const CLI::App& app) {
    std::string given;
    for (const char* option : {"--max-resolution", "--constant", "--level-thresholds", "--memory",
                               "--glsl", "--find-tiles"}) {
        if (app.count(option) == 0) {
            continue;
        }
        if (!given.empty()) {
            throw UsageError(given + " and " + option + " exclude each other; give one of them");
        }
        given = option;
    }
    return given;
}

void apply_memory(const CLI::App& app, const Arguments& arguments, ThresholdSettings& settings) {
    const std::string option = "--memory";
    const auto [max_resolution, nodes] = split_in_two(option, arguments.memory, ',', "M,NODES");
    settings.kind = ThresholdKind::memory;
    settings.max_resolution = parse_threshold(option, max_resolution);
    settings.nodes = parse_threshold(option, nodes);
    const bool has_channel = app.count("--fragments-channel") > 0;
    if (has_channel && arguments.fragments_channel.empty()) {
        throw UsageError("--fragments-channel needs the name of a channel");
    }
    settings.fragments_channel =
        has_channel ? arguments.fragments_channel : DEFAULT_FRAGMENTS_CHANNEL;
}

// Its file by its whole path: the next run may be in another folder.
void apply_glsl(const Arguments& arguments, ThresholdSettings& settings) {
    if (arguments.glsl.empty()) {
        throw UsageError("--glsl needs a file");
    }
    settings.kind = ThresholdKind::glsl;
    settings.glsl_file = std::filesystem::absolute(arguments.glsl).string();
    settings.glsl_parameters.clear();
    if (!arguments.glsl_parameters.empty()) {
        settings.glsl_parameters =
            app::parse_floats("--glsl-parameters", arguments.glsl_parameters);
    }
    if (settings.glsl_parameters.size() > Threshold::max_function_parameters) {
        throw UsageError(
            "--glsl-parameters has " + std::to_string(settings.glsl_parameters.size()) +
            " numbers; give at most " + std::to_string(Threshold::max_function_parameters));
    }
}

// `given`: the option that threshold_option has found.
void apply_threshold(const CLI::App& app, const Arguments& arguments, const std::string& given,
                     ThresholdSettings& settings) {
    if (app.count("--fragments-channel") > 0 && given != "--memory") {
        throw UsageError("--fragments-channel is for the threshold of --memory; give that, too");
    }
    if (app.count("--glsl-parameters") > 0 && given != "--glsl") {
        throw UsageError("--glsl-parameters are for the threshold of --glsl; give that, too");
    }
    if (given == "--max-resolution") {
        settings.kind = ThresholdKind::max_resolution;
        settings.max_resolution = parse_threshold(given, arguments.max_resolution);
    } else if (given == "--constant") {
        settings.kind = ThresholdKind::constant;
        settings.constant = parse_threshold(given, arguments.constant);
    } else if (given == "--level-thresholds") {
        settings.kind = ThresholdKind::per_level;
        settings.levels = app::parse_floats(given, arguments.level_thresholds, 0.0F);
        if (settings.levels.size() > MAX_LEVELS) {
            throw UsageError(given + " has " + std::to_string(settings.levels.size()) +
                             " numbers; give at most " + std::to_string(MAX_LEVELS));
        }
    } else if (given == "--memory") {
        apply_memory(app, arguments, settings);
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
void settle_strategy(const CLI::App& app, const Arguments& arguments,
                     SubdivisionSettings& settings) {
    if (may_be_fused(settings.strategy) || !only_fused_serves(settings)) {
        return;
    }
    if (app.count("--strategy") == 0) {
        if (app.count("--order") > 0 || app.count("--max-tiles") > 0) {
            settings.strategy = Strategy::automatic;
        }
        return;
    }
    const std::string problem = " needs the strategy auto or fused, not " + arguments.strategy;
    if (settings.order == Order::canonical && app.count("--order") > 0) {
        throw UsageError("--order canonical" + problem);
    }
    if (settings.has_budget && app.count("--max-tiles") > 0) {
        throw UsageError("--max-tiles" + problem);
    }
    settings.order = Order::any;
    settings.has_budget = false;
}

void apply_subdivision(const CLI::App& app, const Arguments& arguments,
                       SubdivisionSettings& settings) {
    if (app.count("--strategy") > 0) {
        settings.strategy = parse_strategy(arguments.strategy);
    }
    if (app.count("--subtree-levels") > 0) {
        settings.subtree_levels = static_cast<std::uint32_t>(
            parse_whole("--subtree-levels", arguments.subtree_levels, 1, MAX_SUBTREE_LEVELS));
    }
    if (app.count("--order") > 0) {
        settings.order = parse_name<Order>(order_names(), arguments.order);
    }
    if (app.count("--max-tiles") > 0) {
        settings.has_budget = true;
        settings.max_tiles = parse_whole("--max-tiles", arguments.max_tiles, 1, MAX_TILES_LIMIT);
    }
    settle_strategy(app, arguments, settings);
}

void apply_range(const CLI::App& app, const Arguments& arguments, DrawingSettings& settings) {
    if (arguments.linear && arguments.logarithmic) {
        throw UsageError("--linear and --logarithmic exclude each other; give one of them");
    }
    if (arguments.linear || arguments.logarithmic) {
        settings.logarithmic = arguments.logarithmic;
    }
    const std::string option = "--range";
    if (app.count(option) == 0) {
        // The range of the last run may have been a linear one.
        settings.automatic_range |= settings.logarithmic && settings.range_low <= 0.0F;
        return;
    }
    const auto [low, high] = split_in_two(option, arguments.range, ',', "LOW,HIGH");
    settings.automatic_range = false;
    settings.range_low = parse_float(option, low);
    settings.range_high = parse_float(option, high);
    if (settings.range_high <= settings.range_low) {
        throw UsageError(quoted(option, arguments.range) + " must go up; give LOW below HIGH");
    }
    if (settings.logarithmic && settings.range_low <= 0.0F) {
        throw UsageError(quoted(option, arguments.range) +
                         " has no place on a logarithmic scale; give --linear, too, or LOW above "
                         "0");
    }
}

void apply_drawing(const CLI::App& app, const Arguments& arguments, DrawingSettings& settings) {
    if (app.count("--fill") > 0) {
        settings.fill = parse_name<Fill>(fill_names(), arguments.fill);
    }
    if (app.count("--fill-opacity") > 0) {
        settings.fill_opacity = parse_float("--fill-opacity", arguments.fill_opacity, 0.0F, 1.0F);
    }
    settings.outlines &= !arguments.no_outlines;
    if (app.count("--outline-width") > 0) {
        settings.outline_width =
            parse_float("--outline-width", arguments.outline_width, 0.0F, MAX_OUTLINE_WIDTH);
    }
    settings.mark_clamped &= !arguments.no_clamped_marks;
    if (app.count("--colour-map") > 0) {
        settings.colour_map = parse_name<ColourMap>(colour_map_names(), arguments.colour_map);
    }
    if (app.count("--level") > 0) {
        settings.level =
            static_cast<std::uint32_t>(parse_whole("--level", arguments.level, 0, MAX_TOP_LEVEL));
    }
    apply_range(app, arguments, settings);
}

void apply_settings(const CLI::App& app, const Arguments& arguments, Settings& settings) {
    apply_subdivision(app, arguments, settings.subdivision);
    apply_drawing(app, arguments, settings.drawing);
    if (app.count("--device") > 0) {
        settings.device = arguments.device;
    }
    settings.panel |= arguments.panel;
    if (app.count("--ui-scale") > 0) {
        settings.ui_scale = parse_float("--ui-scale", arguments.ui_scale, 0.0F, MAX_UI_SCALE);
        if (settings.ui_scale > 0.0F && settings.ui_scale < MIN_UI_SCALE) {
            throw UsageError(quoted("--ui-scale", arguments.ui_scale) +
                             " is too small to read; give at least " + app::text_of(MIN_UI_SCALE) +
                             ", or 0 for what the display asks");
        }
    }
}

void apply_view(const CLI::App& app, const Arguments& arguments, Options& options) {
    if (app.count("--zoom") > 0) {
        options.zoom = parse_float("--zoom", arguments.zoom, MIN_ZOOM, MAX_ZOOM);
    }
    if (app.count("--centre") > 0) {
        options.centre = parse_position("--centre", arguments.centre);
    }
    if (app.count("--pin") > 0) {
        options.pin = parse_position("--pin", arguments.pin);
    }
    options.gives_device = app.count("--device") > 0;
    options.panel = arguments.panel;
    options.validation = arguments.validation;
    options.log = arguments.log;
}

void check_named(const std::string& option, const std::string& file) {
    if (file.empty()) {
        throw UsageError(option + " needs a file name");
    }
}

void apply_screenshot(const CLI::App& app, const Arguments& arguments, Options& options) {
    const bool has_screenshot = app.count("--screenshot") > 0;
    for (const char* option : {"--size", "--list"}) {
        if (app.count(option) > 0 && !has_screenshot) {
            throw UsageError(std::string(option) + " is for screenshots; give --screenshot, too");
        }
    }
    if (has_screenshot) {
        check_named("--screenshot", arguments.screenshot);
        options.screenshot = arguments.screenshot;
    }
    if (app.count("--size") > 0) {
        const auto [width, height] = split_in_two("--size", arguments.size, 'x', "WxH");
        options.width = static_cast<std::uint32_t>(parse_whole("--size", width, 1, MAX_SIZE));
        options.height = static_cast<std::uint32_t>(parse_whole("--size", height, 1, MAX_SIZE));
    }
    if (app.count("--list") > 0) {
        check_named("--list", arguments.list);
        options.list = arguments.list;
        if (options.list.extension() != ".json" && options.list.extension() != ".csv") {
            throw UsageError(quoted("--list", arguments.list) +
                             " must end in .json or .csv, which says the format");
        }
    }
}

void apply_files(const Arguments& arguments, Options& options) {
    std::vector<app::FileArgument> files{{"--glsl", arguments.glsl, false},
                                         {"--screenshot", options.screenshot, true},
                                         {"--list", options.list, true}};
    for (const std::string& file : arguments.files) {
        check_named("FILE", file);
        options.files.emplace_back(file);
        files.push_back({"FILE", file, false});
    }
    app::check_files(files);
    options.channel = arguments.channel;
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

ParsedOptions options_of(const CLI::App& app, const Arguments& arguments) {
    ParsedOptions parsed;
    Options& options = parsed.options;
    apply_view(app, arguments, options);
    apply_screenshot(app, arguments, options);
    apply_files(arguments, options);
    // What a screenshot shows must not depend on what someone did last. Without a home there is no
    // place for settings.
    options.keeps_settings =
        !arguments.no_settings && options.screenshot.empty() && !settings_path().empty();
    const bool has_last_run = options.keeps_settings && load_last_run(parsed);
    apply_settings(app, arguments, options.settings);
    const std::string threshold = threshold_option(app);
    apply_threshold(app, arguments, threshold, options.settings.subdivision.threshold);
    if (threshold == "--find-tiles") {
        options.tile_count = parse_whole(threshold, arguments.find_tiles, 1, MAX_TILES_LIMIT);
    }
    options.chooses_threshold = threshold.empty() && !has_last_run && !options.files.empty();
    return parsed;
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
    CLI::App app("Shows importance maps and the tiles that quadtile subdivides them into",
                 "quadtile-viewer");
    Arguments arguments;
    define(app, arguments);
    return app::parse_arguments(app, argc, argv, [&] { return options_of(app, arguments); });
}

}  // namespace quadtile::viewer
