#include "options.hpp"

#include "parse_arguments.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

namespace quadtile::viewer {

namespace fs = std::filesystem;

namespace {

struct Arguments {
    Options options;
    fs::path settings;
    std::optional<float> max_resolution;
    std::optional<std::uint64_t> max_tiles;
};

void define(CLI::App& app, Arguments& arguments) {
    Options& options = arguments.options;
    const auto tiles = app::within(std::uint64_t{1}, MAX_TILES_LIMIT);
    app.set_help_flag();  // define it last, so that help lists it last
    app.add_option("FILE", options.files,
                   "Importance maps: OpenEXR, PFM, or PNG of 8 or 16 bits; default: the demo's map")
        ->type_name("");
    app::OptionGroup group(app, "Options");
    group.add("--channel", options.channel, "NAME",
              "Channel, layer or PART/CHANNEL of FILE; default: Y, else colour, else Z, else the "
              "first that is no alpha");
    group.add("--settings", arguments.settings, "FILE",
              "Settings that Ctrl+E has saved, or some of them, as JSON; default: the look of the "
              "last run");
    group.add("--max-resolution", arguments.max_resolution, "M",
              "A tile of 2^l texels per side needs less than M pixels per side: its importance is "
              "below M / 2^l",
              app::within(0.0F, app::LARGEST_FLOAT));
    group.add("--find-tiles", options.tile_count, "N",
              "Find the smallest threshold that gives at most N tiles; default: 1000, if there are "
              "neither --settings nor --max-resolution",
              tiles);
    group.add("--max-tiles", arguments.max_tiles, "K",
              "Give at most K tiles: scale the thresholds by the smallest sufficient factor",
              tiles);
    group.add("--device", options.device, "N|NAME",
              "Number of the Vulkan device or part of its name; see 'quadtile devices'");
    group.add("--screenshot", options.screenshot, "FILE.png",
              "Write the window's picture and exit");
    group.add_flag("--validation", options.validation,
                   "Use Vulkan's validation layer; its messages fail the run");
    group.add_flag("--log", options.log, "Print a line to standard error for each action");
    app.set_help_flag("-h,--help", "Print this help")->group("Options");
    app.set_version_flag("--version", "quadtile-viewer " QUADTILE_VERSION_STRING,
                         "Print the version")
        ->group("Options");
    app.footer(
        "The next run keeps colours, outlines, fill, panel and window.\nExamples: quadtile-viewer "
        "map.exr --max-resolution 256\n          quadtile-viewer map.exr --find-tiles 500 "
        "--screenshot tiles.png\nExit status: 0, 1 (failed; standard error says why) or 2 (wrong "
        "arguments)");
}

void check(const CLI::App& app, const Arguments& arguments) {
    (void)app::only_one_of(app, {"--max-resolution", "--find-tiles"});
    const Options& options = arguments.options;
    std::vector<app::FileArgument> files{{"--screenshot", options.screenshot, true},
                                         {"--settings", arguments.settings, false}};
    for (const fs::path& file : options.files) {
        files.push_back({"FILE", file, false});
    }
    app::check_files(app, files);
    app::check_ending("--screenshot", options.screenshot, {"png"});
}

Settings look_of_last_run(std::string& warning) {
    std::error_code error;
    if (!fs::exists(settings_path(), error)) {
        return {};
    }
    try {
        return appearance(load_settings(settings_path()));
    } catch (const std::runtime_error& problem) {
        warning = std::string("the settings of the last run are ignored: ") + problem.what();
        return {};
    }
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
    CLI::App app{"Shows importance maps and the tiles that quadtile subdivides them into",
                 "quadtile-viewer"};
    Arguments arguments;
    define(app, arguments);
    app::parse_arguments(app, argc, argv, [&] { check(app, arguments); });

    ParsedOptions parsed;
    Options& options = parsed.options = arguments.options;
    // A screenshot must not depend on the last run.
    const bool has_settings = !arguments.settings.empty();
    options.keeps_settings =
        !has_settings && options.screenshot.empty() && !settings_path().empty();
    if (has_settings) {
        options.settings = load_settings(arguments.settings);
    } else if (options.keeps_settings) {
        options.settings = look_of_last_run(parsed.warning);
    }
    SubdivisionSettings& subdivision = options.settings.subdivision;
    if (arguments.max_resolution) {
        subdivision.threshold.kind = ThresholdKind::max_resolution;
        subdivision.threshold.max_resolution = *arguments.max_resolution;
    }
    if (arguments.max_tiles) {
        subdivision.has_budget = true;
        subdivision.max_tiles = *arguments.max_tiles;
    }
    options.chooses_threshold =
        !arguments.max_resolution && !options.tile_count && !has_settings && !options.files.empty();
    return parsed;
}

}  // namespace quadtile::viewer
