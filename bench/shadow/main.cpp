// Quality and GPU time of fitted shadow maps: distance of hard shadows from rays, and changed
// tiles; beside one map of the whole scene, and tight and stable cascades.

#include "measurements.hpp"

#include "arguments.hpp"
#include "city_scene.hpp"
#include "load_scene.hpp"

#include <charconv>
#include <random>
#include <stdexcept>

namespace quadtile::shadow {
namespace {

struct Arguments {
    std::string scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    std::string size = "1280x720";
    float seconds = 60.0F;
    std::uint32_t frames = 60;
    std::uint32_t lamps = 0;
    std::uint32_t moving = 0;
    ShadowOptions shadow;
    std::string json;
};

using bench::formatted;
using bench::print;

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF, OBJ, or city[:TRIANGLES]");
    app.add_option("--size", arguments.size, "Pixels of the picture: WxH");
    app.add_option("--frames", arguments.frames, "That are compared with rays")
        ->check(CLI::Range(1, 100000));
    app.add_option("--seconds", arguments.seconds,
                   "Of the flight, whose tiles and times are measured at 60 frames a second")
        ->check(CLI::Range(0.0F, 3600.0F));
    app.add_option(
           "--lamps", arguments.lamps,
           "Point lights at random places: their errors beside those of cube maps, and times")
        ->check(CLI::Range(0U, MOST_LIGHTS - 1));
    app.add_option("--moving", arguments.moving, "Moving boxes");
    app.add_option("--atlas", arguments.shadow.atlas_extent, "Texels of the atlas on a side");
    app.add_option("--map-extent", arguments.shadow.map_extent,
                   "Texels of importance maps on a side");
    app.add_option("--max-tiles", arguments.shadow.max_tiles, "Tiles of all lights together");
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

vk::Extent2D extent_of(const std::string& size) {
    constexpr std::uint32_t LARGEST = 16384;
    const app::Size extent = app::parse_size("--size", size, LARGEST, false);
    return {extent.width, extent.height};
}

// Point lights that each reach an eighth of the scene's diagonal.
std::vector<Light> lamps_in(const ShadowBox& bounds, std::uint32_t count) {
    std::mt19937 random(1);
    std::vector<Light> lamps;
    for (std::uint32_t i = 0; i < count; ++i) {
        Light lamp{.kind = Light::Kind::point,
                   .range = glm::distance(low_of(bounds), high_of(bounds)) / 8.0F};
        for (int axis = 0; axis < 3; ++axis) {
            lamp.position[axis] = std::uniform_real_distribution<float>(
                low_of(bounds)[axis], high_of(bounds)[axis])(random);
        }
        lamps.push_back(lamp);
    }
    return lamps;
}

// ---- Tables

const std::vector<Variant> OF_A_SUN{{"fitted", Technique::fitted},
                                    {"single", Technique::single},
                                    {"cascades", Technique::cascades},
                                    {"stable_cascades", Technique::stable_cascades}};
const std::vector<Variant> OF_LAMPS{{"fitted", Technique::fitted}, {"cubes", Technique::cubes}};

void measure_runs(Measurements& measurements, const std::vector<Variant>& variants,
                  bool has_timestamps, bench::Tables& tables) {
    std::vector<Measurements::Run> runs;
    print("\nTiles from frame to frame at 60 frames a second");
    for (const Variant& variant : variants) {
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
        tables.add("gpu_microseconds", variants[i].name, runs[i].microseconds);
    }
}

void measure(Arguments arguments) {
    const baker::Scene scene = load(arguments.scene);
    Geometry geometry = make_geometry(scene);
    add_moving_boxes(geometry, arguments.moving);
    Filming filming{.flight = arguments.scene.starts_with("city")
                                  ? city_flight(geometry.bounds)
                                  : flight_for(arguments.scene, geometry.bounds),
                    .frames = arguments.frames,
                    .seconds = arguments.seconds};
    filming.lights.resize(1);
    if (!scene.suns.empty()) {
        filming.lights.front().direction = scene.suns.front().direction;
    }
    for (const Light& lamp : lamps_in(geometry.bounds, arguments.lamps)) {
        filming.lights.push_back(lamp);
        filming.counted = ~1U;
    }
    const std::vector<Variant>& variants = arguments.lamps > 0 ? OF_LAMPS : OF_A_SUN;
    arguments.shadow.lights = layers_of(filming.lights);
    Machine machine(false);
    Rig rig(machine, geometry, extent_of(arguments.size), arguments.shadow);
    bench::Tables tables;
    print(formatted(
        "%s: %zu triangles, %s, %s pixels; atlas %u, map %u", arguments.scene.c_str(),
        scene.triangles.size(), machine.gpu.physical_device().getProperties().deviceName.data(),
        arguments.size.c_str(), arguments.shadow.atlas_extent, arguments.shadow.map_extent));

    Measurements measurements(rig, arguments.shadow, filming);
    print(formatted("\nHard shadows against rays, %% of the pixels with surfaces, %u frames",
                    filming.frames));
    for (const Variant& variant : variants) {
        tables.add("errors_percent", variant.name, measurements.errors(variant));
    }
    measure_runs(measurements, variants, machine.gpu.timestamp_milliseconds() > 0.0, tables);
    bench::save(tables.json, arguments.json);
}

}  // namespace
}  // namespace quadtile::shadow

int main(int argc, char** argv) {
    using quadtile::shadow::Arguments;
    return quadtile::bench::run_program<Arguments>(
        argc, argv, "quadtile_shadow_bench", "Errors and times of fitted shadow maps",
        quadtile::shadow::define_options,
        [](const CLI::App&, const Arguments& arguments) { quadtile::shadow::measure(arguments); });
}
