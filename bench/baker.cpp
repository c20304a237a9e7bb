// Time, memory and error of the baker's lightmaps, against a path tracer's.

#include "baker_truth.hpp"
#include "city_scene.hpp"
#include "landscape.hpp"
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
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {
namespace {

using Clock = std::chrono::steady_clock;
using bench::formatted;
using bench::print;
using bench::Row;

constexpr std::uint64_t MIB = std::uint64_t{1} << 20U;

struct Arguments {
    std::filesystem::path scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    std::uint64_t city_triangles = 0;
    std::filesystem::path city_file;
    bool landscape = false;
    std::string size;
    std::vector<float> sky;
    std::vector<float> sun_direction;
    float sun_irradiance = 3.0F;
    std::uint32_t sun_directions = 64;
    std::uint32_t bounces = 1;

    std::string only = "all";
    std::uint32_t truth_samples = 1024;
    std::filesystem::path truth;
    bool truth_of_texels = false;
    std::vector<std::uint32_t> samples{1, 4, 16, 64, 256};
    std::vector<std::uint32_t> all_directions{64, 128, 256, 512, 1024, 2048, 4096};
    std::uint32_t directions = 1024;
    std::uint32_t memory_directions = 256;
    std::uint64_t memory_mib = 256;
    double most_seconds = 30.0;
    std::uint64_t seed = 1;
    std::filesystem::path json;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- Memory of a direction

// Returns the size of the tile's list heads and nodes.
double bytes_of(const MapTile& tile) {
    const double pixels =
        std::ceil(double(tile.resolution) * tile.resolution / BLOCK_PIXELS) * BLOCK_PIXELS;
    return sizeof(std::uint32_t) * pixels + sizeof(ListNode) * tile.predicted_nodes;
}

// Passes all calls on, and counts the requested tiles.
class WatchedTracer : public Tracer {
 public:
    WatchedTracer(Tracer& tracer, const TileOptions& options)
        : tracer_(tracer), options_(options) {}

    [[nodiscard]] std::uint32_t frames_at_once() const override { return tracer_.frames_at_once(); }
    [[nodiscard]] std::vector<std::vector<MapTile>> request_tiles(
        std::span<const ProjectionFrame> frames, const Stop& stop) override {
        std::vector<std::vector<MapTile>> tiles = tracer_.request_tiles(frames, stop);
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            // All maps of a direction have one axis; a whole one may be requested again.
            auto& [units, bytes] = directions_[std::to_array(frames[i].axis_z)];
            bytes = frames[i].units_per_texel < units ? bytes : 0.0;
            units = std::max(units, frames[i].units_per_texel);
            for (const MapTile& tile : tiles[i]) {
                bytes += needs_window(tile, options_) ? 0.0 : bytes_of(tile);
                largest_tile_bytes = std::max(largest_tile_bytes, bytes_of(tile));
                ++tiles_;
            }
            most_direction_bytes = std::max(most_direction_bytes, bytes);
        }
        return tiles;
    }
    void begin_pass(std::span<const glm::vec4> outgoing) override { tracer_.begin_pass(outgoing); }
    std::size_t trace(std::span<const ProjectionFrame> frames, std::span<const TracedTile> tiles,
                      std::span<const double> predicted_nodes, const Stop& stop) override {
        return tracer_.trace(frames, tiles, predicted_nodes, stop);
    }
    void read_sums(std::size_t first, std::span<Accumulator> sums) override {
        tracer_.read_sums(first, sums);
    }
    void clear_sums() override { tracer_.clear_sums(); }
    void set_sums(std::span<const Accumulator> sums) override { tracer_.set_sums(sums); }
    [[nodiscard]] std::vector<ProbeSight> see(std::span<const ProjectionFrame> frames,
                                              std::span<const glm::vec4> points) override {
        return tracer_.see(frames, points);
    }
    [[nodiscard]] const TracerStatistics& statistics() const override {
        return tracer_.statistics();
    }
    [[nodiscard]] std::string device_name() const override { return tracer_.device_name(); }

    [[nodiscard]] double tiles_a_direction() const {
        return tiles_ / std::max(static_cast<double>(directions_.size()), 1.0);
    }

    double most_direction_bytes = 0.0;  // of all tiles of a direction
    double largest_tile_bytes = 0.0;

 private:
    Tracer& tracer_;
    TileOptions options_;
    double tiles_ = 0.0;
    std::map<std::array<float, 3>, std::pair<float, double>> directions_;  // units, bytes
};

// ---- Rows

// Adds a difference. "error" is the RMSE without the truth's own; is_noise 1: the RMSE is less than
// twice that and says little. "p99_%": 99 % of the texels differ by less, in % of the mean.
void add_difference(Row& row, const Difference& difference, const Truth& truth) {
    const auto percent = [&](double value) { return 100.0 * value / truth.mean; };
    row.insert(row.end(), {{"RMSE", difference.rmse, 5},
                           {"RMSE_%", percent(difference.rmse), 3},
                           {"error", difference.error, 5},
                           {"bias_%", percent(difference.bias), 4},
                           {"p99_%", percent(difference.largest_1), 2},
                           {"known_%",
                            100.0 * static_cast<double>(difference.texels) /
                                static_cast<double>(truth.used_texels),
                            3},
                           {"is_noise", difference.is_noise ? 1.0 : 0.0}});
}

struct BakeSetting {
    std::uint32_t directions = 1024;
    float pixels_per_texel = 1.0F;
    float max_resolution = TileOptions().max_resolution;
    std::uint64_t pool_bytes = 256 * MIB;
};

// Result of a bake or of the path tracer that the answers use.
struct Point {
    double rays;  // number of directions or samples
    double seconds;
    double error;
    double mib = 0.0;  // memory of a direction
};

struct BakeRow {
    Row row;
    std::optional<Point> point;  // none if the bake was stopped, which leaves its light incomplete
};

struct Light {
    Sky sky;
    std::vector<Sun> suns;
};

Light choose_light(const Arguments& arguments, Scene& scene) {
    if (!arguments.sun_direction.empty()) {
        const glm::vec3 direction(arguments.sun_direction[0], arguments.sun_direction[1],
                                  arguments.sun_direction[2]);
        scene.suns = {{.direction = glm::normalize(direction),
                       .irradiance = glm::vec3(arguments.sun_irradiance)}};
    }
    for (Sun& sun : scene.suns) {
        sun.angular_diameter_degrees = 0.0F;  // as in the path tracer
    }
    const bool shines =
        !scene.suns.empty() || std::ranges::any_of(scene.materials, [](const Material& material) {
            return material.emission != glm::vec3(0.0F);
        });
    const bool is_own = shines && arguments.sun_direction.empty();
    Light light{.suns = scene.suns};
    light.sky.radiance = glm::vec3(is_own ? 0.0F : 1.0F);
    if (arguments.sky.size() == 1) {
        light.sky.radiance = glm::vec3(arguments.sky[0]);
    } else if (arguments.sky.size() == 3) {
        light.sky.radiance = {arguments.sky[0], arguments.sky[1], arguments.sky[2]};
    }
    return light;
}

// Bakes of all kinds of one scene on one GPU.
class Baker {
 public:
    Baker(const Scene& scene, const SurfaceMap& surface, const Light& light,
          const Arguments& arguments)
        : scene_(scene),
          surface_(surface),
          light_(light),
          arguments_(arguments),
          instance_("quadtile_baker_bench", {}, false),
          gpu_(instance_, {}, {}) {}

    [[nodiscard]] std::string device_name() const {
        return gpu_.physical_device().getProperties().deviceName.data();
    }

    BakeRow bake_row(const BakeSetting& setting, const Truth* truth) {
        const TracedScene traced =
            make_traced_scene(scene_, surface_.extent, setting.pixels_per_texel);
        TileOptions tiles =
            suited_tiles(surface_.extent, setting.pixels_per_texel, setting.pool_bytes);
        tiles.max_resolution = setting.max_resolution;
        const std::unique_ptr<Tracer> tracer =
            make_gpu_tracer(gpu_, traced, tiles, {.pool_bytes = setting.pool_bytes});
        WatchedTracer watched(*tracer, tiles);
        BakeProgress progress;
        const auto start = Clock::now();
        const BakeResult result =
            bake(traced, surface_, light_.suns, scene_.point_lights, Lamps(), light_.sky, tiles,
                 {.directions = setting.directions,
                  .bounces = arguments_.bounces,
                  .sun_directions = arguments_.sun_directions,
                  .seed = arguments_.seed},
                 watched,
                 {.progress = [&](const BakeProgress& now) { progress = now; },
                  .interrupted =
                      [&] {
                          return seconds_since(start) > arguments_.most_seconds &&
                                 progress.directions_done > 0;
                      }});
        double seconds = seconds_since(start);
        if (result.interrupted) {
            seconds *= static_cast<double>(progress.directions) /
                       static_cast<double>(progress.directions_done);
        }
        BakeRow baked{.row = row_of(setting, seconds, watched)};
        baked.row.push_back({"is_extrapolated", result.interrupted ? 1.0 : 0.0});
        if (!result.interrupted && truth != nullptr) {
            const Difference difference = compare(result.map.irradiance, result.map.known, *truth);
            add_difference(baked.row, difference, *truth);
            baked.point = Point{static_cast<double>(setting.directions), seconds, difference.error,
                                watched.most_direction_bytes / static_cast<double>(MIB)};
        }
        return baked;
    }

 private:
    static Row row_of(const BakeSetting& setting, double seconds, const WatchedTracer& tracer) {
        const TracerStatistics& statistics = tracer.statistics();
        const auto mib = [](auto bytes) {
            return static_cast<double>(bytes) / static_cast<double>(MIB);
        };
        const auto number = [](auto value) { return static_cast<double>(value); };
        return {{"directions", number(setting.directions)},
                {"px/texel", number(setting.pixels_per_texel), 2},
                {"max_res", number(setting.max_resolution)},
                {"pool_MiB", mib(setting.pool_bytes)},
                {"seconds", seconds, 3},
                {"tracing_s", statistics.tracing_seconds, 3},
                {"requests_s", statistics.tile_request_seconds, 3},
                {"requests_%", 100.0 * statistics.tile_request_seconds / seconds, 2},
                {"subdivision_%", 100.0 * statistics.subdivision_gpu_seconds / seconds, 3},
                {"peak_MiB", mib(statistics.most_pool_bytes), 2},
                {"direction_MiB", mib(tracer.most_direction_bytes), 2},
                {"tile_MiB", mib(tracer.largest_tile_bytes), 3},
                {"tiles/direction", tracer.tiles_a_direction(), 1},
                {"tiles", number(statistics.tiles)},
                {"Mpixels", 1e-6 * number(statistics.pixels), 2},
                {"Mfragments", 1e-6 * number(statistics.nodes), 2},
                {"repeats", number(statistics.repeated_tiles)},
                {"splits", number(statistics.split_tiles)},
                {"submissions", number(statistics.submissions)},
                {"longest_s", statistics.longest_submission_seconds, 4}};
    }

    const Scene& scene_;
    const SurfaceMap& surface_;
    const Light& light_;
    const Arguments& arguments_;
    app::Instance instance_;
    app::Gpu gpu_;
};

// ---- Answers

struct CurveValue {
    double seconds;
    const char* how;
};

// Returns the seconds that an error takes. Interpolates or extrapolates logarithms between the two
// nearest points.
std::optional<CurveValue> seconds_at(std::vector<Point> points, double error) {
    std::erase_if(points, [](const Point& p) { return !(p.error > 0.0 && p.seconds > 0.0); });
    if (points.size() < 2 || !(error > 0.0)) {
        return std::nullopt;
    }
    std::ranges::sort(points, {}, &Point::error);
    std::size_t i = 1;
    while (i + 1 < points.size() && points[i].error < error) {
        ++i;
    }
    const Point& a = points[i - 1];
    const Point& b = points[i];
    if (a.error == b.error) {
        return std::nullopt;
    }
    const double slope = std::log(b.seconds / a.seconds) / std::log(b.error / a.error);
    return CurveValue{a.seconds * std::pow(error / a.error, slope),
                      error >= a.error && error <= b.error ? "interpolated" : "extrapolated"};
}

class Bench {
 public:
    explicit Bench(const Arguments& arguments) : arguments_(arguments) {}

    void run() {
        load();
        if (!arguments_.city_file.empty()) {
            write_scene(scene_, arguments_.city_file);
            return;
        }
        if (arguments_.city_triangles == 0) {
            make_truth();
        }
        if (wants("embree") && !arguments_.landscape) {
            trace_paths();
        }
        if (arguments_.only != "embree") {
            bake_all();
        }
        bench::save(tables_.json, arguments_.json.string());
    }

 private:
    [[nodiscard]] bool wants(const std::string& part) const {
        return arguments_.city_triangles == 0 &&
               (arguments_.only == "all" || arguments_.only == part);
    }

    void load() {
        auto start = Clock::now();
        const Extent extent = given_extent().value_or(Extent{1024, 1024});
        if (arguments_.city_triangles > 0) {
            scene_ = city_scene(arguments_.city_triangles, extent);
        } else if (arguments_.landscape) {
            scene_ = landscape_scene(extent);
        } else {
            LoadedScene loaded = load_scene(arguments_.scene);
            scene_ = std::move(loaded.scene);
        }
        const double load_seconds = seconds_since(start);
        if (scene_.light_map_coordinates.empty()) {
            throw std::runtime_error("the scene has no lightmap coordinates");
        }
        light_ = choose_light(arguments_, scene_);
        start = Clock::now();
        surface_ = make_surface_map(
            scene_, given_extent().value_or(scene_.light_map_extent.value_or(extent)));
        const double surface_seconds = seconds_since(start);
        const std::size_t covered =
            surface_.coverage.size() -
            static_cast<std::size_t>(std::ranges::count(surface_.coverage, 0.0F));
        print(
            formatted("scene: %zu triangles, lightmap %u x %u with %zu covered texels, sky %g %g "
                      "%g, %zu suns, %u bounces; made in %.3f s, its surface in %.3f s",
                      scene_.triangles.size(), surface_.extent.width, surface_.extent.height,
                      covered, double{light_.sky.radiance.r}, double{light_.sky.radiance.g},
                      double{light_.sky.radiance.b}, light_.suns.size(), arguments_.bounces,
                      load_seconds, surface_seconds));
        tables_.json["triangles"] = scene_.triangles.size();
        tables_.json["light_map"] = {surface_.extent.width, surface_.extent.height};
        tables_.json["covered_texels"] = covered;
        tables_.json["bounces"] = arguments_.bounces;
    }

    [[nodiscard]] std::optional<Extent> given_extent() const {
        if (arguments_.size.empty()) {
            return std::nullopt;
        }
        constexpr std::uint32_t LARGEST = 65536;
        const app::Size size = app::parse_size("--size", arguments_.size, LARGEST, true);
        return Extent{size.width, size.height};
    }

    // Returns the texels of the courtyard; empty: all are compared.
    [[nodiscard]] std::vector<std::uint8_t> compared_texels() const {
        std::vector<std::uint8_t> texels;
        for (std::size_t i = 0; arguments_.landscape && i < surface_.triangle.size(); ++i) {
            const bool is_in = surface_.triangle[i] < scene_.parts[1].first_triangle;
            texels.push_back(is_in && surface_.coverage[i] > 0.0F ? 1 : 0);
        }
        return texels;
    }

    void make_truth() {
        truth_ = find_truth(scene_, surface_,
                            {.samples_per_texel = arguments_.truth_samples,
                             .bounces = arguments_.bounces,
                             .sky = light_.sky.radiance,
                             .is_of_texels = arguments_.truth_of_texels,
                             .texels = compared_texels(),
                             .file = arguments_.truth});
        print(
            formatted("truth: %u samples a texel%s, %zu texels, mean irradiance %.5f, its own "
                      "error %.6f (%.4f %%)",
                      arguments_.truth_samples,
                      truth_->seconds > 0.0
                          ? formatted(" in %.1f s, %.1f Mrays/s", truth_->seconds,
                                      static_cast<double>(truth_->rays) * 1e-6 / truth_->seconds)
                                .c_str()
                          : " from the file",
                      truth_->used_texels, truth_->mean, truth_->error,
                      100.0 * truth_->error / truth_->mean));
        tables_.json["truth"] = {{"samples_per_texel", arguments_.truth_samples},
                                 {"texels", truth_->used_texels},
                                 {"mean", truth_->mean},
                                 {"error", truth_->error},
                                 {"seconds", truth_->seconds},
                                 {"rays", truth_->rays}};
    }

    void trace_paths() {
        print("\nPath tracer");
        for (const std::uint32_t samples : arguments_.samples) {
            const test::PathTracedMap map = test::trace_paths(scene_, surface_,
                                                              {.samples_per_texel = samples,
                                                               .bounces = arguments_.bounces,
                                                               .sky = light_.sky.radiance,
                                                               .seed = 1});
            const Difference difference = compare(map.irradiance, {}, *truth_);
            Row row{{"samples", static_cast<double>(samples)},
                    {"seconds", map.seconds, 3},
                    {"Mrays/s", 1e-6 * static_cast<double>(map.rays) / map.seconds, 1}};
            add_difference(row, difference, *truth_);
            add("embree",
                {row, Point{static_cast<double>(samples), map.seconds, difference.error}});
        }
    }

    void add(const std::string& table, const BakeRow& row) {
        tables_.add(table, "", row.row);
        if (row.point && row.point->error > 0.0) {
            points_[table].push_back(*row.point);
        }
    }

    void bake_all() {
        baker_.emplace(scene_, surface_, light_, arguments_);
        print("\ndevice: " + baker_->device_name());
        tables_.json["device"] = baker_->device_name();
        // Warms up: drivers compile and allocate in the first run.
        (void)baker_->bake_row({.directions = 1, .pool_bytes = pool_bytes()}, nullptr);
        if (arguments_.city_triangles > 0) {
            print("\nCity");
            bake_row("city", base());
            return;
        }
        if (wants("adaptive")) {
            bake_adaptive();
        }
        if (wants("memory") && !arguments_.landscape) {
            print("\nMemory");
            for (const std::uint64_t mib : {64U, 128U, 256U}) {
                BakeSetting setting = base();
                setting.directions = arguments_.memory_directions;
                setting.pool_bytes = mib * MIB;
                bake_row("memory", setting);
            }
        }
        answer();
    }

    void bake_adaptive() {
        print("\nDirections");
        for (const std::uint32_t directions : arguments_.all_directions) {
            BakeSetting setting = base();
            setting.directions = directions;
            bake_row("adaptive", setting);
        }
        print("\nResolution");
        for (const float pixels : {0.7F, 0.5F}) {
            BakeSetting setting = base();
            setting.pixels_per_texel = pixels;
            bake_row("adaptive resolution", setting);
        }
        for (const float resolution : {32.0F, 64.0F, 128.0F}) {
            BakeSetting setting = base();
            setting.max_resolution = resolution;
            bake_row("adaptive resolution", setting);
        }
    }

    [[nodiscard]] std::uint64_t pool_bytes() const { return arguments_.memory_mib * MIB; }

    [[nodiscard]] BakeSetting base() const {
        return {.directions = arguments_.directions, .pool_bytes = pool_bytes()};
    }

    void bake_row(const std::string& table, const BakeSetting& setting) {
        add(table, baker_->bake_row(setting, truth_ ? &*truth_ : nullptr));
    }

    // ---- Answers

    void answer() {
        const std::vector<Point> adaptive = points_["adaptive"];
        print_convergence(adaptive);
        print_equal_errors("Bakes, and the path tracer of the same error", adaptive,
                           points_["embree"]);
    }

    void print_convergence(const std::vector<Point>& points) {
        if (points.size() < 2) {
            return;
        }
        print("\nError by directions N: 1 / sqrt(N) is an exponent of -0.5");
        const auto exponent = [](const Point& a, const Point& b) {
            return std::log(b.error / a.error) / std::log(b.rays / a.rays);
        };
        for (std::size_t i = 1; i < points.size(); ++i) {
            print(formatted("%6.0f to %6.0f: %+.3f", points[i - 1].rays, points[i].rays,
                            exponent(points[i - 1], points[i])));
        }
        tables_.json["exponent"] = exponent(points.front(), points.back());
        print(formatted("all: %+.3f", exponent(points.front(), points.back())));
    }

    static void print_equal_errors(const char* title, const std::vector<Point>& points,
                                   const std::vector<Point>& others) {
        print(points.empty() || others.size() < 2 ? "" : "\n" + std::string(title));
        for (const Point& point : points) {
            if (const auto other = seconds_at(others, point.error)) {
                print(formatted(
                    "%6.0f directions, error %.5f: %.3f s against %.3f s (%s): %.4f; %.2f MiB of "
                    "a direction against %.2f",
                    point.rays, point.error, point.seconds, other->seconds, other->how,
                    other->seconds / point.seconds, point.mib, others.back().mib));
            }
        }
    }

    const Arguments& arguments_;
    Scene scene_;
    Light light_;
    SurfaceMap surface_;
    std::optional<Truth> truth_;
    std::optional<Baker> baker_;
    bench::Tables tables_;
    // complete rows above the truth's own noise, by table
    std::map<std::string, std::vector<Point>> points_;
};

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF or OBJ with lightmap coordinates");
    app.add_option("--city", arguments.city_triangles,
                   "Instead of SCENE: a city of about N triangles, for times and memory only");
    app.add_option("--write-city", arguments.city_file,
                   "Write the city to this .glb file, and measure nothing");
    app.add_flag(
        "--landscape", arguments.landscape,
        "Instead of SCENE: a courtyard within square kilometres that have 64 to 256 times\n"
        "fewer texels per metre; errors are those of the courtyard");
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
    app.add_option("--only", arguments.only, "A part of the tables")
        ->check(CLI::IsMember({"embree", "adaptive", "memory", "all"}));
    app.add_option("--truth-samples", arguments.truth_samples, "Samples a texel of the truth");
    app.add_option("--truth", arguments.truth, "File that keeps the truth");
    app.add_flag("--truth-of-texels", arguments.truth_of_texels,
                 "In the truth surfaces send the mean light of their texels, as in the baker");
    app.add_option("--samples", arguments.samples, "Samples a texel of the path tracer")
        ->delimiter(',');
    app.add_option("--directions", arguments.all_directions,
                   "A list; other tables take --base-directions")
        ->delimiter(',');
    app.add_option("--base-directions", arguments.directions, "Where other things vary");
    app.add_option("--memory-directions", arguments.memory_directions, "Of the table on memory");
    app.add_option("--memory", arguments.memory_mib, "MiB for list heads and nodes")
        ->check(CLI::Range(16, 65536));
    app.add_option("--most-seconds", arguments.most_seconds,
                   "A bake that takes longer is stopped, its time extrapolated");
    app.add_option("--seed", arguments.seed, "Turns the directions of the bakes");
    app.add_option("--json", arguments.json, "File for the rows");
}

}  // namespace
}  // namespace quadtile::baker

int main(int argc, char** argv) {
    using quadtile::baker::Arguments;
    return quadtile::bench::run_program<Arguments>(
        argc, argv, "quadtile_baker_bench", "Times, memory and errors of the lightmap baker",
        quadtile::baker::define_options, [](const CLI::App& app, Arguments& arguments) {
            if (arguments.city_triangles > 0) {
                if (app.count("--directions") > 0) {
                    arguments.directions = arguments.all_directions.front();
                }
                if (app.count("--most-seconds") == 0) {
                    arguments.most_seconds = std::numeric_limits<double>::infinity();
                }
            }
            quadtile::baker::Bench(arguments).run();
        });
}
