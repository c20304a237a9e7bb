#include "command_line.hpp"

#include "file_arguments.hpp"
#include "number_arguments.hpp"
#include "parse_arguments.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace quadtile::app {

namespace {

constexpr const char* GENERAL = "Options";  // the heading of what has no other

constexpr std::array<Named<TileFormat>, 3> FORMATS{
    {{"json", TileFormat::json}, {"csv", TileFormat::csv}, {"bin", TileFormat::binary}}};
// Those that levels can be stored in.
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

void add_threshold_options(OptionGroup& group, SubdivisionArguments& arguments) {
    group.add("--max-resolution", arguments.max_resolution, "M",
              "A tile of 2^l texels a side needs less than M pixels a side: its importance is "
              "below M / 2^l");
    group.add("--constant", arguments.constant, "T", "The importance of every tile is below T");
    group.add("--level-thresholds", arguments.level_thresholds, "t0,t1,...",
              "The importance of a tile of level l is below tl; one for each level, texels "
              "(level 0) first");
}

// Where the map comes from a file, its fragments can come from another.
void add_memory_options(OptionGroup& group, SubdivisionArguments& arguments) {
    CLI::Option* const memory =
        group.add("--memory", arguments.memory, "M,NODES",
                  "As --max-resolution M, and a tile's image needs less than NODES nodes of "
                  "per-pixel linked lists: its importance is below "
                  "min(M, sqrt(NODES / mean)) / 2^l, of the mean of --fragments over the "
                  "tile");
    group
        .add("--fragments", arguments.fragments, "FILE",
             "For --memory: file as INPUT and of its size, of the number of fragments in a "
             "pixel of each texel")
        ->needs(memory);
    memory->needs("--fragments");
}

void add_function_options(OptionGroup& group, SubdivisionArguments& arguments) {
    CLI::Option* const glsl =
        group.add("--glsl", arguments.glsl, "FILE",
                  "The importance of a tile is below what GLSL in FILE says, which defines "
                  "float threshold(uint level, uvec2 position, uint layer), or which "
                  "'quadtile compile' has compiled; with the strategies auto, subtree and "
                  "per-level");
    group
        .add("--glsl-parameters", arguments.glsl_parameters, "p0,p1,...",
             "For --glsl: what threshold_parameter(0), threshold_parameter(1), ... are "
             "there")
        ->needs(glsl);
}

void add_device_option(OptionGroup& group, std::string& device) {
    group.add("--device", device, "N|NAME",
              "Number of the Vulkan device or part of its name; see 'quadtile devices'");
}

void add_subdivision_options(CLI::App& command, SubdivisionArguments& arguments,
                             SubdivisionRequest& request) {
    OptionGroup group(command, "Subdivision");
    group
        .add("--strategy", arguments.strategy, "NAME",
             "auto, fused, subtree, per-level, or reference (on the CPU, without Vulkan)",
             one_of(names_in(STRATEGIES)))
        ->capture_default_str();
    group
        .add("--subtree-levels", request.subtree_levels, "N",
             "Levels that one dispatch of subtree descends, 1 to 8",
             within(std::uint32_t{1}, MAX_SUBTREE_LEVELS))
        ->capture_default_str();
    group
        .add("--order", arguments.order, "NAME",
             "canonical (by Morton code, always the same) or any (faster)",
             one_of(std::vector<std::string>{"any", "canonical"}))
        ->capture_default_str();
    group.add("--max-tiles", request.options.max_tiles, "K",
              "At most K tiles: scales the thresholds by the smallest factor that leaves no "
              "more (strategies auto, fused and reference)",
              within(std::uint64_t{1}, std::uint64_t{std::numeric_limits<std::uint32_t>::max()}));
    add_device_option(group, request.device);
    OptionGroup(command, GENERAL)
        .add_flag("--stats", request.stats,
                  "Print tile counts and the time of each stage to standard error");
    group.add("--trace", request.trace, "FILE",
              "File for the stages and their times in Chrome's trace-event format, for "
              "chrome://tracing or Perfetto");
}

void add_format_option(OptionGroup& group, std::string& format) {
    group.add("--format", format, "NAME",
              "json, csv or bin; default: by the ending of FILE, else json",
              one_of(names_in(FORMATS)));
}

void define_tiles(CLI::App& command, Arguments& arguments) {
    TilesRequest& request = arguments.tiles;
    OptionGroup group(command, GENERAL);
    group
        .add("INPUT", request.input, "FILE", "Importance map: OpenEXR, PFM, or PNG of 8 or 16 bits")
        ->required();
    group.add("-o,--output", request.output, "FILE",
              "File for the tiles; default: standard output");
    add_format_option(group, arguments.tiles_format);
    group.add("--image", request.image, "FILE",
              "PNG file for a picture of the map with the tiles' outlines");
    group.add("--channel", request.channel, "NAME",
              "Channel of INPUT; default: Y, else the luminance of R, G and B, else the "
              "first");
    OptionGroup threshold(command, "Threshold (exactly one)");
    add_threshold_options(threshold, arguments.tiles_subdivision);
    add_memory_options(threshold, arguments.tiles_subdivision);
    add_function_options(threshold, arguments.tiles_subdivision);
    add_subdivision_options(command, arguments.tiles_subdivision, request.subdivision);
}

void define_mipmap(CLI::App& command, Arguments& arguments) {
    MipmapRequest& request = arguments.mipmap;
    MipmapArguments& texts = arguments.mipmap_texts;
    OptionGroup group(command, GENERAL);
    group.add("IMAGE", request.input, "FILE", "OpenEXR, PFM, or PNG of 8 or 16 bits")->required();
    group
        .add("OUTDIR", request.directory, "DIRECTORY",
             "Directory for the levels, OUTDIR/METHOD/level_00.png and so on: PNG, or OpenEXR "
             "where they are floats")
        ->required();
    group
        .add("--method", texts.method, "NAME",
             "auto, spd, subgroup, per-level, blit, reference (on the CPU, without Vulkan), or "
             "all of them",
             one_of(names_in(LEVEL_METHODS)))
        ->capture_default_str();
    CLI::Option* const reduction =
        group
            .add("--reduce", texts.reduction, "NAME",
                 "What four texels become: mean, max, min, sum, or min-max (one channel becomes "
                 "two)",
                 one_of(names_in(REDUCTIONS)))
            ->capture_default_str();
    group
        .add("--glsl", request.glsl, "FILE",
             "Instead of --reduce: GLSL that defines TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, "
             "TEXEL d) of the texels a b above c d; TEXEL is float, vec2 or vec4 after the "
             "number of channels")
        ->excludes(reduction);
    group
        .add("--edges", texts.edges, "NAME",
             "fold (sizes rounded down, the last texel takes in what is left over), drop (it is "
             "dropped), or round-up (sizes rounded up)",
             one_of(names_in(EDGE_RULES)))
        ->capture_default_str();
    group.add("--levels", request.levels, "N",
              "Number of levels, the image itself included; default: all, down to 1 x 1");
    group.add("--format", texts.format, "NAME",
              "Format of the levels, as r16_float or rgba8_unorm; default: the image's, for "
              "sums 32-bit floats, for min-max two channels of floats",
              one_of(names_in(LEVEL_FORMATS)));
    group.add("--channel", request.channel, "NAME",
              "This channel of IMAGE alone; default: all of them");
    group.add_flag("--linear", request.linear,
                   "Take the values of a PNG of 8 bits as they are, not as colours on the sRGB "
                   "curve");
    group.add_flag("!--no-compare", request.compare,
                   "Leave out the comparison with the CPU reference, which is slow for large "
                   "images");
    add_device_option(group, request.device);
}

void define_demo(CLI::App& command, Arguments& arguments) {
    DemoRequest& request = arguments.demo;
    OptionGroup group(command, GENERAL);
    group.add("-o,--output", request.output, "FILE", "File for the tiles")->capture_default_str();
    add_format_option(group, arguments.demo_format);
    group.add("--image", request.image, "FILE", "PNG file for the picture")->capture_default_str();
    group
        .add("--size", request.size, "N", "Texels on a side of the map, 16 to 16384",
             within(16U, 16384U))
        ->capture_default_str();
    group.add("--map", request.map, "FILE",
              "File for the map itself: OpenEXR where its name ends in .exr, else PFM");
    OptionGroup threshold(command, "Threshold (at most one; default: --max-resolution 16)");
    add_threshold_options(threshold, arguments.demo_subdivision);
    add_subdivision_options(command, arguments.demo_subdivision, request.subdivision);
}

void define_compile(CLI::App& command, Arguments& arguments) {
    OptionGroup group(command, GENERAL);
    group
        .add("KIND", arguments.compile_kind, "KIND", "threshold or reduction",
             one_of(std::vector<std::string>{"threshold", "reduction"}))
        ->required();
    group
        .add("FILE", arguments.compile.input, "FILE",
             "GLSL, as for --glsl of 'quadtile tiles' or 'quadtile mipmap'")
        ->required();
    group
        .add("-o,--output", arguments.compile.output, "FILE",
             "File for the code, which --glsl takes, too, and the library as "
             "ThresholdFunction::from_compiled or DownsamplerOptions::custom_compiled; it "
             "fits this version of quadtile alone")
        ->required();
    group
        .add("--channels", arguments.compile_channels, "N", "Of a reduction's texels: 1, 2 or 4",
             one_of(std::vector<int>{1, 2, 4}))
        ->capture_default_str();
}

float parse_threshold(const std::string& option, const std::string& text) {
    return parse_float(option, text, 0.0F, INFINITE_FLOAT);
}

// None where none was given, and where it is --memory or --glsl, which need files.
std::optional<Threshold> parse_threshold(const std::string& given,
                                         const SubdivisionArguments& arguments) {
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

MemoryRequest parse_memory(const SubdivisionArguments& arguments) {
    const std::vector<float> numbers =
        parse_floats("--memory", arguments.memory, 0.0F, INFINITE_FLOAT);
    if (numbers.size() != 2) {
        throw UsageError("--memory '" + arguments.memory + "' must be two numbers, M,NODES");
    }
    return {numbers[0], numbers[1], arguments.fragments};
}

FunctionRequest parse_function(const CLI::App& command, const SubdivisionArguments& arguments) {
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

// Returns the threshold option that was given.
std::string complete(const CLI::App& command, const SubdivisionArguments& arguments,
                     SubdivisionRequest& request) {
    const std::string threshold = only_one_of(
        command, {"--constant", "--level-thresholds", "--max-resolution", "--memory", "--glsl"});
    request.strategy = value_in(STRATEGIES, arguments.strategy);
    request.options.order = arguments.order == "any" ? Order::any : Order::canonical;
    request.threshold = parse_threshold(threshold, arguments);
    return threshold;
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
    const std::string ending = output.extension().string();
    const auto format =
        std::ranges::find(FORMATS, !name.empty() || ending.empty() ? name : ending.substr(1),
                          &Named<TileFormat>::name);
    return format == FORMATS.end() ? TileFormat::json : format->value;
}

Request request_of(const CLI::App& app, Arguments& arguments) {
    const CLI::App& command = *app.get_subcommands().front();
    if (command.get_name() == "tiles") {
        const std::string threshold =
            complete(command, arguments.tiles_subdivision, arguments.tiles.subdivision);
        if (threshold.empty()) {
            throw UsageError(
                "no threshold is given; give one of --max-resolution, --constant, "
                "--level-thresholds, --memory and --glsl");
        }
        if (threshold == "--memory") {
            arguments.tiles.memory = parse_memory(arguments.tiles_subdivision);
        } else if (threshold == "--glsl") {
            arguments.tiles.function = parse_function(command, arguments.tiles_subdivision);
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
        request.method = value_in(LEVEL_METHODS, texts.method);
        request.reduction =
            request.glsl.empty() ? value_in(REDUCTIONS, texts.reduction) : Reduction::custom;
        request.edge_rule = value_in(EDGE_RULES, texts.edges);
        if (!texts.format.empty()) {
            request.format = value_in(LEVEL_FORMATS, texts.format);
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

    try {
        return parse_arguments(app, argc, argv, [&] {
            if (app.get_subcommands().empty()) {
                throw UsageError(
                    "no command is given; give tiles, mipmap, compile, devices or demo");
            }
            return request_of(app, arguments);
        });
    } catch (const PrintedText& printed) {
        return printed;
    }
}

}  // namespace quadtile::app
