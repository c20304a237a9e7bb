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
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {
namespace {

using bench::formatted;
using bench::print;

constexpr std::uint64_t MIB = std::uint64_t{1} << 20U;
constexpr std::uint64_t POOL_BYTES = 256 * MIB;  // for list heads and nodes

struct Arguments {
    std::filesystem::path scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    std::uint64_t city_triangles = 0;
    std::filesystem::path city_file;
    std::string size;
    std::uint32_t bounces = 1;
    std::uint32_t truth_samples = 1024;
    bool truth_of_texels = false;
    std::vector<std::uint32_t> directions{64, 128, 256, 512, 1024, 2048, 4096};
    std::uint32_t direct_directions = 0;  // 0: as `directions`
    std::vector<float> pixels_per_texel{1.0F};
    std::vector<float> sun;  // direction of the light; empty: none beside those of the scene
    std::vector<std::uint32_t> sun_directions{64};
};

std::optional<Extent> given_extent(const Arguments& arguments) {
    if (arguments.size.empty()) {
        return std::nullopt;
    }
    constexpr std::uint32_t LARGEST = 65536;
    const app::Size size = app::parse_size("--size", arguments.size, LARGEST, true);
    return Extent{size.width, size.height};
}

// Returns a sky of radiance 1 for a scene without light of its own.
Sky choose_sky(const Scene& scene) {
    const bool shines =
        !scene.suns.empty() || std::ranges::any_of(scene.materials, [](const Material& material) {
            return material.emission != glm::vec3(0.0F);
        });
    return {.radiance = glm::vec3(shines ? 0.0F : 1.0F)};
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
          gpu_(instance_, {}, {}) {}

    [[nodiscard]] std::string device_name() const {
        return gpu_.physical_device().getProperties().deviceName.data();
    }

    // "error" is the RMSE without the truth's own; is_noise 1: the RMSE is less than twice that and
    // says little. --report of quadtile-bake counts the work.
    bench::Row row(float pixels_per_texel, std::uint32_t sun_directions, std::uint32_t directions,
                   const Truth& truth) {
        const TracedScene traced = make_traced_scene(scene_, surface_.texels, pixels_per_texel);
        const TileOptions tiles =
            suited_tiles(surface_.texels.extent(), pixels_per_texel, POOL_BYTES);
        const std::unique_ptr<Tracer> tracer =
            make_gpu_tracer(gpu_, traced, tiles, {.pool_bytes = POOL_BYTES});
        const auto start = Clock::now();
        const BakeResult result =
            bake(traced, surface_, scene_.suns, scene_.point_lights, Lamps(), sky_, tiles,
                 {.directions = directions,
                  .direct_directions = arguments_.direct_directions,
                  .bounces = arguments_.bounces,
                  .sun_directions = sun_directions},
                 std::array{tracer.get()});
        const double seconds = seconds_since(start);
        const Difference difference = compare(result.map.irradiance, result.map.known, truth);
        const auto number = [](auto value) { return static_cast<double>(value); };
        const auto percent = [&](double value) { return 100.0 * value / truth.mean; };
        const TracerStatistics& statistics = tracer->statistics();
        return {{"pixels", pixels_per_texel, 3},
                {"sun", number(sun_directions)},
                {"directions", number(directions)},
                {"seconds", seconds, 3},
                {"maps", statistics.map_seconds, 3},
                {"cull", statistics.cull_seconds, 3},
                {"rasterise", statistics.rasterise_seconds, 3},
                {"walk", statistics.walk_seconds, 3},
                {"fragments", number(statistics.nodes)},
                {"peak_MiB", number(statistics.most_pool_bytes) / number(MIB), 2},
                {"RMSE_%", percent(difference.rmse), 3},
                {"error", difference.error, 5},
                {"bias_%", percent(difference.bias), 4},
                {"known_%", 100.0 * number(difference.texels) / number(truth.used_texels), 3},
                {"is_noise", difference.is_noise ? 1.0 : 0.0}};
    }

 private:
    const Scene& scene_;
    const SurfaceMap& surface_;
    const Sky& sky_;
    const Arguments& arguments_;
    app::Instance instance_;
    app::Gpu gpu_;
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
    const Sky sky = choose_sky(scene);
    if (arguments.sun.size() == 3) {
        const glm::vec3 direction(arguments.sun[0], arguments.sun[1], arguments.sun[2]);
        scene.suns.push_back({.direction = glm::normalize(direction), .irradiance = glm::vec3(3)});
    }
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
        "%zu triangles, lightmap %u x %u, %u bounces; truth: %u samples a texel, "
        "%zu texels, mean irradiance %.5f, its own error %.6f",
        scene.triangles.size(), surface.texels.extent().width, surface.texels.extent().height,
        arguments.bounces, arguments.truth_samples, truth.used_texels, truth.mean, truth.error));
    print("device: " + baker.device_name());
    bench::Tables tables;
    // Warms up: drivers compile and allocate in the first run.
    (void)baker.row(1.0F, 1, 1, truth);
    for (const float pixels : arguments.pixels_per_texel) {
        for (const std::uint32_t of_sun : arguments.sun_directions) {
            for (const std::uint32_t directions : arguments.directions) {
                tables.add("directions", "", baker.row(pixels, of_sun, directions, truth));
            }
        }
    }
}

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF or OBJ with lightmap coordinates");
    CLI::Option* const city = app.add_option("--city", arguments.city_triangles,
                                             "Triangles of the city that --write-city writes");
    app.add_option("--write-city", arguments.city_file,
                   "Write a city to this .glb file, and measure nothing")
        ->needs(city);
    app.add_option("--size", arguments.size, "Texels of the lightmap: W or WxH");
    app.add_option("--bounces", arguments.bounces, "Bounces of the light");
    app.add_option("--truth-samples", arguments.truth_samples, "Samples a texel of the truth");
    app.add_flag("--truth-of-texels", arguments.truth_of_texels,
                 "In the truth surfaces send the mean light of their texels, as in the baker");
    app.add_option("--directions", arguments.directions, "A list")->delimiter(',');
    app.add_option("--direct-directions", arguments.direct_directions,
                   "Directions of direct light; 0: as many as of a bounce");
    app.add_option("--pixels-per-texel", arguments.pixels_per_texel, "A list")->delimiter(',');
    app.add_option("--sun-direction", arguments.sun, "X,Y,Z: adds a sun of irradiance 3")
        ->delimiter(',')
        ->expected(3);
    app.add_option("--sun-directions", arguments.sun_directions, "A list")->delimiter(',');
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
