// Quality and GPU time of fitted shadow maps: distance of hard shadows from rays, and changed
// tiles; beside one map of the whole scene, and tight and stable cascades.

#include "measurements.hpp"

#include "arguments.hpp"
#include "city_scene.hpp"
#include "load_scene.hpp"

#include <glm/geometric.hpp>

#include <charconv>
#include <map>
#include <stdexcept>

namespace quadtile::shadow {
namespace {

struct Arguments {
    std::string scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    std::string size = "1280x720";
    std::vector<float> sun_direction;
    float sun_radius_degrees = Light{}.radius;
    std::uint32_t moving = 0;
    Filter filter = Filter::hard;
    float seconds = 60.0F;
    std::uint32_t frames = 60;
    ShadowOptions shadow;
    std::string json;
};

void define_options(CLI::App& app, Arguments& arguments);
void measure(const Arguments& arguments);

}  // namespace
}  // namespace quadtile::shadow

int main(int argc, char** argv) {
    using quadtile::shadow::Arguments;
    return quadtile::bench::run_program<Arguments>(
        argc, argv, "quadtile_shadow_bench", "Errors and times of fitted shadow maps",
        quadtile::shadow::define_options,
        [](const CLI::App&, const Arguments& arguments) { quadtile::shadow::measure(arguments); });
}

namespace quadtile::shadow {
namespace {

using bench::formatted;
using bench::print;

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF, OBJ, or city[:TRIANGLES]");
    app.add_option("--size", arguments.size, "Pixels of the picture: WxH");
    app.add_option("--sun-direction", arguments.sun_direction,
                   "Where the light of the sun goes, X,Y,Z, instead of the scene's")
        ->delimiter(',')
        ->expected(3);
    app.add_option("--sun-radius", arguments.sun_radius_degrees,
                   "Radius of its disc in the sky, degrees, for --filter soft")
        ->check(CLI::Range(0.0F, 20.0F));
    app.add_option("--moving", arguments.moving, "Moving boxes beside the flight")
        ->check(CLI::Range(0U, 10'000U));
    app.add_option("--filter", arguments.filter, "Of the picture, for its time")
        ->transform(CLI::CheckedTransformer(std::map<std::string, Filter>{
            {"hard", Filter::hard}, {"3x3", Filter::box}, {"soft", Filter::soft}}));
    app.add_option("--frames", arguments.frames, "That are compared with rays")
        ->check(CLI::Range(1, 100000));
    app.add_option("--seconds", arguments.seconds,
                   "Of the flight, whose tiles and times are measured at 60 frames a second")
        ->check(CLI::Range(0.0F, 3600.0F));
    app.add_option("--atlas", arguments.shadow.atlas_extent, "Texels of the atlas on a side");
    app.add_option("--map-extent", arguments.shadow.map_extent,
                   "Texels of importance maps on a side");
    app.add_option("--json", arguments.json, "File for all numbers");
}

// ---- Scene and flight

constexpr std::uint64_t CITY_TRIANGLES = 1'000'000;
constexpr baker::Extent CITY_LIGHT_MAP{16384, 16384};  // unused, but the scene must fit

baker::Scene load(const std::string& name) {
    const std::string city = "city";
    if (!name.starts_with(city) || (name.size() > city.size() && name[city.size()] != ':')) {
        return baker::load_scene(name, baker::LightMapCoordinates::ignore).scene;
    }
    std::uint64_t triangles = CITY_TRIANGLES;
    if (name.size() > city.size()) {
        const char* const first = name.data() + city.size() + 1;
        const char* const last = name.data() + name.size();
        const auto [end, error] = std::from_chars(first, last, triangles);
        if (error != std::errc() || end != last) {
            throw std::runtime_error("'" + name +
                                     "' is no city: give city:TRIANGLES, a whole number");
        }
    }
    return baker::city_scene(triangles, CITY_LIGHT_MAP);
}

Light sun_of(const Arguments& arguments, const baker::Scene& scene) {
    Light sun{.radius = arguments.sun_radius_degrees};
    if (!arguments.sun_direction.empty()) {
        sun.direction = {arguments.sun_direction[0], arguments.sun_direction[1],
                         arguments.sun_direction[2]};
    } else if (!scene.suns.empty()) {
        sun.direction = scene.suns.front().direction;
    }
    return sun;
}

// On both sides of the flight, a little below it, out of the camera's way.
void add_moving_boxes(Geometry& geometry, const Flight& flight, std::uint32_t count) {
    const float size = 0.005F * glm::distance(low_of(geometry.bounds), high_of(geometry.bounds));
    for (std::uint32_t i = 0; i < count; ++i) {
        const float part = (static_cast<float>(i) + 0.5F) / static_cast<float>(count);
        const Camera camera = flight.at(part * flight.seconds());
        const glm::vec3 right = glm::normalize(glm::cross(camera.forward(), {0.0F, 1.0F, 0.0F}));
        const float sideways = (i / 2 % 2 == 0 ? 1.0F : -1.0F) * (3.0F + static_cast<float>(i % 5));
        add_moving_box(geometry,
                       camera.position + size * (sideways * right - glm::vec3(0.0F, 1.0F, 0.0F)),
                       size);
    }
}

vk::Extent2D extent_of(const std::string& size) {
    constexpr std::uint32_t LARGEST = 16384;
    const app::Size extent = app::parse_size("--size", size, LARGEST, false);
    return {extent.width, extent.height};
}

// ---- Tables

const std::vector<Variant> VARIANTS{{"fitted", Technique::fitted},
                                    {"fitted_without_hysteresis", Technique::fitted, false},
                                    {"single", Technique::single},
                                    {"cascades", Technique::cascades},
                                    {"stable_cascades", Technique::stable_cascades}};

void describe(const Arguments& arguments, const ShadowOptions& options, std::size_t triangles,
              const std::string& device, bench::Json& json) {
    json = {{"scene", arguments.scene},
            {"triangles", triangles},
            {"device", device},
            {"size", arguments.size},
            {"layers", options.lights},
            {"atlas_extent", options.atlas_extent},
            {"map_extent", options.map_extent},
            {"max_tiles", options.max_tiles},
            {"tile_extent", options.tile_extent},
            {"gutter", options.gutter},
            {"merge_ratio", options.merge_ratio},
            {"atlas_fill", options.atlas_fill},
            {"importance_decay", options.importance_decay},
            {"resolution_scale", options.resolution_scale},
            {"edge_scale", options.edge_scale},
            {"max_stretch", options.max_stretch}};
    print(formatted(
        "%s: %zu triangles, %s, %s pixels, %u layers; atlas %u, map %u, %u tiles of %u "
        "texels at most",
        arguments.scene.c_str(), triangles, device.c_str(), arguments.size.c_str(), options.lights,
        options.atlas_extent, options.map_extent, options.max_tiles, options.tile_extent));
}

void measure_runs(Measurements& measurements, bool has_timestamps, bench::Tables& tables) {
    std::vector<Measurements::Run> runs;
    print("\nTiles from frame to frame at 60 frames a second");
    for (const Variant& variant : VARIANTS) {
        runs.push_back(measurements.run(variant));
        if (variant.technique == Technique::fitted) {
            tables.add("tiles", variant.name, runs.back().tiles);
        }
    }
    if (!has_timestamps) {
        print("\nThe device has no timestamps.");
        return;
    }
    print("\nTime of the GPU, microseconds");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        tables.add("gpu_microseconds", VARIANTS[i].name, runs[i].microseconds);
    }
}

void measure(const Arguments& arguments) {
    const baker::Scene scene = load(arguments.scene);
    Geometry geometry = make_geometry(scene);
    Filming filming{.flight = arguments.scene.starts_with("city")
                                  ? city_flight(geometry.bounds)
                                  : flight_for(arguments.scene, geometry.bounds),
                    .sun = sun_of(arguments, scene),
                    .filter = arguments.filter,
                    .frames = arguments.frames,
                    .seconds = arguments.seconds};
    add_moving_boxes(geometry, filming.flight, arguments.moving);
    ShadowOptions options = arguments.shadow;
    options.lights = filming.sun.layers();
    Machine machine(false);
    Rig rig(machine, geometry, extent_of(arguments.size), options);
    bench::Tables tables;
    describe(arguments, options, scene.triangles.size(),
             machine.gpu.physical_device().getProperties().deviceName.data(), tables.json);

    Measurements measurements(rig, options, filming);
    print(formatted("\nHard shadows against rays, %% of the pixels with surfaces, %u frames",
                    filming.frames));
    for (const Variant& variant : VARIANTS) {
        tables.add("errors_percent", variant.name, measurements.errors(variant));
    }
    measure_runs(measurements, machine.gpu.timestamp_milliseconds() > 0.0, tables);
    bench::save(tables.json, arguments.json);
}

}  // namespace
}  // namespace quadtile::shadow
