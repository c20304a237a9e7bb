#include "arguments.hpp"
#include "commands.hpp"
#include "parse_arguments.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace quadtile::app {

namespace {

constexpr const char* GENERAL = "Options";  // heading of options without another one

constexpr std::array<Named<TileFormat>, 3> FORMATS{
    {{"json", TileFormat::json}, {"csv", TileFormat::csv}, {"bin", TileFormat::binary}}};
// Formats that levels can be stored in.
constexpr std::array<Named<TexelFormat>, 10> LEVEL_FORMATS{
    {{"r16_float", TexelFormat::r16_float},
     {"r16_unorm", TexelFormat::r16_unorm},
     {"r32_float", TexelFormat::r32_float},
     {"r8_unorm", TexelFormat::r8_unorm},
     {"rg16_float", TexelFormat::rg16_float},
     {"rg32_float", TexelFormat::rg32_float},
     {"rgba16_float", TexelFormat::rgba16_float},
     {"rgba32_float", TexelFormat::rgba32_float},
     {"rgba8_srgb", TexelFormat::rgba8_srgb},
     {"rgba8_unorm", TexelFormat::rgba8_unorm}}};

CLI::Validator threshold_value() {
    return within(0.0F, INFINITE_FLOAT);
}

void add_threshold_options(OptionGroup& group, ThresholdRequest& request) {
    group.add("--max-resolution", request.max_resolution, "M",
              "A tile of 2^l texels per side needs less than M pixels per side: its importance is "
              "below M / 2^l",
              threshold_value());
    group.add("--constant", request.constant, "T", "The importance of every tile is below T",
              threshold_value());
    group.add("--level-thresholds", request.per_level, "t0,t1,...",
              "The importance of a tile of level l is below tl; level 0 (texels) comes first, the "
              "last value stands for all higher levels",
              threshold_value());
}

// Adds the options of memory. A map from a file may have its fragments in another file.
void add_memory_options(OptionGroup& group, ThresholdRequest& request) {
    CLI::Option* const memory =
        group.add("--memory", request.memory, "M,NODES",
                  "Like --max-resolution M; also, a tile's image needs less than NODES nodes of "
                  "per-pixel linked lists: its importance is below min(M, sqrt(NODES / mean)) / "
                  "2^l, with the mean of --fragments over the tile",
                  threshold_value());
    group
        .add("--fragments", request.fragments, "FILE",
             "For --memory: file with the number of fragments in a pixel of each texel, in a "
             "format and of the size of INPUT: the channel count, or the only one; a PNG's "
             "integers are the numbers")
        ->needs(memory);
    memory->needs("--fragments");
}

void add_function_options(OptionGroup& group, ThresholdRequest& request) {
    CLI::Option* const glsl =
        group.add("--glsl", request.glsl, "FILE",
                  "The importance of a tile is below the threshold that FILE computes: GLSL that "
                  "defines float threshold(uint level, uvec2 position, uint layer); "
                  "strategies auto and subtree");
    group
        .add("--glsl-parameters", request.glsl_parameters, "p0,p1,...",
             "For --glsl: values of threshold_parameter(0), threshold_parameter(1), ...",
             within(-INFINITE_FLOAT, INFINITE_FLOAT))
        ->needs(glsl);
}

void add_device_option(OptionGroup& group, std::string& device) {
    group.add("--device", device, "N|NAME",
              "Number of the Vulkan device or part of its name; see 'quadtile devices'");
}

void add_subdivision_options(CLI::App& command, TilesRequest& request) {
    OptionGroup group(command, "Subdivision");
    group
        .add_choice("--strategy", request.strategy, STRATEGIES, "NAME",
                    "auto, fused, subtree, per-level (subtree with one level per dispatch), or "
                    "reference (on the CPU, without Vulkan)")
        ->default_str("auto");
    group
        .add("--subtree-levels", request.subtree_levels, "N",
             "Levels that one dispatch of subtree descends, 1 to 8",
             within(std::uint32_t{1}, MAX_SUBTREE_LEVELS))
        ->capture_default_str();
    group
        .add_choice("--order", request.options.order, ORDERS, "NAME",
                    "canonical (by Morton code, always the same) or any (faster)")
        ->default_str("canonical");
    group.add("--max-tiles", request.options.max_tiles, "K",
              "Give at most K tiles: scale the thresholds by the smallest sufficient factor "
              "(strategies auto, fused and reference)",
              within(std::uint64_t{1}, std::uint64_t{std::numeric_limits<std::uint32_t>::max()}));
    group
        .add_choice("--balance", request.options.balance, BALANCES, "NAME",
                    "none, edges or corners: split more tiles until those that share an edge (or "
                    "also a corner) differ by at most one level")
        ->default_str("none");
    add_device_option(group, request.device);
    OptionGroup(command, GENERAL)
        .add_flag("--stats", request.stats,
                  "Print tile counts and the time of each stage to standard error");
    group.add("--trace", request.trace, "FILE",
              "File for the stages and their times in Chrome's trace-event format, for "
              "chrome://tracing or Perfetto");
}

void add_format_option(OptionGroup& group, std::optional<TileFormat>& format) {
    group.add_choice("--format", format, FORMATS, "NAME",
                     "json, csv or bin; default: by the ending of FILE, or else json");
}

void define_tiles(CLI::App& command, TilesRequest& request) {
    OptionGroup group(command, GENERAL);
    group
        .add("INPUT", request.input, "FILE", "Importance map: OpenEXR, PFM, or PNG of 8 or 16 bits")
        ->required();
    group.add("-o,--output", request.output, "FILE",
              "File for the tiles; default: standard output");
    add_format_option(group, request.format);
    group.add("--image", request.image, "FILE",
              "PNG file for a picture of the map with the tiles' outlines");
    group.add(
        "--channel", request.channel, "NAME",
        "Channel, layer or PART/CHANNEL of INPUT; default: Y, else the luminance of R, G and B, "
        "else that of the first layer with them, else Z, else the first that is no alpha");
    OptionGroup threshold(command, "Threshold (exactly one)");
    add_threshold_options(threshold, request.threshold);
    add_memory_options(threshold, request.threshold);
    add_function_options(threshold, request.threshold);
    add_subdivision_options(command, request);
}

void define_mipmap(CLI::App& command, MipmapRequest& request) {
    OptionGroup group(command, GENERAL);
    group.add("IMAGE", request.input, "FILE", "OpenEXR, PFM, or PNG of 8 or 16 bits")->required();
    group
        .add("OUTDIR", request.directory, "DIRECTORY",
             "Directory for the levels, OUTDIR/METHOD/level_00.png and so on: PNG, or OpenEXR for "
             "floats")
        ->required();
    group
        .add_choice("--method", request.method, LEVEL_METHODS, "NAME",
                    "auto, spd, subgroup, per-level, blit, reference (on the CPU, without Vulkan), "
                    "or all of them")
        ->default_str("auto");
    CLI::Option* const reduction =
        group
            .add_choice("--reduce", request.reduction, REDUCTIONS, "NAME",
                        "Reduction of four texels: mean, max, min, sum, or min-max (one channel "
                        "becomes two)")
            ->default_str("mean");
    group
        .add("--glsl", request.glsl, "FILE",
             "Instead of --reduce: GLSL that defines TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, "
             "TEXEL d) of the texels a b above c d; TEXEL is float, vec2 or vec4 by the number of "
             "channels")
        ->excludes(reduction);
    group
        .add_choice("--edges", request.edge_rule, EDGE_RULES, "NAME",
                    "Rule for odd sizes: fold (rounded down, the last texel also covers the rest), "
                    "drop (the rest is dropped), or round-up")
        ->default_str("fold");
    group.add("--levels", request.levels, "N",
              "Number of levels, including the image itself; default: all, down to 1 x 1",
              within(std::uint32_t{1}, std::uint32_t{32}));
    group.add_choice("--format", request.format, LEVEL_FORMATS, "NAME",
                     "Format of the levels, for example r16_float or rgba8_unorm; default: the "
                     "image's; for sums 32-bit floats, for min-max two channels of floats");
    group.add("--channel", request.channel, "NAME", "Only this channel of IMAGE; default: all");
    group.add_flag("--linear", request.linear,
                   "Take the values of an 8-bit PNG as they are, not as sRGB colours");
    add_device_option(group, request.device);
}

void check_function(const CLI::App& command, const TilesRequest& request) {
    const std::size_t parameters = request.threshold.glsl_parameters.size();
    if (parameters > Threshold::max_function_parameters) {
        throw UsageError("--glsl-parameters has " + std::to_string(parameters) +
                         " numbers; give at most " +
                         std::to_string(Threshold::max_function_parameters));
    }
    if (request.strategy == Strategy::fused || request.strategy == Strategy::reference) {
        throw UsageError("--glsl needs the strategy auto or subtree, not " +
                         std::string(name_in(STRATEGIES, request.strategy)));
    }
    if (command.count("--max-tiles") > 0) {
        throw UsageError(
            "--max-tiles needs thresholds that the host knows, and those of --glsl are on the GPU; "
            "give one of them");
    }
}

void check_thresholds(const CLI::App& command, const TilesRequest& request) {
    if (request.options.balance != Balance::none && request.options.max_tiles) {
        throw UsageError(
            "--max-tiles cannot count the tiles that --balance adds; give one of them, or raise "
            "the threshold until the balanced tiles are few enough");
    }
    const std::string given = only_one_of(
        command, {"--constant", "--level-thresholds", "--max-resolution", "--memory", "--glsl"});
    if (given.empty()) {
        throw UsageError(
            "no threshold is given; give one of --max-resolution, --constant, "
            "--level-thresholds, --memory and --glsl");
    }
    if (given == "--glsl") {
        check_function(command, request);
    }
}

TileFormat format_by_ending(const std::filesystem::path& output) {
    const auto* const format = std::ranges::find_if(FORMATS, [&](const Named<TileFormat>& known) {
        return output.extension() == "." + std::string(known.name);
    });
    return format == FORMATS.end() ? TileFormat::json : format->value;
}

// Checks the endings of the list's name, the default of its format, and of the picture's.
void check_endings(const std::filesystem::path& output, const std::optional<TileFormat>& format,
                   const std::filesystem::path& image) {
    std::error_code ignored;  // opening a name that no file can have refuses it
    if (!format && !std::filesystem::is_character_file(output, ignored)) {
        check_ending("--output", output, {"json", "csv", "bin"});
    }
    check_ending("--image", image, {"png"});
}

TilesRequest finish_tiles(const CLI::App& command, TilesRequest request) {
    if (command["--strategy"]->as<std::string>() == PER_LEVEL) {
        if (command.count("--subtree-levels") > 0) {
            throw UsageError(
                "--strategy per-level has one level per dispatch; give --strategy subtree with "
                "--subtree-levels");
        }
        request.subtree_levels = 1;
    }
    check_thresholds(command, request);
    check_files(command, {{"INPUT", request.input, false},
                          {"--fragments", request.threshold.fragments, false},
                          {"--glsl", request.threshold.glsl, false},
                          {"--output", request.output, true},
                          {"standard output", request.output.empty() ? "/dev/stdout" : "", true},
                          {"--image", request.image, true},
                          {"--trace", request.trace, true}});
    check_endings(request.output, request.format, request.image);
    request.format = request.format.value_or(format_by_ending(request.output));
    return request;
}

std::function<void()> command_of(const CLI::App& app, const TilesRequest& tiles,
                                 MipmapRequest& mipmap) {
    if (app.get_subcommands().empty()) {
        throw UsageError("no command is given; give tiles, mipmap, devices or demo");
    }
    const CLI::App& command = *app.get_subcommands().front();
    if (command.get_name() == "tiles") {
        return [request = finish_tiles(command, tiles)] { run(request); };
    }
    if (command.get_name() == "mipmap") {
        check_files(command, {{"IMAGE", mipmap.input, false},
                              {"--glsl", mipmap.glsl, false},
                              {"OUTDIR", mipmap.directory, true}});
        if (!mipmap.glsl.empty()) {
            mipmap.reduction = Reduction::custom;
        }
        return [mipmap] { run(mipmap); };
    }
    if (command.get_name() == "devices") {
        return [checks = command.count("--check") > 0] { run_devices(checks); };
    }
    return run_demo;
}

}  // namespace

std::function<void()> parse_command_line(int argc, const char* const* argv) {
    CLI::App app("Adaptive tile subdivision of importance maps, and mip levels, on the GPU",
                 "quadtile");
    app.set_version_flag("--version", "quadtile " QUADTILE_VERSION_STRING);
    app.require_subcommand(0, 1);  // a missing command is reported below, after unknown arguments
    app.footer(
        "Examples: quadtile tiles map.exr --max-resolution 256 -o tiles.json --image tiles.png\n"
        "          quadtile mipmap picture.png levels --method all\n"
        "Exit status: 0, 1 (failed; standard error says why) or 2 (wrong arguments)");

    TilesRequest tiles;
    MipmapRequest mipmap;
    define_tiles(*app.add_subcommand("tiles", "Subdivide an importance map into tiles"), tiles);
    define_mipmap(*app.add_subcommand("mipmap", "Make the mip levels of an image"), mipmap);
    app.add_subcommand("devices", "List the Vulkan devices and their features for quadtile")
        ->add_flag("--check")
        ->description("Make tile lists on each device and compare them with the CPU's");
    app.add_subcommand("demo",
                       "Subdivide the map of a game level: writes tiles.json and tiles.png");

    return parse_arguments(app, argc, argv, [&] { return command_of(app, tiles, mipmap); });
}

}  // namespace quadtile::app
