// Quality and GPU time of fitted shadow maps: distance of hard shadows from rays, steadiness, and
// changed tiles; beside one map of the whole scene, and tight and stable cascades.

#include "shadow_measurements.hpp"
#include "tables.hpp"

#include "arguments.hpp"
#include "load_scene.hpp"
#include "options_json.hpp"

#include <glm/geometric.hpp>

#include <charconv>
#include <stdexcept>

namespace quadtile::shadow {
namespace {

using bench::formatted;
using bench::print;

struct Arguments {
    std::string scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    std::string size = "1280x720";
    std::vector<float> sun_direction;
    float sun_degrees_per_second = 0.0F;
    std::uint32_t spots = 0;
    float seconds = 60.0F;
    std::uint32_t frames = 60;
    float frames_per_second = 0.0F;
    std::uint32_t flicker_poses = 8;
    ShadowOptions shadow;
    std::string json;
    std::string pictures;
    std::uint32_t picture_count = 4;
    bool validation = false;
};

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

// Returns a sun, and spots along the flight that look ahead and down.
std::vector<Light> lights_of(const Arguments& arguments, const baker::Scene& scene,
                             const Flight& flight) {
    Light sun;
    if (!arguments.sun_direction.empty()) {
        sun.direction = {arguments.sun_direction[0], arguments.sun_direction[1],
                         arguments.sun_direction[2]};
    } else if (!scene.suns.empty()) {
        sun.direction = scene.suns.front().direction;
    }
    std::vector<Light> lights{sun};
    for (std::uint32_t i = 0; i < arguments.spots; ++i) {
        const float share = (static_cast<float>(i) + 0.5F) / static_cast<float>(arguments.spots);
        const Camera camera = flight.at(share * flight.seconds());
        lights.push_back({.kind = Light::Kind::spot,
                          .direction = camera.forward() + glm::vec3(0.0F, -0.3F, 0.0F),
                          .position = camera.position,
                          .angle_degrees = 80.0F});
    }
    return lights;
}

vk::Extent2D extent_of(const std::string& size) {
    constexpr std::uint32_t LARGEST = 16384;
    const app::Size extent = app::parse_size("--size", size, LARGEST, false);
    return {extent.width, extent.height};
}

// ---- Tables

class Bench {
 public:
    Bench(const Arguments& arguments, const std::string& scene_name)
        : arguments_(arguments), extent_(extent_of(arguments.size)) {
        const baker::Scene scene = load(scene_name);
        const Geometry geometry = make_geometry(scene);
        filming_ = {.flight = scene_name.starts_with("city")
                                  ? city_flight(geometry.bounds)
                                  : flight_for(scene_name, geometry.bounds),
                    .frames = arguments.frames,
                    .frames_per_second = arguments.frames_per_second,
                    .seconds = arguments.seconds,
                    .sun_degrees_per_second = arguments.sun_degrees_per_second,
                    .flicker_poses = arguments.flicker_poses};
        filming_.lights = lights_of(arguments, scene, filming_.flight);
        options_ = arguments.shadow;
        options_.lights = static_cast<std::uint32_t>(filming_.lights.size());
        frames_.emplace(geometry, extent_, options_, arguments.validation);
        variants_ = {{"fitted", Technique::fitted},
                     {"fitted_without_hysteresis", Technique::fitted, false},
                     {"single", Technique::single},
                     {"cascades", Technique::cascades},
                     {"stable_cascades", Technique::stable_cascades}};
        describe(scene_name, scene.triangles.size());
    }

    void run() {
        Measurements measure(*frames_, options_, filming_);
        print(formatted("\nHard shadows against rays, %% of the pixels with surfaces, %u frames",
                        filming_.frames));
        for (const Variant& variant : variants_) {
            tables_.add("errors_percent", variant.name, measure.errors(variant));
        }
        measure_runs(measure);
        print(
            formatted("\nPixels whose shadows change from frame to frame, while the camera "
                      "trembles by less than a pixel around %u places",
                      filming_.flicker_poses));
        for (const Variant& variant : variants_) {
            tables_.add("flicker", variant.name, measure.flicker(variant));
        }
        if (!arguments_.pictures.empty()) {
            for (const Variant& variant : variants_) {
                measure.save_pictures(variant, arguments_.picture_count, arguments_.pictures);
            }
        }
        bench::save(tables_.json, arguments_.json);
        if (frames_->validation_messages() > 0) {
            throw std::runtime_error("the validation layer has objections");
        }
    }

 private:
    void describe(const std::string& scene, std::size_t triangles) {
        tables_.json = {{"scene", scene},
                        {"triangles", triangles},
                        {"device", frames_->device_name()},
                        {"flight", filming_.flight.name},
                        {"width", extent_.width},
                        {"height", extent_.height}};
        tables_.json.update(options_json(options_));
        print(
            formatted("%s: %zu triangles, %s, %u x %u pixels, %u lights; atlas %u, map %u, %u "
                      "tiles of %u texels at most",
                      scene.c_str(), triangles, frames_->device_name().c_str(), extent_.width,
                      extent_.height, options_.lights, options_.atlas_extent, options_.map_extent,
                      options_.max_tiles, options_.tile_extent));
    }

    void measure_runs(Measurements& measure) {
        std::vector<Measurements::Run> runs;
        print("\nTiles from frame to frame at 60 frames a second");
        for (const Variant& variant : variants_) {
            runs.push_back(measure.run(variant));
            if (variant.technique == Technique::fitted) {
                tables_.add("tiles", variant.name, runs.back().tiles);
            }
        }
        if (!frames_->has_timestamps()) {
            print("\nThe device has no timestamps.");
            return;
        }
        print("\nTime of the GPU, microseconds");
        for (std::size_t i = 0; i < runs.size(); ++i) {
            tables_.add("gpu_microseconds", variants_[i].name, runs[i].microseconds);
        }
    }

    const Arguments& arguments_;
    vk::Extent2D extent_;
    Filming filming_;
    ShadowOptions options_;
    std::optional<ShadowFrames> frames_;
    std::vector<Variant> variants_;
    bench::Tables tables_;
};

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF, OBJ, or city[:TRIANGLES]");
    app.add_option("--size", arguments.size, "Pixels of the picture: WxH");
    app.add_option("--sun-direction", arguments.sun_direction,
                   "Where the light of the sun goes, X,Y,Z, instead of the scene's")
        ->delimiter(',')
        ->expected(3);
    app.add_option("--sun-turn", arguments.sun_degrees_per_second,
                   "Degrees per second by which the sun turns around the vertical axis")
        ->check(CLI::Range(-360.0F, 360.0F));
    app.add_option("--spots", arguments.spots, "Spot lights beside the sun, along the flight")
        ->check(CLI::Range(0U, SHADOW_MAX_LIGHTS - 1));
    app.add_option("--frames", arguments.frames, "That are compared with rays")
        ->check(CLI::Range(1, 100000));
    app.add_option("--fps", arguments.frames_per_second,
                   "Of these frames, from the flight's beginning; 0: spread over the flight")
        ->check(CLI::Range(0.0F, 1000.0F));
    app.add_option("--seconds", arguments.seconds,
                   "Of the flight, whose tiles and times are measured at 60 frames a second")
        ->check(CLI::Range(0.0F, 3600.0F));
    app.add_option("--flicker-poses", arguments.flicker_poses, "Places where the camera trembles");
    app.add_option("--atlas", arguments.shadow.atlas_extent, "Texels of the atlas on a side");
    app.add_option("--map-extent", arguments.shadow.map_extent,
                   "Texels of importance maps on a side");
    app.add_option("--max-tiles", arguments.shadow.max_tiles, "Tiles of all lights");
    app.add_option("--tile-extent", arguments.shadow.tile_extent,
                   "Texels of the largest slot on a side");
    app.add_option("--gutter", arguments.shadow.gutter, "Texels at each edge of a slot");
    app.add_option("--merge-ratio", arguments.shadow.merge_ratio,
                   "Of the hysteresis; there are rows without it, too");
    app.add_option("--resolution-scale", arguments.shadow.resolution_scale,
                   "Shadow texels for each pixel, along a side");
    app.add_option("--edge-scale", arguments.shadow.edge_scale,
                   "As many times more of them beside shadows' edges");
    app.add_option("--atlas-fill", arguments.shadow.atlas_fill,
                   "Share of the atlas that slots may take");
    app.add_option("--importance-decay", arguments.shadow.importance_decay,
                   "What is kept of what was needed, from frame to frame");
    app.add_option("--max-stretch", arguments.shadow.max_stretch,
                   "Of shadows where light grazes, that texels follow");
    app.add_option("--json", arguments.json, "File for all numbers");
    app.add_option("--pictures", arguments.pictures, "Directory for pictures (PNG)");
    app.add_option("--picture-count", arguments.picture_count, "Places of the flight for them");
    app.add_flag("--validate", arguments.validation, "With Vulkan's validation layer");
}

}  // namespace
}  // namespace quadtile::shadow

int main(int argc, char** argv) {
    using quadtile::shadow::Arguments;
    return quadtile::bench::run_program<Arguments>(
        argc, argv, "quadtile_shadow_bench", "Errors, steadiness and times of fitted shadow maps",
        quadtile::shadow::define_options, [](const CLI::App&, const Arguments& arguments) {
            quadtile::shadow::Bench(arguments, arguments.scene).run();
        });
}
