#include "options.hpp"

#include "parse_arguments.hpp"
#include "ray_caster.hpp"

#include <quadtile/version.h>
#include <quadtile/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

namespace quadtile::shadow {

using app::OptionGroup;
using app::within;

namespace {

constexpr std::uint32_t LARGEST_EXTENT = 16384;
constexpr float FARTHEST = 1e9F;  // world units or degrees; greater numbers have too few digits
constexpr std::size_t MOST_SPOTS = 3;
constexpr std::size_t SPOT_NUMBERS = 7;
constexpr std::size_t MOST_POINTS = 2;
constexpr float LARGEST_WEIGHT = 64.0F;

// Arguments that become options after parsing.
struct Arguments {
    std::string size;
    std::array<float, 3> sun{};
    std::vector<std::string> spots;
    std::vector<std::string> points;
    std::string levels;
    std::array<float, 5> camera{};
    Technique other = Technique::fitted;
};

glm::vec3 checked(const std::string& option, const glm::vec3& direction) {
    if (!(std::hypot(direction.x, direction.y, direction.z) > 1.0F / FARTHEST)) {
        throw UsageError(option + " takes a direction, not 0,0,0");
    }
    return direction;
}

Light parse_spot(const std::string& text) {
    const std::vector<float> numbers = app::parse_floats("--spot", text, -FARTHEST, FARTHEST);
    if (numbers.size() != SPOT_NUMBERS) {
        throw UsageError(
            "--spot takes seven numbers, X,Y,Z,DX,DY,DZ,ANGLE: its position, the direction of its "
            "light and its full angle in degrees, not '" +
            text + "'");
    }
    const float angle = numbers[6];
    if (angle < 0.1F || angle > 170.0F) {
        throw UsageError("the angle of --spot is 0.1 to 170 degrees, not " + app::text_of(angle));
    }
    return {.kind = Light::Kind::spot,
            .direction = checked("--spot", {numbers[3], numbers[4], numbers[5]}),
            .position = {numbers[0], numbers[1], numbers[2]},
            .angle_degrees = angle};
}

Light parse_point(const std::string& text) {
    const std::vector<float> numbers =
        app::parse_floats("--point-light", text, -FARTHEST, FARTHEST);
    if (numbers.size() != 3 && numbers.size() != 4) {
        throw UsageError(
            "--point-light takes three numbers or four, X,Y,Z,WEIGHT: its position, and its shadow "
            "texels relative to those of other lights, not '" +
            text + "'");
    }
    const float weight = numbers.size() == 4 ? numbers[3] : 1.0F;
    if (weight < 1.0F / LARGEST_WEIGHT || weight > LARGEST_WEIGHT) {
        throw UsageError("the weight of --point-light is 1/64 to 64, not " + app::text_of(weight));
    }
    return {.kind = Light::Kind::point,
            .position = {numbers[0], numbers[1], numbers[2]},
            .weight = weight};
}

void set_levels(Options& options, const std::string& text) {
    const std::vector<float> numbers = app::parse_floats("--sun-levels", text, 0.0F, FARTHEST);
    const float levels = numbers.size() == 2 ? numbers[1] : static_cast<float>(options.levels);
    if (numbers.empty() || numbers.size() > 2 || numbers[0] < 1.0F / FARTHEST || levels < 1.0F ||
        levels > static_cast<float>(SHADOW_MAX_LEVELS) || levels != std::floor(levels)) {
        throw UsageError(
            "--sun-levels takes EXTENT or EXTENT,N: the width of the first level, above 0, and the "
            "number of levels, 1 to 8, not '" +
            text + "'");
    }
    options.nearest_extent = numbers[0];
    options.levels = static_cast<std::uint32_t>(levels);
}

void define_scene(CLI::App& app, Options& options, Arguments& arguments) {
    app.add_option("SCENE", options.scene, "glTF 2.0 (.glb, .gltf) or OBJ (.obj); default: a city")
        ->type_name("");
    OptionGroup group(app, "Scene");
    group
        .add("--city", options.city_triangles, "N",
             "Instead of SCENE: a city of about N triangles; default N: 20000",
             within(std::uint64_t{2000}, std::uint64_t{100'000'000}))
        ->expected(0, 1)
        ->default_str("20000");
    group.add("--sun", arguments.sun, "X,Y,Z", "Direction of the sun's light; default: SCENE's",
              within(-FARTHEST, FARTHEST));
    group.add(
        "--sun-levels", arguments.levels, "EXTENT[,N]",
        "Use N maps of the sun (default: 4) around the camera, for large worlds: the first is "
        "EXTENT wide, each next one twice as wide, and beyond the last all is lit; default: "
        "one map of the scene");
    group
        .add("--spot", arguments.spots, "X,Y,Z,DX,DY,DZ,ANGLE",
             "Add a spot light: position, direction, full angle in degrees; up to three times")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    group.add("--sun-radius", options.sun_radius_degrees, "DEGREES",
              "Radius of the sun's disc in the sky, for soft shadows; default: 0.27",
              within(0.0F, 20.0F));
    group.add(
        "--spot-radius", options.spot_radius, "X",
        "Radius of spot and point lights in units of the scene, for soft shadows; default: 0.1",
        within(0.0F, FARTHEST));
    group
        .add("--point-light", arguments.points, "X,Y,Z[,WEIGHT]",
             "Add a light that shines in all directions; WEIGHT: its shadow texels per side, "
             "relative to other lights; up to twice")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    group.add("--moving", options.moving, "N",
              "Number of boxes that move to and fro or sway along the flight; default: 0",
              within(0U, 10'000U));
}

void define_shadows(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup group(app, "Shadows");
    ShadowOptions& shadows = options.shadows;
    group.add_choice(
        "--technique", options.technique, TECHNIQUES, "NAME",
        "fitted (default), single (one map per light), cascades (four per sun), stable-cascades "
        "(four whose texels stay in place), or rays (ray casting, no maps)");
    group.add_choice("--compare", arguments.other, TECHNIQUES, "NAME",
                     "Another technique in the right half of the picture; default: none");
    group.add_choice("--filter", options.filter, FILTERS, "NAME",
                     "hard (the nearest texel), 3x3 (default), or soft (as wide as the penumbra of "
                     "a light with an extent)");
    group.add("--ray-samples", options.samples, "N",
              "Rays to each light for soft shadows by ray casting; default: 16",
              within(1U, RayCaster::MOST_SAMPLES));
    group.add("--max-tiles", shadows.max_tiles, "K", "Largest number of tiles; default: 2048");
    group.add("--atlas", shadows.atlas_extent, "N",
              "Side of the atlas in texels, a power of two; default: 4096");
    // Smaller slots have no room for the filter's gutter.
    group.add("--tile-extent", shadows.tile_extent, "N",
              "Side of the largest slot in texels, a power of two, 128 to 1024; default: 128",
              within(128, 1024));
    group.add("--map-extent", shadows.map_extent, "N",
              "Side of each importance map in texels; default: 1024");
    group.add(
        "--merge-ratio", shadows.merge_ratio, "X",
        "Merge tiles below X times the threshold for splitting; 1: no hysteresis; default: 0.8");
    group.add("--atlas-fill", shadows.atlas_fill, "X",
              "Share of the atlas that slots may take; default: 0.875");
    group.add(
        "--importance-decay", shadows.importance_decay, "X",
        "Part of the last frame's importance that counts in the next; 0: none; default: 0.95");
    group.add("--max-stretch", shadows.max_stretch, "X",
              "Largest ratio of a shadow's length to its width that texels follow; default: 4");
    group.add("--resolution-scale", shadows.resolution_scale, "X",
              "Shadow texels per pixel, along a side; default: 1");
    group.add("--edge-scale", shadows.edge_scale, "X",
              "Factor of these texels beside shadow edges; default: 8");
}

void define_view(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup group(app, "View");
    group.add("--size", arguments.size, "WxH",
              "Size of the window or the pictures in pixels; default: 1280x720");
    group.add_choice("--picture", options.display, DISPLAYS, "NAME",
                     "shaded (default), tiles, error (red and blue where ray casting differs), or "
                     "sides (shaded and error side by side)");
    group.add("--camera", arguments.camera, "X,Y,Z,YAW,PITCH",
              "Position, and direction in degrees: 0,0 along -z, 90,0 along -x, 0,90 up",
              within(-FARTHEST, FARTHEST));
    group.add(
        "--at", options.at, "S",
        "Start at this second of the flight; default: above the scene; with --fly and --record: 0",
        within(0.0F, 86400.0F));
    group.add_flag("--fly", options.flies, "Fly along the flight, from --at on");
    group.add("--device", options.device, "N|NAME",
              "Number of the Vulkan device or part of its name; see 'quadtile devices'");
    group.add_flag("--validation", options.validation,
                   "Use Vulkan's validation layer; its messages fail the run");
    group.add_flag("--log", options.log, "Print the window's state to standard error");
}

void define_pictures(CLI::App& app, Options& options) {
    OptionGroup group(app, "Pictures, without a window");
    group.add("--screenshot", options.screenshot, "OUT.png", "PNG file for the last frame");
    group.add("--record", options.record, "DIR", "Folder for a PNG file per frame of the flight");
    group.add("--frames", options.frames, "N",
              "Number of frames; default: 2 for --screenshot, the whole flight for --record",
              within(1U, 1'000'000U));
    group.add("--fps", options.frames_per_second, "F", "Frames per second; default: 60",
              within(0.1F, 1000.0F));
    group.add("--report", options.report, "FILE.json",
              "JSON file for tiles and times of each frame");
    group.add_flag("--panel", options.panel, "Show the panel, as in the window");
}

// Checks the library's rules. Most members of ShadowOptions have an option of the same name.
void check_shadows(const ShadowOptions& shadows) {
    try {
        check_shadow_options(shadows);
    } catch (const Error& error) {
        std::string text = error.what();
        for (const char* const member :
             {"max_tiles", "atlas_extent", "tile_extent", "map_extent", "merge_ratio", "atlas_fill",
              "importance_decay", "max_stretch", "resolution_scale", "edge_scale"}) {
            std::string option = std::string("--") + member;
            std::ranges::replace(option, '_', '-');
            option = option == "--atlas-extent" ? "--atlas" : option;
            for (const std::string& name :
                 {std::string("ShadowOptions::") + member, std::string(member)}) {
                const std::size_t place = text.find(name);
                if (place != std::string::npos) {
                    text.replace(place, name.size(), option);
                }
            }
        }
        throw UsageError(text);
    }
}

void check_contradictions(const CLI::App& app, const Options& options) {
    if (!options.scene.empty() && app.count("--city") > 0) {
        throw UsageError("give one of SCENE and --city");
    }
    for (const char* const flight : {"--at", "--fly", "--record"}) {
        if (app.count("--camera") > 0 && app.count(flight) > 0) {
            throw UsageError("--camera and " + std::string(flight) +
                             " exclude each other; give one of them");
        }
    }
    if (!options.screenshot.empty() && !options.record.empty()) {
        throw UsageError("--screenshot and --record exclude each other; give one of them");
    }
    if (options.screenshot.empty() && options.record.empty()) {
        for (const char* const option : {"--frames", "--fps", "--report", "--panel"}) {
            if (app.count(option) > 0) {
                throw UsageError(std::string(option) + " needs --screenshot or --record");
            }
        }
    }
}

Options options_of(const CLI::App& app, const Arguments& arguments, Options options) {
    check_contradictions(app, options);
    if (!arguments.size.empty()) {
        const app::Size size = app::parse_size("--size", arguments.size, LARGEST_EXTENT, false);
        options.extent = vk::Extent2D{size.width, size.height};
    }
    if (app.count("--compare") > 0) {
        options.other = arguments.other;
    }
    if (options.other && options.display == Display::sides) {
        throw UsageError("--compare and --picture sides exclude each other; give one of them");
    }
    if (options.display == Display::sides && options.extent.width < 2) {
        throw UsageError("--picture sides needs a --size of at least 2 pixels in width");
    }
    if (app.count("--sun") > 0) {
        options.sun = checked("--sun", {arguments.sun[0], arguments.sun[1], arguments.sun[2]});
    }
    if (arguments.spots.size() > MOST_SPOTS) {
        throw UsageError("--spot is given " + std::to_string(arguments.spots.size()) +
                         " times; give at most three spot lights");
    }
    for (const std::string& spot : arguments.spots) {
        options.spots.push_back(parse_spot(spot));
    }
    if (arguments.points.size() > MOST_POINTS) {
        throw UsageError("--point-light is given " + std::to_string(arguments.points.size()) +
                         " times; give at most two point lights");
    }
    for (const std::string& point : arguments.points) {
        options.spots.push_back(parse_point(point));
    }
    for (Light& light : options.spots) {
        light.radius = options.spot_radius;
    }
    if (app.count("--camera") > 0) {
        options.camera =
            Camera{.position = {arguments.camera[0], arguments.camera[1], arguments.camera[2]},
                   .yaw_degrees = arguments.camera[3],
                   .pitch_degrees = arguments.camera[4]};
    }
    if (!arguments.levels.empty()) {
        set_levels(options, arguments.levels);
    }
    const std::uint32_t sun_layers = options.nearest_extent > 0.0F ? options.levels : 1;
    options.shadows.lights = sun_layers + layers_of(options.spots);
    return options;
}

}  // namespace

std::vector<app::FileArgument> file_arguments(const Options& options) {
    return {{"SCENE", options.scene, false},
            {"--screenshot", options.screenshot, true},
            {"--record", options.record, true},
            {"--report", options.report, true}};
}

Options parse_options(int argc, const char* const* argv) {
    CLI::App app("Shows a scene with fitted virtual shadow maps, in a window or into files",
                 "quadtile-shadow");
    Options options;
    Arguments arguments;
    app.footer(
        "Examples: quadtile-shadow scene.glb\n"
        "          quadtile-shadow --city --at 3 --screenshot city.png\n"
        "Exit status: 0, 1 (failed; standard error says why) or 2 (wrong arguments)");
    app.set_version_flag("--version", "quadtile-shadow " QUADTILE_VERSION_STRING,
                         "Print the version");
    define_scene(app, options, arguments);
    define_shadows(app, options, arguments);
    define_view(app, options, arguments);
    define_pictures(app, options);
    return app::parse_arguments(app, argc, argv, [&] {
        options = options_of(app, arguments, options);
        check_shadows(options.shadows);
        app::check_files(file_arguments(options));
        app::check_ending("--screenshot", options.screenshot, {"png"});
        return options;
    });
}

}  // namespace quadtile::shadow
