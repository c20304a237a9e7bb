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
            "--spot takes seven numbers, X,Y,Z,DX,DY,DZ,ANGLE: where it is, where its light goes, "
            "and its full angle in degrees, not '" +
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
            "--point-light takes three numbers or four, X,Y,Z,WEIGHT: where it is, and how many "
            "times the shadow texels of other lights it has, not '" +
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
            "--sun-levels takes EXTENT or EXTENT,N: how wide the first one is, above 0, and how "
            "many there are, 1 to 8, not '" +
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
    group.add("--sun", arguments.sun, "X,Y,Z",
              "Where the light of the sun goes; default: as SCENE\nhas it",
              within(-FARTHEST, FARTHEST));
    group.add("--sun-levels", arguments.levels, "EXTENT[,N]",
              "Maps of the sun around the camera, as in large worlds:\n"
              "how wide the first is, and how many there are, each\n"
              "twice as wide; default N: 4. Default: one of the scene");
    group
        .add("--spot", arguments.spots, "X,Y,Z,DX,DY,DZ,ANGLE",
             "A spot light: where it is, where it shines, its angle\n"
             "in degrees; up to three times")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    group.add("--sun-radius", options.sun_radius_degrees, "DEGREES",
              "Radius of the sun's disc in the sky, for soft shadows; default: 0.27",
              within(0.0F, 20.0F));
    group.add(
        "--spot-radius", options.spot_radius, "X",
        "Radius of spot and point lights in units of the scene,\nfor soft shadows; default: 0.1",
        within(0.0F, FARTHEST));
    group
        .add("--point-light", arguments.points, "X,Y,Z[,WEIGHT]",
             "A light that shines in all directions; WEIGHT: shadow\n"
             "texels along a side, beside the 1 of others; up to\ntwice")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    group.add("--moving", options.moving, "N",
              "Boxes that go to and fro or sway along the flight;\ndefault: 0",
              within(0U, 10'000U));
}

void define_shadows(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup group(app, "Shadows");
    ShadowOptions& shadows = options.shadows;
    group.add_choice("--technique", options.technique, TECHNIQUES, "NAME",
                     "fitted (default), single: one map for each light, cascades: four for each "
                     "sun, stable-cascades: four whose texels stay in place, or rays: no maps, by "
                     "ray casting");
    group.add_choice("--compare", arguments.other, TECHNIQUES, "NAME",
                     "Another technique in the right half of the picture; default: none");
    group.add_choice("--filter", options.filter, FILTERS, "NAME",
                     "hard: the nearest texel, 3x3 (default), or soft: as wide as the penumbra of "
                     "a light with an extent");
    group.add("--ray-samples", options.samples, "N",
              "Rays to each light, of soft shadows that are cast; default: 16",
              within(1U, RayCaster::MOST_SAMPLES));
    group.add("--max-tiles", shadows.max_tiles, "K", "K of the budget: tiles; default: 2048");
    group.add("--atlas", shadows.atlas_extent, "N",
              "Texels of the atlas on a side, a power of two; its\n"
              "square times --atlas-fill is P of the budget; default:\n4096");
    // Smaller slots have no room for the filter's gutter.
    group.add("--tile-extent", shadows.tile_extent, "N",
              "Texels of the largest slot on a side, a power of two,\n128 (default) to 1024",
              within(128, 1024));
    group.add("--map-extent", shadows.map_extent, "N",
              "Texels of each importance map on a side; default:\n1024");
    group.add("--merge-ratio", shadows.merge_ratio, "X",
              "Tiles are merged below this part of the threshold for\n"
              "splitting; default: 0.8, 1: no hysteresis");
    group.add("--atlas-fill", shadows.atlas_fill, "X",
              "Share of the atlas that slots may take; default:\n0.875");
    group.add("--importance-decay", shadows.importance_decay, "X",
              "What is kept of what was needed, from frame to frame;\n"
              "default: 0.95, 0: nothing");
    group.add("--max-stretch", shadows.max_stretch, "X",
              "Of shadows, that texels follow; default: 4");
    group.add("--resolution-scale", shadows.resolution_scale, "X",
              "Shadow texels for each pixel, along a side; default: 1");
    group.add("--edge-scale", shadows.edge_scale, "X",
              "As many times more of them beside shadows' edges;\ndefault: 8");
}

void define_view(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup group(app, "View");
    group.add("--size", arguments.size, "WxH", "Of the window or the pictures; default: 1280x720");
    group.add_choice("--picture", options.display, DISPLAYS, "NAME",
                     "shaded (default), tiles, error: in red and blue\n"
                     "where ray casting says otherwise, or sides: shaded and\n"
                     "error side by side");
    group.add("--camera", arguments.camera, "X,Y,Z,YAW,PITCH",
              "Where it is, and where it looks, in degrees: 0,0 along\n-z, 90,0 along -x, 0,90 up",
              within(-FARTHEST, FARTHEST));
    group.add("--at", options.at, "S",
              "On the flight, at this second; default: above the scene, with --fly and --record 0",
              within(0.0F, 86400.0F));
    group.add_flag("--fly", options.flies, "Along the flight, from --at on");
    group.add("--device", options.device, "N|NAME",
              "Number of the Vulkan device or part of its name; see\n'quadtile devices'");
    group.add_flag("--validation", options.validation,
                   "With Vulkan's validation layer; its messages fail the run");
    group.add_flag("--log", options.log, "Says what the window shows, on standard error");
}

void define_pictures(CLI::App& app, Options& options) {
    OptionGroup group(app, "Pictures, without a window");
    group.add("--screenshot", options.screenshot, "OUT.png", "PNG of the last frame");
    group.add("--record", options.record, "DIR",
              "A PNG for each frame of the flight, into a folder");
    group.add("--frames", options.frames, "N",
              "That are drawn; default: 2 for --screenshot, the\nwhole flight for --record",
              within(1U, 1'000'000U));
    group.add("--fps", options.frames_per_second, "F", "Frames for each second; default: 60",
              within(0.1F, 1000.0F));
    group.add("--report", options.report, "FILE.json", "JSON: tiles and times of each frame");
    group.add_flag("--panel", options.panel, "With the panel, as in the window");
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
            throw UsageError("--camera and " + std::string(flight) + " contradict each other");
        }
    }
    if (!options.screenshot.empty() && !options.record.empty()) {
        throw UsageError("--screenshot and --record contradict each other");
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
        options.extent = vk::Extent2D(size.width, size.height);
    }
    if (app.count("--compare") > 0) {
        options.other = arguments.other;
    }
    if (options.other && options.display == Display::sides) {
        throw UsageError("--compare and --picture sides contradict each other");
    }
    if (options.display == Display::sides && options.extent.width < 2) {
        throw UsageError("--picture sides needs a --size of 2 pixels or more across");
    }
    if (app.count("--sun") > 0) {
        options.sun = checked("--sun", {arguments.sun[0], arguments.sun[1], arguments.sun[2]});
    }
    if (arguments.spots.size() > MOST_SPOTS) {
        throw UsageError("--spot is given " + std::to_string(arguments.spots.size()) +
                         " times; there are three spot lights at most");
    }
    for (const std::string& spot : arguments.spots) {
        options.spots.push_back(parse_spot(spot));
    }
    if (arguments.points.size() > MOST_POINTS) {
        throw UsageError("--point-light is given " + std::to_string(arguments.points.size()) +
                         " times; there are two at most");
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
