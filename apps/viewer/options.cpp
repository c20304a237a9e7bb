#include "options.hpp"

#include "parse_arguments.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

#include <array>

namespace quadtile::viewer {

namespace fs = std::filesystem;
using app::OptionGroup;
using app::satisfying;
using app::whole_between;
using app::within;

namespace {

// Largest side of the screenshot, pixels.
constexpr std::uint32_t MAX_SIZE = 16384;
// Limits of the zoom, pixels per texel.
constexpr float MIN_ZOOM = 0.0001F;
constexpr float MAX_ZOOM = 10000.0F;
constexpr const char* DEFAULT_FRAGMENTS_CHANNEL = "count";

// Refuses infinity: JSON, which stores settings, has no notation for it.
CLI::Validator threshold_value() {
    return within(0.0F, app::LARGEST_FLOAT);
}

CLI::Validator whole(std::uint64_t low, std::uint64_t high) {
    return satisfying(whole_between(low, high));
}

// Reads arguments over settings. Settings without an argument keep their values.
class CommandLine {
 public:
    CLI::App app{"Shows importance maps and the tiles that quadtile subdivides them into",
                 "quadtile-viewer"};

    explicit CommandLine(const Settings& settings);
    CommandLine(const CommandLine&) = delete;  // the options point to it
    CommandLine& operator=(const CommandLine&) = delete;

    [[nodiscard]] bool has(const std::string& option) const { return app.count(option) > 0; }
    // Returns the options. Call it after parsing.
    [[nodiscard]] Options finish();

 private:
    void define_map();
    void define_threshold();
    void define_subdivision();
    void define_drawing();
    void define_view();
    void define_screenshot();
    void define_program();

    void finish_threshold(const std::string& given);
    void check_subdivision();
    void finish_range();
    void check_files();

    Options options_;
    SubdivisionSettings& subdivision_ = options_.settings.subdivision;
    DrawingSettings& drawing_ = options_.settings.drawing;
    // Arguments that are not exactly one setting.
    std::array<float, 2> memory_{};
    std::array<float, 2> range_{};
    std::array<std::uint32_t, 2> centre_{};
    std::array<std::uint32_t, 2> pin_{};
    std::string glsl_;
    std::string size_;
};

CommandLine::CommandLine(const Settings& settings) {
    options_.settings = settings;
    app.set_help_flag();  // define it last, so that help lists it last
    define_map();
    define_threshold();
    define_subdivision();
    define_drawing();
    define_view();
    define_screenshot();
    define_program();
    app.footer(
        "The next run keeps colours, outlines, fill, panel and window.\n"
        "Examples: quadtile-viewer map.exr --max-resolution 256\n"
        "          quadtile-viewer map.exr --find-tiles 500 --fill level --screenshot tiles.png\n"
        "Exit status: 0, 1 (failed; standard error says why) or 2 (wrong arguments)");
}

void CommandLine::define_map() {
    app.add_option("FILE", options_.files,
                   "Importance maps: OpenEXR, PFM, or PNG of 8 or 16 bits; default: the demo's map")
        ->type_name("");
    OptionGroup(app, "Map")
        .add(
            "--channel", options_.channel, "NAME",
            "Channel, layer or PART/CHANNEL of FILE; default: Y, else the luminance of R, G and B, "
            "else that of the first layer with them, else Z, else the first that is no alpha");
}

void CommandLine::define_threshold() {
    OptionGroup group(app, "Threshold (at most one)");
    ThresholdSettings& threshold = subdivision_.threshold;
    group.add("--max-resolution", threshold.max_resolution, "M",
              "A tile of 2^l texels per side needs less than M pixels per side: its importance is "
              "below M / 2^l",
              threshold_value());
    group.add("--constant", threshold.constant, "T", "The importance of every tile is below T",
              threshold_value());
    group.add("--level-thresholds", threshold.levels, "t0,t1,...",
              "The importance of a tile of level l is below tl; level 0 (texels) comes first, the "
              "last value stands for all higher levels",
              threshold_value());
    group.add("--memory", memory_, "M,NODES",
              "Like --max-resolution M; also, a tile's image needs less than NODES nodes of "
              "per-pixel linked lists",
              threshold_value());
    group.add("--fragments-channel", threshold.fragments_channel, "NAME",
              std::string("For --memory: channel of FILE with the number of fragments in a pixel "
                          "of each texel; default: ") +
                  DEFAULT_FRAGMENTS_CHANNEL);
    group.add("--glsl", glsl_, "FILE",
              "The importance of a tile is below the threshold that GLSL in FILE computes, as for "
              "'quadtile tiles --glsl' (not with the strategy fused)");
    group.add("--glsl-parameters", threshold.glsl_parameters, "p0,p1,...",
              "For --glsl: values of threshold_parameter(0), threshold_parameter(1), ...",
              within(-app::LARGEST_FLOAT, app::LARGEST_FLOAT));
    group.add("--find-tiles", options_.tile_count, "N",
              "Find the smallest threshold that gives at most N tiles", whole(1, MAX_TILES_LIMIT));
}

void CommandLine::define_subdivision() {
    OptionGroup group(app, "Subdivision");
    group.add_choice("--strategy", subdivision_.strategy, STRATEGIES, "NAME",
                     "auto, fused or subtree");
    group.add("--subtree-levels", subdivision_.subtree_levels, "N",
              "Levels that one dispatch of subtree descends, 1 to 8", whole(1, MAX_SUBTREE_LEVELS));
    group.add_choice(
        "--order", subdivision_.order, ORDERS, "NAME",
        "any (faster) or canonical (by Morton code, always the same; strategies auto and fused)");
    group.add_choice("--balance", subdivision_.balance, app::BALANCES, "NAME",
                     "none, edges or corners: tiles that share an edge (or also a corner) differ "
                     "by at most one level");
    group.add("--max-tiles", subdivision_.max_tiles, "K",
              "Give at most K tiles: scale the thresholds by the smallest sufficient factor "
              "(strategies auto and fused)",
              whole(1, MAX_TILES_LIMIT));
    group.add("--device", options_.settings.device, "N|NAME",
              "Number of the Vulkan device or part of its name; see 'quadtile devices'");
}

void CommandLine::define_drawing() {
    OptionGroup group(app, "Drawing");
    group.add_choice("--fill", drawing_.fill, FILLS, "NAME",
                     "Property that colours tiles: none, level, ratio (importance / threshold), or "
                     "order (place in the list)");
    group.add("--fill-opacity", drawing_.fill_opacity, "A", "Opacity of the fill, 0 to 1",
              within(0.0F, 1.0F));
    group.add_flag("--no-outlines", "Leave out the tiles' outlines");
    group.add("--outline-width", drawing_.outline_width, "W",
              "Width of the outlines, in pixels of an ordinary display",
              within(0.0F, MAX_OUTLINE_WIDTH));
    group.add_flag("--no-clamped-marks", "Leave out the marks of texels above their threshold");
    group.add_choice("--colour-map", drawing_.colour_map, COLOUR_MAPS, "NAME",
                     "inferno, viridis, magma, plasma, cividis, turbo or grey");
    group.add_flag("--linear", "Use a linear scale of colours");
    group.add_flag("--logarithmic", "Use a logarithmic scale of colours");
    group.add("--range", range_, "LOW,HIGH",
              "Importance of the first and the last colour; default: by the map's values",
              within(-app::LARGEST_FLOAT, app::LARGEST_FLOAT));
    group.add("--level", drawing_.level, "N", "Show level N of the pyramid of maxima; 0: the map",
              whole(0, MAX_TOP_LEVEL));
}

void CommandLine::define_view() {
    OptionGroup group(app, "View");
    const CLI::Validator texel = whole(0, MAX_MAP_EXTENT - 1);
    group.add("--zoom", options_.zoom, "Z", "Pixels per texel; default: the whole map",
              within(MIN_ZOOM, MAX_ZOOM));
    group.add("--centre", centre_, "X,Y",
              "Texel in the middle of the view; default: the map's middle", texel);
    group.add("--pin", pin_, "X,Y", "Pin the tile that contains this texel", texel);
    group.add_flag("--panel", options_.panel, "Show the panel, also in screenshots");
    group.add("--ui-scale", options_.settings.ui_scale, "S",
              "Size of text and panel, 0.25 to 8; 0: the display's", within(0.0F, MAX_UI_SCALE));
}

void CommandLine::define_screenshot() {
    OptionGroup group(app, "Without a window");
    group.add("--screenshot", options_.screenshot, "FILE.png",
              "Write the window's picture and exit, without settings of the last run");
    group.add("--size", size_, "WxH", "Size of the screenshot in pixels; default: 1600x1000");
    group.add("--list", options_.list, "FILE",
              "With --screenshot: file for the tiles, .json or .csv");
}

void CommandLine::define_program() {
    const std::string heading = "Program";
    OptionGroup group(app, heading);
    group.add_flag("--no-settings",
                   "Neither read nor write the settings that a run keeps for the next one");
    group.add_flag("--validation", options_.validation,
                   "Use Vulkan's validation layer; its messages fail the run");
    group.add_flag("--log", options_.log, "Print a line to standard error for each action");
    group.add_flag(
        "--log-places", options_.log_places,
        "Also print the place of each control in the window, for scripts that click on them");
    app.set_help_flag("-h,--help", "Print this help")->group(heading);
    app.set_version_flag("--version", "quadtile-viewer " QUADTILE_VERSION_STRING,
                         "Print the version")
        ->group(heading);
}

void check_count(const std::string& option, const std::vector<float>& numbers, std::size_t most) {
    if (numbers.size() > most) {
        throw UsageError(option + " has " + std::to_string(numbers.size()) +
                         " numbers; give at most " + std::to_string(most));
    }
}

// Sets the threshold. `given`: the option for it; empty: none.
void CommandLine::finish_threshold(const std::string& given) {
    ThresholdSettings& threshold = subdivision_.threshold;
    if (has("--fragments-channel") && given != "--memory") {
        throw UsageError("--fragments-channel needs the threshold --memory; give both");
    }
    if (has("--glsl-parameters") && given != "--glsl") {
        throw UsageError("--glsl-parameters needs the threshold --glsl; give both");
    }
    if (given == "--max-resolution") {
        threshold.kind = ThresholdKind::max_resolution;
    } else if (given == "--constant") {
        threshold.kind = ThresholdKind::constant;
    } else if (given == "--level-thresholds") {
        threshold.kind = ThresholdKind::per_level;
        check_count(given, threshold.levels, MAX_LEVELS);
    } else if (given == "--memory") {
        threshold.kind = ThresholdKind::memory;
        threshold.max_resolution = memory_[0];
        threshold.nodes = memory_[1];
        if (!has("--fragments-channel")) {
            threshold.fragments_channel = DEFAULT_FRAGMENTS_CHANNEL;
        } else if (threshold.fragments_channel.empty()) {
            throw UsageError("--fragments-channel needs the name of a channel");
        }
    } else if (given == "--glsl") {
        if (glsl_.empty()) {
            throw UsageError("--glsl needs a file");
        }
        threshold.kind = ThresholdKind::glsl;
        // Stores the absolute path: the next run may be in another folder.
        threshold.glsl_file = fs::absolute(glsl_).string();
        if (!has("--glsl-parameters")) {
            threshold.glsl_parameters.clear();
        }
        check_count("--glsl-parameters", threshold.glsl_parameters,
                    Threshold::max_function_parameters);
    }
}

void CommandLine::check_subdivision() {
    if (has("--balance") && subdivision_.balance != Balance::none && has("--max-tiles")) {
        throw UsageError(
            "--max-tiles cannot count the tiles that --balance adds; give one of them");
    }
    if (subdivision_.strategy == Strategy::subtree) {
        const std::string problem = " needs the strategy auto or fused, not subtree";
        if (subdivision_.order == Order::canonical) {
            throw UsageError("--order canonical" + problem);
        }
        if (has("--max-tiles")) {
            throw UsageError("--max-tiles" + problem);
        }
    }
}

void CommandLine::finish_range() {
    const std::string scale = app::only_one_of(app, {"--linear", "--logarithmic"});
    if (!scale.empty()) {
        drawing_.logarithmic = scale == "--logarithmic";
    }
    if (!has("--range")) {
        return;
    }
    drawing_.automatic_range = false;
    drawing_.range_low = range_[0];
    drawing_.range_high = range_[1];
    const std::string given =
        "--range '" + app::text_of(range_[0]) + "," + app::text_of(range_[1]) + "'";
    if (drawing_.range_high <= drawing_.range_low) {
        throw UsageError(given + " needs LOW below HIGH");
    }
    if (drawing_.logarithmic && drawing_.range_low <= 0.0F) {
        throw UsageError(given +
                         " does not fit a logarithmic scale; give --linear, too, or LOW above 0");
    }
}

void CommandLine::check_files() {
    for (const char* const option : {"--size", "--list"}) {
        if (has(option) && !has("--screenshot")) {
            throw UsageError(std::string(option) + " needs --screenshot; give both");
        }
    }
    std::vector<app::FileArgument> files{{"--screenshot", options_.screenshot, true},
                                         {"--list", options_.list, true}};
    for (const app::FileArgument& file : files) {
        if (has(file.name) && file.path.empty()) {
            throw UsageError(file.name + " needs a file name");
        }
    }
    for (const fs::path& file : options_.files) {
        if (file.empty()) {
            throw UsageError("FILE needs a file name");
        }
        files.push_back({"FILE", file, false});
    }
    files.push_back({"--glsl", glsl_, false});
    if (!options_.list.empty() && options_.list.extension() != ".json" &&
        options_.list.extension() != ".csv") {
        throw UsageError("--list '" + options_.list.string() +
                         "' must end in .json or .csv, which gives the format");
    }
    app::check_files(files);
    app::check_ending("--screenshot", options_.screenshot, {"png"});
}

Options CommandLine::finish() {
    check_files();
    if (!size_.empty()) {
        const app::Size size = app::parse_size("--size", size_, MAX_SIZE, false);
        options_.width = size.width;
        options_.height = size.height;
    }
    if (has("--centre")) {
        options_.centre = {centre_[0], centre_[1]};
    }
    if (has("--pin")) {
        options_.pin = {pin_[0], pin_[1]};
    }
    subdivision_.has_budget = has("--max-tiles");
    check_subdivision();
    drawing_.outlines &= !has("--no-outlines");
    drawing_.mark_clamped &= !has("--no-clamped-marks");
    finish_range();
    options_.settings.panel |= options_.panel;
    const float scale = options_.settings.ui_scale;
    if (has("--ui-scale") && scale > 0.0F && scale < MIN_UI_SCALE) {
        throw UsageError("--ui-scale '" + app::text_of(scale) +
                         "' is too small to read; give at least " + app::text_of(MIN_UI_SCALE) +
                         ", or 0 for the display's scale");
    }
    const std::string threshold =
        app::only_one_of(app, {"--max-resolution", "--constant", "--level-thresholds", "--memory",
                               "--glsl", "--find-tiles"});
    finish_threshold(threshold);
    options_.chooses_threshold = threshold.empty() && !options_.files.empty();
    return options_;
}

Settings look_of_last_run(std::string& warning) {
    try {
        return appearance(load_settings(settings_path()));
    } catch (const std::runtime_error& error) {
        warning = std::string("the settings of the last run are ignored: ") + error.what();
        return {};
    }
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
    CommandLine line(Settings{});
    return app::parse_arguments(line.app, argc, argv, [&] {
        // Screenshots must not depend on the last run. Without a home there is no place for
        // settings.
        const bool keeps_settings =
            !line.has("--no-settings") && !line.has("--screenshot") && !settings_path().empty();
        ParsedOptions parsed;
        CommandLine over_last_run(keeps_settings ? look_of_last_run(parsed.warning) : Settings{});
        over_last_run.app.parse(argc, argv);
        parsed.options = over_last_run.finish();
        parsed.options.keeps_settings = keeps_settings;
        return parsed;
    });
}

}  // namespace quadtile::viewer
