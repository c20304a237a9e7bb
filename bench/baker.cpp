// Time, memory and error of the baker's lightmaps by the number of directions, against a path
// tracer's.

#include "baker_truth.hpp"
#include "city_scene.hpp"
#include "tables.hpp"

#include "arguments.hpp"
#include "bake.hpp"
#include "gpu_tracer.hpp"
#include "load_scene.hpp"
#include "pass_tracing.hpp"
#include "path_tracer.hpp"
#include "traced_scene.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {
namespace {

using Clock = std::chrono::steady_clock;
using bench::formatted;
using bench::print;

constexpr std::uint64_t MIB = std::uint64_t{1} << 20U;

struct Arguments {
    std::filesystem::path scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    std::uint64_t city_triangles = 0;
    std::filesystem::path city_file;
    std::string size;
    std::vector<float> sky;
    std::vector<float> sun_direction;
    float sun_irradiance = 3.0F;
    std::uint32_t sun_directions = 64;
    std::uint32_t bounces = 1;
    std::uint32_t truth_samples = 1024;
    bool truth_of_texels = false;
    std::vector<std::uint32_t> directions{64, 128, 256, 512, 1024, 2048, 4096};
    std::uint64_t memory_mib = 256;
    std::uint64_t seed = 1;
    std::filesystem::path json;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::optional<Extent> given_extent(const Arguments& arguments) {
    if (arguments.size.empty()) {
        return std::nullopt;
    }
    constexpr std::uint32_t LARGEST = 65536;
    const app::Size size = app::parse_size("--size", arguments.size, LARGEST, true);
    return Extent{size.width, size.height};
}

// Gives the scene the sun of the arguments, or makes its own ones points, as in the path tracer.
void choose_suns(const Arguments& arguments, Scene& scene) {
    if (!arguments.sun_direction.empty()) {
        const glm::vec3 direction(arguments.sun_direction[0], arguments.sun_direction[1],
                                  arguments.sun_direction[2]);
        scene.suns = {{.direction = glm::normalize(direction),
                       .irradiance = glm::vec3(arguments.sun_irradiance)}};
    }
    for (Sun& sun : scene.suns) {
        sun.angular_diameter_degrees = 0.0F;
    }
}

Sky choose_sky(const Arguments& arguments, const Scene& scene) {
    const bool shines =
        !scene.suns.empty() || std::ranges::any_of(scene.materials, [](const Material& material) {
            return material.emission != glm::vec3(0.0F);
        });
    Sky sky;
    sky.radiance = glm::vec3(shines && arguments.sun_direction.empty() ? 0.0F : 1.0F);
    if (arguments.sky.size() == 1) {
        sky.radiance = glm::vec3(arguments.sky[0]);
    } else if (arguments.sky.size() == 3) {
        sky.radiance = {arguments.sky[0], arguments.sky[1], arguments.sky[2]};
    }
    return sky;
}

// Bakes of one scene on one GPU.
class Baker {
 public:
    Baker(const Scene& scene, const SurfaceMap& surface, const Sky& sky, const Arguments& arguments)
        : scene_(scene),
          surface_(surface),
          sky_(sky),
          arguments_(arguments),
          instance_("quadtile_baker_bench", {}, false),
          gpu_(instance_, {}, {}),
          traced_(make_traced_scene(scene_, surface_.extent, PIXELS_PER_TEXEL)) {}

    [[nodiscard]] std::string device_name() const {
        return gpu_.physical_device().getProperties().deviceName.data();
    }

    // "error" is the RMSE without the truth's own; is_noise 1: the RMSE is less than twice that and
    // says little. "p99_%": 99 % of the texels differ by less, in % of the mean.
    bench::Row row(std::uint32_t directions, const Truth& truth) {
        const std::uint64_t pool_bytes = arguments_.memory_mib * MIB;
        const TileOptions tiles = suited_tiles(surface_.extent, PIXELS_PER_TEXEL, pool_bytes);
        const std::unique_ptr<Tracer> tracer =
            make_gpu_tracer(gpu_, traced_, tiles, {.pool_bytes = pool_bytes});
        const auto start = Clock::now();
        const BakeResult result =
            bake(traced_, surface_, scene_.suns, scene_.point_lights, Lamps(), sky_, tiles,
                 {.directions = directions,
                  .bounces = arguments_.bounces,
                  .sun_directions = arguments_.sun_directions,
                  .seed = arguments_.seed},
                 *tracer, {});
        const double seconds = seconds_since(start);
        const Difference difference = compare(result.map.irradiance, result.map.known, truth);
        const TracerStatistics& statistics = tracer->statistics();
        const auto number = [](auto value) { return static_cast<double>(value); };
        const auto percent = [&](double value) { return 100.0 * value / truth.mean; };
        return {{"directions", number(directions)},
                {"seconds", seconds, 3},
                {"tracing_s", statistics.tracing_seconds, 3},
                {"requests_s", statistics.tile_request_seconds, 3},
                {"subdivision_%", 100.0 * statistics.subdivision_gpu_seconds / seconds, 3},
                {"peak_MiB", number(statistics.most_pool_bytes) / number(MIB), 2},
                {"tiles", number(statistics.tiles)},
                {"Mpixels", 1e-6 * number(statistics.pixels), 2},
                {"Mfragments", 1e-6 * number(statistics.nodes), 2},
                {"repeats", number(statistics.repeated_tiles)},
                {"RMSE_%", percent(difference.rmse), 3},
                {"error", difference.error, 5},
                {"bias_%", percent(difference.bias), 4},
                {"p99_%", percent(difference.largest_1), 2},
                {"known_%", 100.0 * number(difference.texels) / number(truth.used_texels), 3},
                {"is_noise", difference.is_noise ? 1.0 : 0.0}};
    }

 private:
    static constexpr float PIXELS_PER_TEXEL = 1.0F;

    const Scene& scene_;
    const SurfaceMap& surface_;
    const Sky& sky_;
    const Arguments& arguments_;
    app::Instance instance_;
    app::Gpu gpu_;
    TracedScene traced_;
};

void write_city(const Arguments& arguments) {
    write_scene(
        city_scene(arguments.city_triangles, given_extent(arguments).value_or(Extent{1024, 1024})),
        arguments.city_file);
}

void measure(const Arguments& arguments) {
    Scene scene = load_scene(arguments.scene).scene;
    if (scene.light_map_coordinates.empty()) {
        throw std::runtime_error("the scene has no lightmap coordinates");
    }
    choose_suns(arguments, scene);
    const Sky sky = choose_sky(arguments, scene);
    const SurfaceMap surface = make_surface_map(
        scene,
        given_extent(arguments).value_or(scene.light_map_extent.value_or(Extent{1024, 1024})));
    const Truth truth = find_truth(scene, surface,
                                   {.samples_per_texel = arguments.truth_samples,
                                    .bounces = arguments.bounces,
                                    .sky = sky.radiance,
                                    .is_of_texels = arguments.truth_of_texels});
    Baker baker(scene, surface, sky, arguments);
    print(formatted(
        "%zu triangles, lightmap %u x %u, %u bounces; truth: %u samples a texel in "
        "%.1f s, %zu texels, mean irradiance %.5f, its own error %.6f",
        scene.triangles.size(), surface.extent.width, surface.extent.height, arguments.bounces,
        arguments.truth_samples, truth.seconds, truth.used_texels, truth.mean, truth.error));
    print("device: " + baker.device_name());
    bench::Tables tables;
    tables.json = {{"device", baker.device_name()},
                   {"triangles", scene.triangles.size()},
                   {"light_map", {surface.extent.width, surface.extent.height}},
                   {"bounces", arguments.bounces},
                   {"truth",
                    {{"samples_per_texel", arguments.truth_samples},
                     {"texels", truth.used_texels},
                     {"mean", truth.mean},
                     {"error", truth.error}}}};
    (void)baker.row(1, truth);  // warms up: drivers compile and allocate in the first run
    for (const std::uint32_t directions : arguments.directions) {
        tables.add("directions", "", baker.row(directions, truth));
    }
    bench::save(tables.json, arguments.json.string());
}

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF or OBJ with lightmap coordinates");
    CLI::Option* const city = app.add_option("--city", arguments.city_triangles,
                                             "Triangles of the city that --write-city writes");
    app.add_option("--write-city", arguments.city_file,
                   "Write a city to this .glb file, and measure nothing")
        ->needs(city);
    app.add_option("--size", arguments.size, "Texels of the lightmap: W or WxH");
    app.add_option(
           "--sky", arguments.sky,
           "Radiance, one number or R,G,B; default: 1, or 0 if the scene has light of its own")
        ->delimiter(',');
    app.add_option("--sun-direction", arguments.sun_direction,
                   "Where the light of a sun goes, X,Y,Z, instead of the scene's suns")
        ->delimiter(',')
        ->expected(3);
    app.add_option("--sun", arguments.sun_irradiance, "Irradiance of the sun");
    app.add_option("--sun-directions", arguments.sun_directions, "Of the bakes, for each sun");
    app.add_option("--bounces", arguments.bounces, "Bounces of the light");
    app.add_option("--truth-samples", arguments.truth_samples, "Samples a texel of the truth");
    app.add_flag("--truth-of-texels", arguments.truth_of_texels,
                 "In the truth surfaces send the mean light of their texels, as in the baker");
    app.add_option("--directions", arguments.directions, "A list")->delimiter(',');
    app.add_option("--memory", arguments.memory_mib, "MiB for list heads and nodes")
        ->check(CLI::Range(16, 65536));
    app.add_option("--seed", arguments.seed, "Turns the directions of the bakes");
    app.add_option("--json", arguments.json, "File for the rows");
}

}  // namespace
}  // namespace quadtile::baker

int main(int argc, char** argv) {
    using quadtile::baker::Arguments;
    return quadtile::bench::run_program<Arguments>(
        argc, argv, "quadtile_baker_bench", "Times, memory and errors of the lightmap baker",
        quadtile::baker::define_options, [](const CLI::App&, const Arguments& arguments) {
            if (arguments.city_file.empty()) {
                quadtile::baker::measure(arguments);
            } else {
                quadtile::baker::write_city(arguments);
            }
        });
}
