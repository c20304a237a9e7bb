#include "command_line.hpp"

#include "file_arguments.hpp"
#include "number_arguments.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

#include <limits>
#include <map>
#include <string_view>

namespace quadtile::app {

namespace {

// The options as text, before they become a request.
struct SubdivisionArguments {
    std::string constant;
    std::string level_thresholds;
    std::string max_resolution;
    std::string memory;
    std::filesystem::path fragments;
    std::filesystem::path glsl;
    std::string glsl_parameters;
    std::string strategy = "auto";
    std::string order = "canonical";
};

struct MipmapArguments {
    std::string method = "auto";
    std::string reduction = "mean";
    std::string edges = "fold";
    std::string format;
};

struct Arguments {
    TilesRequest tiles;
    SubdivisionArguments tiles_subdivision;
    std::string tiles_format;
    MipmapRequest mipmap;
    MipmapArguments mipmap_texts;
    CompileRequest compile;
    std::string compile_kind;
    std::uint32_t compile_channels = 1;
    DemoRequest demo;
    SubdivisionArguments demo_subdivision;
    std::string demo_format;
};

void add_threshold_options(CLI::App& command, SubdivisionArguments& arguments,
                           const std::string& group) {
    command
        .add_option(
            "--max-resolution", arguments.max_resolution,
            "A tile of 2^l texels a side needs less than M pixels a side: its importance is "
            "below M / 2^l")
        ->type_name("M")
        ->group(group);
    command.add_option("--constant", arguments.constant, "The importance of every tile is below T")
        ->type_name("T")
        ->group(group);
    command
        .add_option("--level-thresholds", arguments.level_thresholds,
                    "The importance of a tile of level l is below tl; one for each level, texels "
                    "(level 0) first")
        ->type_name("t0,t1,...")
        ->group(group);
}

// Where the map comes from a file, its fragments can come from another.
void add_memory_options(CLI::App& command, SubdivisionArguments& arguments,
                        const std::string& group) {
    CLI::Option* const memory =
        command
            .add_option("--memory", arguments.memory,
                        "As --max-resolution M, and a tile's image needs less than NODES nodes of "
                        "per-pixel linked lists: its importance is below "
                        "min(M, sqrt(NODES / mean)) / 2^l, of the mean of --fragments over the "
                        "tile")
            ->type_name("M,NODES")
            ->group(group);
    command
        .add_option("--fragments", arguments.fragments,
                    "For --memory: file as INPUT and of its size, of the number of fragments in a "
                    "pixel of each texel")
        ->type_name("FILE")
        ->group(group)
        ->needs(memory);
    memory->needs("--fragments");
}

void add_function_options(CLI::App& command, SubdivisionArguments& arguments,
                          const std::string& group) {
    CLI::Option* const glsl =
        command
            .add_option("--glsl", arguments.glsl,
                        "The importance of a tile is below what GLSL in FILE says, which defines "
                        "float threshold(uint level, uvec2 position, uint layer), or which "
                        "'quadtile compile' has compiled; with the strategies auto, subtree and "
                        "per-level")
            ->type_name("FILE")
            ->group(group);
    command
        .add_option("--glsl-parameters", arguments.glsl_parameters,
                    "For --glsl: what threshold_parameter(0), threshold_parameter(1), ... are "
                    "there")
        ->type_name("p0,p1,...")
        ->group(group)
        ->needs(glsl);
}

void add_subdivision_options(CLI::App& command, SubdivisionArguments& arguments,
                             SubdivisionRequest& request) {
    const std::string group = "Subdivision";
    command
        .add_option("--strategy", arguments.strategy,
                    "auto, fused, subtree, per-level, or reference (on the CPU, without Vulkan)")
        ->check(
            CLI::IsMember({"auto", "fused", "subtree", "per-level", "reference"}).description(""))
        ->type_name("NAME")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--subtree-levels", request.subtree_levels,
                    "Levels that one dispatch of subtree descends, 1 to 8")
        ->check(CLI::Range(std::uint32_t{1}, MAX_SUBTREE_LEVELS).description(""))
        ->type_name("N")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--order", arguments.order,
                    "canonical (by Morton code, always the same) or any (faster)")
        ->check(CLI::IsMember({"any", "canonical"}).description(""))
        ->type_name("NAME")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--max-tiles", request.max_tiles,
                    "At most K tiles: scales the thresholds by the smallest factor that leaves no "
                    "more (strategies auto, fused and reference)")
        ->check(
            CLI::Range(std::uint64_t{1}, std::uint64_t{std::numeric_limits<std::uint32_t>::max()})
                .description(""))
        ->type_name("K")
        ->group(group);
    command
        .add_option("--device", request.device,
                    "Number of the Vulkan device or part of its name; see 'quadtile devices'")
        ->type_name("N|NAME")
        ->group(group);
    command.add_flag("--stats", request.stats,
                     "Print tile counts and the time of each stage to standard error");
    command
        .add_option("--trace", request.trace,
                    "File for the stages and their times in Chrome's trace-event format, for "
                    "chrome://tracing or Perfetto")
        ->type_name("FILE")
        ->group(group);
}

CLI::Option* add_format_option(CLI::App& command, std::string& format) {
    return command
        .add_option("--format", format,
                    "json, csv or bin; without it the ending of FILE decides, else json")
        ->check(CLI::IsMember({"json", "csv", "bin"}).description(""))
        ->type_name("NAME");
}

void define_tiles(CLI::App& command, Arguments& arguments) {
    command
        .add_option("INPUT", arguments.tiles.input,
                    "Importance map: OpenEXR, PFM, or PNG of 8 or 16 bits")
        ->type_name("FILE")
        ->required();
    command
        .add_option("-o,--output", arguments.tiles.output,
                    "File for the tiles; without it they go to standard output")
        ->type_name("FILE");
    add_format_option(command, arguments.tiles_format);
    command
        .add_option("--image", arguments.tiles.image,
                    "PNG file for a picture of the map with the tiles' outlines")
        ->type_name("FILE");
    command
        .add_option("--channel", arguments.tiles.channel,
                    "Channel of INPUT; without it Y, else the luminance of R, G and B, else the "
                    "first")
        ->type_name("NAME");
    const std::string group = "Threshold (exactly one)";
    add_threshold_options(command, arguments.tiles_subdivision, group);
    add_memory_options(command, arguments.tiles_subdivision, group);
    add_function_options(command, arguments.tiles_subdivision, group);
    add_subdivision_options(command, arguments.tiles_subdivision, arguments.tiles.subdivision);
}

const std::map<std::string, LevelMethod>& level_methods() {
    static const std::map<std::string, LevelMethod> methods{{"all", LevelMethod::all},
                                                            {"auto", LevelMethod::automatic},
                                                            {"blit", LevelMethod::blit},
                                                            {"per-level", LevelMethod::per_level},
                                                            {"spd", LevelMethod::spd},
                                                            {"subgroup", LevelMethod::subgroup},
                                                            {"reference", LevelMethod::reference}};
    return methods;
}

const std::map<std::string, Reduction>& reductions() {
    static const std::map<std::string, Reduction> all{{"max", Reduction::max},
                                                      {"min", Reduction::min},
                                                      {"mean", Reduction::mean},
                                                      {"sum", Reduction::sum},
                                                      {"min-max", Reduction::min_max}};
    return all;
}

const std::map<std::string, EdgeRule>& edge_rules() {
    static const std::map<std::string, EdgeRule> rules{
        {"round-up", EdgeRule::round_up}, {"fold", EdgeRule::fold}, {"drop", EdgeRule::drop}};
    return rules;
}

// Those that levels can be stored in.
const std::map<std::string, TexelFormat>& level_formats() {
    static const std::map<std::string, TexelFormat> formats = [] {
        std::map<std::string, TexelFormat> by_name;
        for (const TexelFormat format :
             {TexelFormat::r32_float, TexelFormat::r16_float, TexelFormat::r16_unorm,
              TexelFormat::r8_unorm, TexelFormat::rg32_float, TexelFormat::rg16_float,
              TexelFormat::rgba32_float, TexelFormat::rgba16_float, TexelFormat::rgba8_unorm,
              TexelFormat::rgba8_srgb}) {
            by_name.emplace(name_of(format), format);
        }
        return by_name;
    }();
    return formats;
}

// An option whose values are the keys of a map.
template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& text,
                        const std::map<std::string, Value>& values,
                        const std::string& description) {
    return command.add_option(option, text, description)
        ->check(CLI::IsMember(&values).description(""))
        ->type_name("NAME");
}

void define_mipmap(CLI::App& command, Arguments& arguments) {
    MipmapRequest& request = arguments.mipmap;
    MipmapArguments& texts = arguments.mipmap_texts;
    command.add_option("IMAGE", request.input, "OpenEXR, PFM, or PNG of 8 or 16 bits")
        ->type_name("FILE")
        ->required();
    command
        .add_option(
            "OUTDIR", request.directory,
            "Directory for the levels, OUTDIR/METHOD/level_00.png and so on: PNG, or OpenEXR "
            "where they are floats")
        ->type_name("DIRECTORY")
        ->required();
    add_choice(command, "--method", texts.method, level_methods(),
               "auto, spd, subgroup, per-level, blit, reference (on the CPU, without Vulkan), or "
               "all of them")
        ->capture_default_str();
    CLI::Option* const reduction =
        add_choice(command, "--reduce", texts.reduction, reductions(),
                   "What four texels become: mean, max, min, sum, or min-max (one channel becomes "
                   "two)")
            ->capture_default_str();
    command
        .add_option(
            "--glsl", request.glsl,
            "Instead of --reduce: GLSL that defines TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, "
            "TEXEL d) of the texels a b above c d; TEXEL is float, vec2 or vec4 after the "
            "number of channels")
        ->type_name("FILE")
        ->excludes(reduction);
    add_choice(command, "--edges", texts.edges, edge_rules(),
               "fold (sizes rounded down, the last texel takes in what is left over), drop (it is "
               "dropped), or round-up (sizes rounded up)")
        ->capture_default_str();
    command
        .add_option("--levels", request.levels,
                    "Number of levels, the image itself included; without it all, down to 1 x 1")
        ->type_name("N");
    add_choice(
        command, "--format", texts.format, level_formats(),
        "Format of the levels, as r16_float or rgba8_unorm; without it the image's, for sums "
        "32-bit floats, for min-max two channels of floats");
    command
        .add_option("--channel", request.channel,
                    "This channel of IMAGE alone; without it all of them")
        ->type_name("NAME");
    command.add_flag("--linear", request.linear,
                     "Take the values of a PNG of 8 bits as they are, not as colours on the sRGB "
                     "curve");
    command.add_flag("!--no-compare", request.compare,
                     "Leave out the comparison with the CPU reference, which is slow for large "
                     "images");
    command
        .add_option("--device", request.device,
                    "Number of the Vulkan device or part of its name; see 'quadtile devices'")
        ->type_name("N|NAME");
}

void define_demo(CLI::App& command, Arguments& arguments) {
    command.add_option("-o,--output", arguments.demo.output, "File for the tiles")
        ->type_name("FILE")
        ->capture_default_str();
    add_format_option(command, arguments.demo_format);
    command.add_option("--image", arguments.demo.image, "PNG file for the picture")
        ->type_name("FILE")
        ->capture_default_str();
    command.add_option("--size", arguments.demo.size, "Texels on a side of the map, 16 to 16384")
        ->check(CLI::Range(16U, 16384U).description(""))
        ->type_name("N")
        ->capture_default_str();
    command
        .add_option("--map", arguments.demo.map,
                    "File for the map itself: OpenEXR where its name ends in .exr, else PFM")
        ->type_name("FILE");
    add_threshold_options(command, arguments.demo_subdivision,
                          "Threshold (at most one; without it --max-resolution 16)");
    add_subdivision_options(command, arguments.demo_subdivision, arguments.demo.subdivision);
}

void define_compile(CLI::App& command, Arguments& arguments) {
    command.add_option("KIND", arguments.compile_kind, "threshold or reduction")
        ->check(CLI::IsMember({"threshold", "reduction"}).description(""))
        ->type_name("KIND")
        ->required();
    command
        .add_option("FILE", arguments.compile.input,
                    "GLSL, as for --glsl of 'quadtile tiles' or 'quadtile mipmap'")
        ->type_name("FILE")
        ->required();
    command
        .add_option("-o,--output", arguments.compile.output,
                    "File for the code, which --glsl takes, too, and the library as "
                    "ThresholdFunction::from_compiled or DownsamplerOptions::custom_compiled; it "
                    "fits this version of quadtile alone")
        ->type_name("FILE")
        ->required();
    command
        .add_option("--channels", arguments.compile_channels, "Of a reduction's texels: 1, 2 or 4")
        ->check(CLI::IsMember({1, 2, 4}).description(""))
        ->type_name("N")
        ->capture_default_str();
}

float parse_threshold(const std::string& option, const std::string& text) {
    return parse_float(option, text, 0.0F, INFINITE_FLOAT);
}

// The threshold option that was given, or empty.
std::string threshold_option(const CLI::App& command) {
    const char* const options[] = {"--constant", "--level-thresholds", "--max-resolution",
                                   "--memory", "--glsl"};
    std::string given;
    for (const char* option : options) {
        const CLI::Option* const known = command.get_option_no_throw(option);
        if (known == nullptr || known->count() == 0) {
            continue;
        }
        if (!given.empty()) {
            throw UsageError(given + " and " + option + " exclude each other; give one of them");
        }
        given = option;
    }
    return given;
}

// None where none was given, and where it is --memory or --glsl, which need files.
std::optional<Threshold> parse_threshold(const CLI::App& command,
                                         const SubdivisionArguments& arguments) {
    const std::string given = threshold_option(command);
    if (given == "--constant") {
        return Threshold::constant(parse_threshold(given, arguments.constant));
    }
    if (given == "--max-resolution") {
        return Threshold::max_resolution(parse_threshold(given, arguments.max_resolution));
    }
    if (given == "--level-thresholds") {
        return Threshold::per_level(
            parse_floats(given, arguments.level_thresholds, 0.0F, INFINITE_FLOAT));
    }
    return std::nullopt;
}

// None where the option was not given.
std::optional<MemoryRequest> parse_memory(const CLI::App& command,
                                          const SubdivisionArguments& arguments) {
    const std::string option = "--memory";
    if (threshold_option(command) != option) {
        return std::nullopt;
    }
    const std::vector<float> numbers = parse_floats(option, arguments.memory, 0.0F, INFINITE_FLOAT);
    if (numbers.size() != 2) {
        throw UsageError(option + " '" + arguments.memory + "' must be two numbers, M,NODES");
    }
    return MemoryRequest{numbers[0], numbers[1], arguments.fragments};
}

// None where the option was not given.
std::optional<FunctionRequest> parse_function(const CLI::App& command,
                                              const SubdivisionArguments& arguments) {
    if (threshold_option(command) != "--glsl") {
        return std::nullopt;
    }
    const std::string option = "--glsl-parameters";
    FunctionRequest request{arguments.glsl, {}};
    if (command.count(option) > 0) {
        request.parameters =
            parse_floats(option, arguments.glsl_parameters, -INFINITE_FLOAT, INFINITE_FLOAT);
    }
    if (request.parameters.size() > Threshold::max_function_parameters) {
        throw UsageError(option + " has " + std::to_string(request.parameters.size()) +
                         " numbers; give at most " +
                         std::to_string(Threshold::max_function_parameters));
    }
    if (arguments.strategy == "fused" || arguments.strategy == "reference") {
        throw UsageError("--glsl needs the strategy auto, subtree or per-level, not " +
                         arguments.strategy);
    }
    if (command.count("--max-tiles") > 0) {
        throw UsageError(
            "--max-tiles scales thresholds, which --glsl leaves to the GPU; give one "
            "of them");
    }
    return request;
}

void complete(const CLI::App& command, const SubdivisionArguments& arguments,
              SubdivisionRequest& request) {
    static const std::map<std::string_view, Strategy> strategies{
        {"auto", Strategy::automatic},
        {"fused", Strategy::fused},
        {"subtree", Strategy::subtree},
        {"per-level", Strategy::per_level},
        {"reference", Strategy::reference}};
    request.strategy = strategies.at(arguments.strategy);
    request.order = arguments.order == "any" ? Order::any : Order::canonical;
    request.threshold = parse_threshold(command, arguments);
}

void check_files(const CLI::App& command, const std::vector<FileArgument>& files) {
    for (const FileArgument& file : files) {
        const CLI::Option* const option = command.get_option_no_throw(file.name);
        if (file.path.empty() && option != nullptr && option->count() > 0) {
            throw UsageError(file.name + " needs a file name");
        }
    }
    check_files(files);
}

TileFormat format_of(const std::string& name, const std::filesystem::path& output) {
    static const std::map<std::string, TileFormat> formats{
        {"json", TileFormat::json}, {"csv", TileFormat::csv}, {"bin", TileFormat::binary}};
    const std::string ending = output.extension().string();
    const auto format = formats.find(!name.empty()     ? name
                                     : !ending.empty() ? ending.substr(1)
                                                       : "json");
    return format == formats.end() ? TileFormat::json : format->second;
}

Request request_of(const CLI::App& app, Arguments& arguments) {
    const CLI::App& command = *app.get_subcommands().front();
    if (command.get_name() == "tiles") {
        complete(command, arguments.tiles_subdivision, arguments.tiles.subdivision);
        arguments.tiles.memory = parse_memory(command, arguments.tiles_subdivision);
        arguments.tiles.function = parse_function(command, arguments.tiles_subdivision);
        if (!arguments.tiles.subdivision.threshold && !arguments.tiles.memory &&
            !arguments.tiles.function) {
            throw UsageError(
                "no threshold is given; give one of --max-resolution, --constant, "
                "--level-thresholds, --memory and --glsl");
        }
        check_files(command,
                    {{"INPUT", arguments.tiles.input, false},
                     {"--fragments", arguments.tiles_subdivision.fragments, false},
                     {"--glsl", arguments.tiles_subdivision.glsl, false},
                     {"--output", arguments.tiles.output, true},
                     {"standard output", arguments.tiles.output.empty() ? "/dev/stdout" : "", true},
                     {"--image", arguments.tiles.image, true},
                     {"--trace", arguments.tiles.subdivision.trace, true}});
        arguments.tiles.format = format_of(arguments.tiles_format, arguments.tiles.output);
        return arguments.tiles;
    }
    if (command.get_name() == "mipmap") {
        MipmapRequest& request = arguments.mipmap;
        check_files(command, {{"IMAGE", request.input, false},
                              {"--glsl", request.glsl, false},
                              {"OUTDIR", request.directory, true}});
        const MipmapArguments& texts = arguments.mipmap_texts;
        request.method = level_methods().at(texts.method);
        request.reduction =
            request.glsl.empty() ? reductions().at(texts.reduction) : Reduction::custom;
        request.edge_rule = edge_rules().at(texts.edges);
        if (!texts.format.empty()) {
            request.format = level_formats().at(texts.format);
        }
        return request;
    }
    if (command.get_name() == "compile") {
        CompileRequest& request = arguments.compile;
        check_files(command, {{"FILE", request.input, false}, {"--output", request.output, true}});
        if (arguments.compile_kind == "reduction") {
            request.channels = arguments.compile_channels;
        } else if (command.count("--channels") > 0) {
            throw UsageError("--channels is for reductions; a threshold has none");
        }
        return request;
    }
    if (command.get_name() == "demo") {
        complete(command, arguments.demo_subdivision, arguments.demo.subdivision);
        check_files(command, {{"--output", arguments.demo.output, true},
                              {"--image", arguments.demo.image, true},
                              {"--map", arguments.demo.map, true},
                              {"--trace", arguments.demo.subdivision.trace, true}});
        arguments.demo.format = format_of(arguments.demo_format, arguments.demo.output);
        return arguments.demo;
    }
    return DevicesRequest{};
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
    CLI::App app("Adaptive tile subdivision of importance maps, and mip levels, on the GPU",
                 "quadtile");
    app.set_version_flag("--version", "quadtile " QUADTILE_VERSION_STRING);
    app.require_subcommand(0, 1);  // none is found out about below, after unknown arguments
    app.footer(
        "Examples: quadtile tiles map.exr --max-resolution 256 -o tiles.json --image tiles.png\n"
        "          quadtile mipmap picture.png levels --method all\n"
        "Exit status: 0, 1 (failed; standard error says why) or 2 (wrong arguments)");

    Arguments arguments;
    define_tiles(*app.add_subcommand("tiles", "Subdivide an importance map into tiles"), arguments);
    define_mipmap(*app.add_subcommand("mipmap", "Make the mip levels of an image"), arguments);
    define_compile(
        *app.add_subcommand("compile", "Compile GLSL of yours for builds without the compiler"),
        arguments);
    app.add_subcommand("devices", "List the Vulkan devices and what quadtile can do with them");
    define_demo(
        *app.add_subcommand("demo", "Subdivide a built-in map: a town's light map texel density"),
        arguments);

    std::string help = "quadtile --help";
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) {
            throw UsageError("no command is given; give tiles, mipmap, compile, devices or demo");
        }
        return request_of(app, arguments);
    } catch (const CLI::CallForVersion& version) {
        return TextRequest{std::string(version.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        return TextRequest{app.help()};
    } catch (const std::runtime_error& error) {  // CLI::ParseError or UsageError
        if (!app.get_subcommands().empty()) {
            help = "quadtile " + app.get_subcommands().front()->get_name() + " --help";
        }
        throw UsageError(std::string(error.what()) + "; see '" + help + "'");
    }
}

}  // namespace quadtile::app
