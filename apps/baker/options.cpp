#include "options.hpp"

#include "preview.hpp"

#include "arguments.hpp"
#include "load_scene.hpp"
#include "parse_arguments.hpp"
#include "platform.hpp"

#include <quadtile/version.h>

#include <CLI/CLI.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

namespace quadtile::baker {

using app::OptionGroup;
using app::within;

namespace {

constexpr std::uint64_t MIB = std::uint64_t{1} << 20U;
constexpr std::uint64_t LEAST_POOL_MIB = 16;
constexpr std::uint32_t LARGEST_EXTENT = 32768;
constexpr float FARTHEST = 1e9F;  // world units; farther points have too few digits

struct Preset {
    std::uint32_t directions;
    std::uint32_t direct_directions;
    std::uint32_t bounces;
    std::uint32_t sun_directions;
    std::uint32_t lamp_points;
    float pixels_per_texel;
    bool denoises;
};
// bench/RESULTS.md has times.
constexpr Preset MEDIUM{128, 1024, 4, 32, 64, 2.0F, true};
constexpr std::array<app::Named<Preset>, 4> PRESETS{
    {{"draft", {64, 256, 2, 16, 32, 1.5F, true}},
     {"medium", MEDIUM},
     {"high", {256, 4096, 6, 64, 256, 2.0F, false}},
     {"best", {1024, 16384, 8, 128, 1024, 2.0F, false}}}};

constexpr std::array<app::Named<LightUnits>, 3> LIGHT_UNITS{
    {{"auto", LightUnits::automatic},
     {"photometric", LightUnits::photometric},
     {"blender", LightUnits::blender}}};
constexpr std::array<app::Named<Quantity>, 4> QUANTITIES{
    {{"irradiance", Quantity::irradiance},
     {"radiance", Quantity::radiance},
     {"ambient-occlusion", Quantity::ambient_occlusion},
     {"shadow-mask", Quantity::shadow_mask}}};
constexpr std::array<app::Named<bool LightKinds::*>, 4> LIGHT_KINDS{
    {{"sky", &LightKinds::sky},
     {"suns", &LightKinds::suns},
     {"points", &LightKinds::points},
     {"emission", &LightKinds::emission}}};

constexpr std::array<app::Named<std::optional<bool>>, 3> DENOISE{
    {{"auto", std::nullopt}, {"on", true}, {"off", false}}};

// Values that become part of the options after parsing.
struct Arguments {
    Preset preset = MEDIUM;  // changed by further options
    std::string size;
    std::string preview_size;
    std::vector<float> sky;
    std::string lights;
    std::array<float, 3> sun_direction{};
    std::vector<float> sun_irradiance;
    float sun_diameter = 0.53F;
    std::array<float, 6> probe_box{};
    std::array<float, 6> camera{};
    std::uint64_t memory_mib = 256;
    std::uint32_t checkpoint_seconds = 30;
    std::filesystem::path checkpoint;
    bool no_checkpoint = false;
    float noise_percent = 0.0F;
    std::optional<bool> denoises;
};

Extent parse_extent(const std::string& option, const std::string& text) {
    const app::Size size = app::parse_size(option, text, LARGEST_EXTENT, true);
    return {size.width, size.height};
}

// Returns a colour; one number stands for all three.
glm::vec3 parse_colour(const std::string& option, const std::vector<float>& values) {
    if (values.size() != 1 && values.size() != 3) {
        throw UsageError(option + " takes one number or three, r,g,b");
    }
    return values.size() == 1 ? glm::vec3(values[0]) : glm::vec3(values[0], values[1], values[2]);
}

// Returns the first output that is given; empty: none is.
const std::filesystem::path& main_output(const Options& options) {
    return !options.output.empty()    ? options.output
           : !options.preview.empty() ? options.preview
           : !options.atlas.empty()   ? options.atlas
                                      : options.probes_output;
}

void define_scene(CLI::App& app, Options& options, Arguments& arguments) {
    app.add_option("SCENE", options.scene, "glTF 2.0 (.glb, .gltf) or OBJ (.obj)")->type_name("");
    OptionGroup map(app, "Lightmap");
    OptionGroup rare = map.rare();
    map.add("-o,--output", options.output, "FILE",
            "OpenEXR file for the lightmap: R, G, B, and A (1 if the texel was baked). Or a .glb "
            "file: SCENE, if it is glTF, with the lightmap as PNG (MOZ_lightmap). Or a .png: RGBM "
            "of 8 bits");
    rare.add("--lit-scene", options.lit_scene, "FILE",
             "Also write the .glb, beside an OpenEXR or PNG file");
    map.add(
        "--reuse", options.reuse, "FILE",
        "Light of an earlier bake, an OpenEXR file of --output: for pictures, probes and --only, "
        "without another bake of all");
    map.add(
           "--only", options.only, "NAME",
           "Bake only the texels of this object into the lightmap of --reuse; may be given several "
           "times")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    map.add(
        "--size", arguments.size, "WxH",
        "Texels: W or WxH; default: those of --reuse (but with --unwrap or --pack), else SCENE's "
        "asset.extras.lightmap_size, or else 1024");
    map.add("--texels-per-unit", options.texels_per_unit, "D",
            "Mean texels per world unit, instead of --size", within(1e-9F, 1e9F));
    map.add_flag(
        "--unwrap", options.unwrap,
        "Make new lightmap coordinates: charts of smooth surfaces, stretched by at most 1.3");
    map.add_flag("--pack", options.pack,
                 "Give each object its own place: objects with good lightmap coordinates keep "
                 "their layout, others get charts as with --unwrap");
    map.add("--margin", options.gutter_texels, "N",
            "Texels between charts of --unwrap and --pack; default: 2", within(0, 64));
    map.add("--page", options.page, "N",
            "As many lightmaps of N x N texels as --texels-per-unit (default here: 10) needs: "
            "FILE_0.exr, FILE_1.exr ...",
            within(16, LARGEST_EXTENT));
    map.add_choice(
        "--quantity", options.quantity, QUANTITIES, "NAME",
        "irradiance (default; for three.js), radiance: irradiance / pi (for Godot, "
        "Bevy, Unity), ambient-occlusion, or shadow-mask: the visible share of each light");
    rare.add("--ao-distance", options.occlusion_distance, "D",
             "World units from which on surfaces do not darken --quantity ambient-occlusion",
             within(1e-9F, 1e9F));
    map.add_flag(
        "--half", options.half,
        "Half floats, up to 65504, in the OpenEXR file; in a .glb of -o beside the 8 bits");
    map.add_flag("--directional", options.bake.directional,
                 "Also store spherical harmonics L1, in layers sh0 to sh3");
    rare.add("--dilate", options.dilation_rings, "N",
             "Texels that charts grow into empty space; default: 8", within(0, 1024));
}

void define_light(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup light(app, "Light");
    OptionGroup rare = light.rare();
    light.add("--sky", arguments.sky, "R,G,B",
              "Radiance of the sky; with --sky-image the factor of its pixels",
              within(0.0F, BRIGHTEST));
    light.add("--sky-image", options.sky_picture, "FILE",
              "OpenEXR in latitude and longitude, up at the top: its middle column is -Z, a "
              "quarter to the right +X");
    rare.add("--sky-rotation", options.sky_turn_degrees, "D",
             "Turn --sky-image about +Y by D degrees, counter-clockwise seen from above; default: "
             "0. Blender shows it as at -90",
             within(-360.0F, 360.0F));
    light.add("--sun-direction", arguments.sun_direction, "X,Y,Z",
              "A sun instead of those of SCENE: the direction of its light",
              within(-FARTHEST, FARTHEST));
    light.add("--sun", arguments.sun_irradiance, "R,G,B",
              "Irradiance of surfaces that face the sun of --sun-direction; default: 3",
              within(0.0F, BRIGHTEST));
    light.add("--sun-diameter", arguments.sun_diameter, "D",
              "Diameter of its disc in degrees; default: 0.53", within(0.0F, 90.0F));
    rare.add(
        "--light-radius", options.light_radius, "R",
        "Radius of point and spot lights without an extras.radius, for soft shadows; default: 0",
        within(0.0F, 1e6F));
    rare.add("--lights", arguments.lights, "LIST",
             "Lights to bake: sky, suns, points (point and spot lights), emission, and names of "
             "lights and of materials that emit light; default: all");
    rare.add_choice(
        "--light-units", options.light_units, LIGHT_UNITS, "NAME",
        "Units of SCENE's lux and candela relative to emission: photometric (the same), blender "
        "(divided by 683), or auto (default): blender for files of Blender with "
        "bright lights");
}

void define_bake(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup bake(app, "Bake");
    OptionGroup rare = bake.rare();
    // The first option, because CLI11 handles options in the order of their definition.
    bake.add_choice("--quality", arguments.preset, PRESETS, "NAME",
                    "draft (256 samples of direct light, 2 bounces), medium (1024, 4; default), "
                    "high (4096, 6), best (16384, 8); bounces have 1/4 to 1/16 of the samples");
    rare.add("--samples", arguments.preset.directions, "N",
             "Samples per bounce: directions over the hemisphere, each with its opposite; default: "
             "the preset's",
             within(1, 1 << 20));
    rare.add("--direct-samples", arguments.preset.direct_directions, "N",
             "Samples of direct light of emitters and sky: small emitters need many; default: the "
             "preset's",
             within(1, 1 << 20));
    bake.add("--noise", arguments.noise_percent, "P",
             "Double the samples until the noise is at most P percent of the mean light, up to "
             "65536 samples",
             within(0.01F, 100.0F));
    bake.add_choice("--denoise", arguments.denoises, DENOISE, "WHEN",
                    "on, off, or auto (default): for draft and medium");
    bake.add("--bounces", arguments.preset.bounces, "N",
             "Bounces of light; 0: only direct light; default: the preset's", within(0, 100));
    rare.add(
        "--sun-samples", arguments.preset.sun_directions, "N",
        "Samples of the disc of each sun, and of each point and spot light; default: the preset's",
        within(1, 65536));
    rare.add("--lamp-samples", arguments.preset.lamp_points, "N",
             "Samples of all emitters that are small beside the scene and have no emission "
             "texture; 0: directions find them; default: the preset's",
             within(0, 65536));
    rare.add("--pixels-per-texel", arguments.preset.pixels_per_texel, "D",
             "Rays per side of a lightmap texel; default: the preset's, 1.5 for draft, else 2",
             within(0.01F, 16.0F));
    bake.add("--seed", options.bake.seed, "N",
             "Seed of the random turn of the directions; default: 1",
             app::satisfying(app::whole_between(0, std::numeric_limits<std::uint64_t>::max())));
    rare.add("--memory", arguments.memory_mib, "MIB",
             "Memory for fragment lists in MiB; less costs time, never light; default: 256",
             within(LEAST_POOL_MIB, std::uint64_t{65536}));
    rare.add_flag("--reference", options.reference, "Bake on the CPU: slow, bit-identical");
    bake.add("--device", options.device, "N|NAME",
             "Number of the Vulkan device or part of its name; see 'quadtile devices'");
    bake.add("--gpus", options.gpus, "N",
             "Bake on the N best devices, or on N of those that --device names; default: 1",
             within(1, 64));
    rare.add("--threads", options.threads, "N", "CPU threads; default: all", within(1, 1024));
}

void define_probes(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup probes(app, "Probes");
    OptionGroup rare = probes.rare();
    probes.add("--probes", options.probe_counts, "X,Y,Z",
               "Light at points of a grid, for moving objects, as spherical harmonics: X, Y and Z "
               "points along the axes, in the middles of equal cells of the scene's box",
               within(1, 4096));
    rare.add("--probe-box", arguments.probe_box, "X,Y,Z,X,Y,Z",
             "Another box for --probes: lower corner, upper corner", within(-FARTHEST, FARTHEST));
    rare.add("--probe-points", options.probe_points, "FILE",
             "Instead of --probes: a text file with the three numbers of a point per line");
    probes.add("--probes-out", options.probes_output, "FILE",
               "File for their light: .json or .bin");
}

void define_run(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup run(app, "Run");
    OptionGroup rare = run.rare();
    run.add_flag("--resume", options.bake.resume, "Continue from the checkpoint, if there is one");
    run.add("--checkpoint", arguments.checkpoint, "FILE",
            "File of the checkpoint, removed at the end; default: the output with .checkpoint "
            "appended");
    rare.add("--checkpoint-interval", arguments.checkpoint_seconds, "S",
             "Seconds between checkpoints; default: 30", within(0, 86400));
    rare.add_flag("--no-checkpoint", arguments.no_checkpoint, "Write no checkpoint");
    run.add("--report", options.report, "FILE", "JSON file for times, tiles and memory");
    rare.add_flag("--validation", options.validation,
                  "Use Vulkan's validation layer; its messages fail the run");
    run.add_flag("-q,--quiet", options.quiet, "Print no progress and no summary");
}

void define_pictures(CLI::App& app, Options& options, Arguments& arguments) {
    OptionGroup pictures(app, "Pictures");
    OptionGroup rare = pictures.rare();
    pictures.add("--preview", options.preview, "FILE", "PNG file for a picture of the lit scene");
    pictures.add("--atlas", options.atlas, "FILE", "PNG file for a picture of the lightmap");
    rare.add("--preview-size", arguments.preview_size, "WxH", "Pixels; default: 1280x720");
    pictures.add("--camera", arguments.camera, "X,Y,Z,X,Y,Z",
                 "Its position, and the point it looks at; default: SCENE's camera, or else one "
                 "that sees everything",
                 within(-FARTHEST, FARTHEST));
    pictures.add("--exposure", options.exposure, "L", "Radiance of white; default: by the picture",
                 within(1e-12F, BRIGHTEST));
}

void check_scene(const CLI::App& app, const Options& options) {
    if (options.scene.empty()) {
        throw UsageError("no scene is given; give a SCENE, a .glb, .gltf or .obj file");
    }
    if (main_output(options).empty()) {
        throw UsageError("no output is given; give --output FILE.exr, or a picture or probes");
    }
    const bool is_scene = ending_of(options.output) == ".glb";
    if (!options.lit_scene.empty() && (is_scene || options.output.empty())) {
        throw UsageError("--lit-scene is for a .glb beside --output FILE.exr or FILE.png");
    }
    if (is_scene || !options.lit_scene.empty()) {
        if (!is_gltf(options.scene)) {
            throw UsageError((is_scene ? "--output '" + app::text_of(options.output)
                                       : "--lit-scene '" + app::text_of(options.lit_scene)) +
                             "' needs a glTF scene for the lightmap; export SCENE as .glb or "
                             ".gltf, or give only --output FILE.exr");
        }
    }
    const bool is_picture = ending_of(options.output) == ".png";
    if (((is_scene || is_picture) && options.bake.directional) ||
        ((is_scene || is_picture || !options.lit_scene.empty()) &&
         options.quantity >= Quantity::ambient_occlusion)) {
        throw UsageError(
            "a .glb or .png cannot hold --directional or another --quantity than irradiance and "
            "radiance; give only --output FILE.exr");
    }
    if (is_picture && options.half) {
        throw UsageError("--half is for an .exr or a .glb; a .png has 8 bits");
    }
    if (!options.only.empty() && (options.reuse.empty() || options.output.empty())) {
        throw UsageError(
            "--only needs --reuse FILE, a lightmap with the light of all other objects, and "
            "--output FILE, which may be the same");
    }
    if (options.extent && options.texels_per_unit) {
        throw UsageError("--size and --texels-per-unit exclude each other; give one of them");
    }
    for (const char* const option : {"--margin", "--page"}) {
        if (app.count(option) > 0 && !makes_coordinates(options)) {
            throw UsageError(
                std::string(option) +
                " needs --unwrap or --pack, since the scene's file places other charts");
        }
    }
    if (options.unwrap && options.pack) {
        throw UsageError(
            "--unwrap makes all lightmap coordinates anew, but --pack keeps good ones; give one "
            "of them");
    }
    if (options.page && options.extent) {
        throw UsageError("--page N and --size exclude each other: a page has N x N texels");
    }
}

LightKinds parse_lights(const std::string& list) {
    LightKinds kinds{.sky = false, .suns = false, .points = false, .emission = false, .names = {}};
    std::istringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
        const auto* const found =
            std::ranges::find(LIGHT_KINDS, name, [](const auto& kind) { return kind.name; });
        if (found == LIGHT_KINDS.end()) {
            kinds.names.push_back(name);
        } else {
            kinds.*found->value = true;
        }
    }
    return kinds;
}

// Applies quantities that define the light.
void apply_quantity(const CLI::App& app, Options& options) {
    const bool is_mask = options.quantity == Quantity::shadow_mask;
    if (options.occlusion_distance && options.quantity != Quantity::ambient_occlusion) {
        throw UsageError("--ao-distance needs --quantity ambient-occlusion");
    }
    if (!is_mask && options.quantity != Quantity::ambient_occlusion) {
        return;
    }
    constexpr std::array OF_MASKS{"--lights", "--sun-direction", "--sun-diameter",
                                  "--light-radius"};
    for (const char* const option :
         {"--sky", "--sky-image", "--sun", "--light-units", "--bounces", "--directional", "--reuse",
          "--probes", "--probe-points", "--lights", "--sun-direction", "--light-radius"}) {
        if (app.count(option) > 0 &&
            !(is_mask && std::ranges::count(OF_MASKS, std::string_view(option)) > 0)) {
            throw UsageError("--quantity " + name_of(options.quantity) +
                             " has its own light; leave out " + option);
        }
    }
    options.lights = {.sky = !is_mask,
                      .suns = is_mask && options.lights.suns,
                      .points = is_mask && options.lights.points,
                      .emission = false,
                      .names = options.lights.names};
    options.sky = glm::vec3(1.0F);
    options.bake.bounces = 0;
    options.bake.light_shares = is_mask;
}

void apply_light(const CLI::App& app, const Arguments& arguments, Options& options) {
    if (app.count("--lights") > 0) {
        options.lights = parse_lights(arguments.lights);
    }
    if (!arguments.sky.empty()) {
        options.sky = parse_colour("--sky", arguments.sky);
    }
    if (app.count("--sky-rotation") > 0 && options.sky_picture.empty()) {
        throw UsageError("--sky-rotation needs --sky-image");
    }
    if (app.count("--sun-direction") == 0) {
        for (const char* const option : {"--sun", "--sun-diameter"}) {
            if (app.count(option) > 0) {
                throw UsageError(std::string(option) + " needs --sun-direction");
            }
        }
        return;
    }
    const std::array<float, 3>& to = arguments.sun_direction;
    const glm::vec3 direction(to[0], to[1], to[2]);
    const float length = std::hypot(direction.x, direction.y, direction.z);
    if (!(length > 1.0F / FARTHEST)) {
        throw UsageError("--sun-direction takes a direction, not 0,0,0");
    }
    options.sun = Sun{.direction = direction / length,
                      .irradiance = arguments.sun_irradiance.empty()
                                        ? glm::vec3(3.0F)
                                        : parse_colour("--sun", arguments.sun_irradiance),
                      .angular_diameter_degrees = arguments.sun_diameter};
}

// Returns a path beside the output. Names beyond 255 bytes, the limit of file systems, are cut.
std::filesystem::path beside(const std::filesystem::path& output, const std::string& name,
                             const std::string& ending) {
    constexpr std::size_t LONGEST_NAME = 255;
    return output.parent_path() /
           app::path_of(name.substr(0, LONGEST_NAME - std::min(LONGEST_NAME, ending.size())) +
                        ending);
}

void apply_probes(const CLI::App& app, const Arguments& arguments, Options& options) {
    const std::string given = app::only_one_of(app, {"--probes", "--probe-points"});
    if (given.empty() != options.probes_output.empty()) {
        throw UsageError(given.empty() ? "--probes-out needs --probes X,Y,Z or --probe-points FILE"
                                       : given + " needs --probes-out FILE.json or FILE.bin");
    }
    const auto& [x, y, z] = options.probe_counts;
    if (std::uint64_t{x} * y * z > MOST_PROBES) {
        throw UsageError("--probes " + std::to_string(x) + "," + std::to_string(y) + "," +
                         std::to_string(z) + " are more points than " +
                         std::to_string(MOST_PROBES) +
                         "; take fewer, or bake parts of --probe-box");
    }
    if (app.count("--probe-box") == 0) {
        return;
    }
    const std::array<float, 6>& box = arguments.probe_box;
    options.probe_box = {{box[0], box[1], box[2]}, {box[3], box[4], box[5]}};
    if (given != "--probes" ||
        glm::any(glm::lessThan(options.probe_box->high, options.probe_box->low))) {
        throw UsageError(given != "--probes"
                             ? "--probe-box needs --probes X,Y,Z"
                             : "--probe-box takes the lower corner first, then the upper one");
    }
}

Options options_of(const CLI::App& app, const Arguments& arguments, Options options) {
    if (!arguments.size.empty()) {
        options.extent = parse_extent("--size", arguments.size);
    }
    if (!arguments.preview_size.empty()) {
        options.preview_extent = parse_extent("--preview-size", arguments.preview_size);
    }
    check_scene(app, options);
    (void)app::only_one_of(app, {"--reuse", "--page"});
    (void)app::only_one_of(app, {"--reference", "--gpus"});
    apply_probes(app, arguments, options);
    apply_light(app, arguments, options);

    const Preset& preset = arguments.preset;
    options.bake.directions = preset.directions;
    options.bake.direct_directions = preset.direct_directions;
    options.bake.noise = arguments.noise_percent / 100.0;
    if (options.bake.noise > 0.0 &&
        std::min(options.bake.directions, options.bake.direct_directions) < 2) {
        throw UsageError("--noise compares two halves of the samples; give --samples 2 or more");
    }
    options.bake.bounces = preset.bounces;
    options.bake.sun_directions = preset.sun_directions;
    options.bake.lamp_points = preset.lamp_points;
    options.denoises =
        arguments.denoises.value_or(preset.denoises && options.quantity != Quantity::shadow_mask);
    options.pixels_per_texel = preset.pixels_per_texel;
    apply_quantity(app, options);
    options.pool_bytes = arguments.memory_mib * MIB;

    if (arguments.no_checkpoint && (options.bake.resume || !arguments.checkpoint.empty())) {
        throw UsageError(
            "--no-checkpoint excludes --resume and --checkpoint; leave one of them out");
    }
    if (!arguments.no_checkpoint) {
        const std::filesystem::path& output = main_output(options);
        options.bake.checkpoint =
            arguments.checkpoint.empty()
                ? beside(output, app::text_of(output.filename()), ".checkpoint")
                : arguments.checkpoint;
    }
    options.bake.checkpoint_interval = std::chrono::seconds(arguments.checkpoint_seconds);

    if (app.count("--camera") > 0) {
        const std::array<float, 6>& camera = arguments.camera;
        if (std::equal(camera.begin(), camera.begin() + 3, camera.begin() + 3)) {
            throw UsageError(
                "--camera takes two different points, its position and the point it looks at");
        }
        options.camera = Camera{.position = {camera[0], camera[1], camera[2]},
                                .target = {camera[3], camera[4], camera[5]},
                                .vertical_field_degrees = 60.0F};
    }
    app::check_files(file_arguments(options));
    app::check_ending("--output", options.output, {"exr", "glb", "png"});
    app::check_ending("--reuse", options.reuse, {"exr"});
    app::check_ending("--lit-scene", options.lit_scene, {"glb"});
    app::check_ending("--sky-image", options.sky_picture, {"exr"});
    app::check_ending("--preview", options.preview, {"png"});
    if (!options.preview.empty() && !HAS_PREVIEW) {
        throw UsageError(
            "--preview: this quadtile-bake was built without Embree, which draws it; "
            "give --atlas for a picture of the lightmap");
    }
    app::check_ending("--atlas", options.atlas, {"png"});
    app::check_ending("--probes-out", options.probes_output, {"json", "bin"});
    return options;
}

}  // namespace

std::filesystem::path page_path(const Options& options, const std::filesystem::path& path,
                                std::uint32_t page) {
    if (!options.page || path.empty() || ending_of(path) == ".glb") {
        return path;
    }
    return path.parent_path() / (app::text_of(path.stem()) + "_" + std::to_string(page) +
                                 app::text_of(path.extension()));
}

std::filesystem::path partial_path(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) &&
        !std::filesystem::is_regular_file(path, ignored)) {
        return path;
    }
    return beside(path, app::text_of(path.stem()), ".partial" + app::text_of(path.extension()));
}

std::vector<app::FileArgument> file_arguments(const Options& options, std::uint32_t pages) {
    std::vector<app::FileArgument> files{{"SCENE", options.scene, false},
                                         {"--sky-image", options.sky_picture, false},
                                         {"--lit-scene", options.lit_scene, true},
                                         {"--preview", options.preview, true},
                                         {"--checkpoint", options.bake.checkpoint, true},
                                         {"--report", options.report, true},
                                         {"--probe-points", options.probe_points, false},
                                         {"--probes-out", options.probes_output, true}};
    std::error_code ignored;
    if (options.reuse != options.output &&
        !std::filesystem::equivalent(options.reuse, options.output, ignored)) {
        files.push_back({"--reuse", options.reuse, false});
    }
    for (std::uint32_t page = 0; page < pages; ++page) {
        if (page == 0 || ending_of(options.output) != ".glb") {
            files.push_back({"--output", page_path(options, options.output, page), true});
        }
        files.push_back({"--atlas", page_path(options, options.atlas, page), true});
    }
    for (std::size_t i = 0, count = files.size(); i < count; ++i) {
        const app::FileArgument file = files[i];
        const std::filesystem::path partial = partial_path(file.path);
        if (file.is_written && !file.path.empty() && file.name != "--checkpoint" &&
            partial != file.path) {
            files.push_back({"the partial file of " + file.name, partial, true});
        }
    }
    return files;
}

Options parse_options(int argc, const char* const* argv) {
    CLI::App app(
        "Bakes the light of a scene into its lightmap, by adaptive ray-bundle tracing on a GPU",
        "quadtile-bake");
    Options options;
    Arguments arguments;
    app.footer(
        "Examples: quadtile-bake room.glb -o room.exr --sky 0.5\n"
        "          quadtile-bake room.glb -o lit.glb --sky 0.5 --preview room.png\n"
        "Exit status: 0, 1 (failed; standard error says why), 2 (wrong arguments) or 130 "
        "(interrupted)");
    app.set_version_flag("--version", "quadtile-bake " QUADTILE_VERSION_STRING,
                         "Print the version");
    define_scene(app, options, arguments);
    define_light(app, options, arguments);
    define_bake(app, options, arguments);
    define_probes(app, options, arguments);
    define_run(app, options, arguments);
    define_pictures(app, options, arguments);
    return app::parse_arguments(app, argc, argv,
                                [&] { return options_of(app, arguments, options); });
}

}  // namespace quadtile::baker
