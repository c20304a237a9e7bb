// What the baker's light is worth: its time, memory and error against a path tracer's, with
// adaptive tiles and with uniform ones.

#include "baker_truth.hpp"

#include "bake.hpp"
#include "gpu_tracer.hpp"
#include "load_scene.hpp"
#include "path_tracer.hpp"
#include "traced_scene.hpp"

#include <CLI/CLI.hpp>
#include <glm/geometric.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t MIB = std::uint64_t{1} << 20U;

struct Arguments {
    std::filesystem::path scene = "../shared/data/scenes/zdm2_lightmapped.glb";
    bool demo = false;
    std::uint64_t city_triangles = 0;
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
    float density_share = DENSITY_SHARE;
    std::vector<std::uint32_t> samples{1, 4, 16, 64, 256};
    std::vector<std::uint32_t> all_directions{64, 128, 256, 512, 1024, 2048, 4096};
    std::uint32_t directions = 1024;
    std::uint32_t memory_directions = 256;
    std::uint64_t memory_mib = 256;
    double most_seconds = 30.0;
    std::uint64_t seed = 1;
    std::filesystem::path json;
};

std::string formatted(const char* format, auto... values) {
    char text[400];
    std::snprintf(text, sizeof(text), format, values...);
    return text;
}

void print(const std::string& line) {
    std::cout << line << std::endl;  // at once: rows take long
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- What one direction takes as a whole

struct DirectionMemory {
    double most_bytes = 0.0;  // of list heads and nodes of all tiles of a direction
    double mean_bytes = 0.0;
    double largest_tile_bytes = 0.0;
};

double bytes_of(const MapTile& tile) {
    const double pixels =
        std::ceil(double(tile.resolution) * tile.resolution / BLOCK_PIXELS) * BLOCK_PIXELS;
    return sizeof(std::uint32_t) * pixels + sizeof(ListNode) * tile.predicted_nodes;
}

// Hands all on, and looks at the tiles that are requested.
class WatchedTracer : public Tracer {
 public:
    explicit WatchedTracer(Tracer& tracer) : tracer_(tracer) {}

    [[nodiscard]] std::uint32_t frames_at_once() const override { return tracer_.frames_at_once(); }
    [[nodiscard]] std::vector<std::vector<MapTile>> request_tiles(
        std::span<const ProjectionFrame> frames, const Stop& stop) override {
        std::vector<std::vector<MapTile>> tiles = tracer_.request_tiles(frames, stop);
        for (const std::vector<MapTile>& of_direction : tiles) {
            double bytes = 0.0;
            for (const MapTile& tile : of_direction) {
                bytes += bytes_of(tile);
                memory_.largest_tile_bytes = std::max(memory_.largest_tile_bytes, bytes_of(tile));
            }
            memory_.most_bytes = std::max(memory_.most_bytes, bytes);
            sum_ += bytes;
            ++requested_;
            tiles_ += static_cast<double>(of_direction.size());
        }
        return tiles;
    }
    void begin_pass(std::span<const glm::vec4> outgoing) override { tracer_.begin_pass(outgoing); }
    std::size_t trace(std::span<const ProjectionFrame> frames, std::span<const TracedTile> tiles,
                      std::span<const double> predicted_nodes, const Stop& stop) override {
        return tracer_.trace(frames, tiles, predicted_nodes, stop);
    }
    [[nodiscard]] std::vector<Accumulator> sums() override { return tracer_.sums(); }
    void set_sums(std::span<const Accumulator> sums) override { tracer_.set_sums(sums); }
    [[nodiscard]] const TracerStatistics& statistics() const override {
        return tracer_.statistics();
    }
    [[nodiscard]] std::string device_name() const override { return tracer_.device_name(); }

    [[nodiscard]] DirectionMemory memory() const {
        DirectionMemory memory = memory_;
        memory.mean_bytes = sum_ / std::max(requested_, 1.0);
        return memory;
    }
    [[nodiscard]] double tiles_a_direction() const { return tiles_ / std::max(requested_, 1.0); }

 private:
    Tracer& tracer_;
    DirectionMemory memory_;
    double sum_ = 0.0;
    double requested_ = 0.0;
    double tiles_ = 0.0;
};

// ---- Rows

struct BakeSetting {
    bool uniform = false;
    std::uint32_t directions = 1024;
    float pixels_per_texel = 1.0F;
    float density_share = DENSITY_SHARE;
    float max_resolution = TileOptions().max_resolution;
    std::uint64_t pool_bytes = 256 * MIB;

    bool operator==(const BakeSetting&) const = default;
};

struct BakeRow {
    BakeSetting setting;
    double seconds = 0.0;
    bool is_extrapolated = false;  // the bake was stopped: its light is not there
    TracerStatistics statistics;
    DirectionMemory memory;
    double tiles_a_direction = 0.0;
    std::optional<Difference> difference;
};

struct PathRow {
    std::uint32_t samples = 0;
    double seconds = 0.0;
    double rays = 0.0;
    Difference difference;
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

// One GPU, one scene, bakes of all kinds.
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
        const TracedScene traced = make_traced_scene(
            scene_, surface_.extent, setting.pixels_per_texel, setting.density_share);
        const TileOptions tiles = suited_tiles(
            {.map_extent = 0, .max_resolution = setting.max_resolution, .uniform = setting.uniform},
            surface_.extent, setting.pixels_per_texel, setting.pool_bytes);
        const std::unique_ptr<Tracer> tracer =
            make_gpu_tracer(gpu_, traced, tiles, {.pool_bytes = setting.pool_bytes});
        WatchedTracer watched(*tracer);
        BakeProgress progress;
        const auto start = Clock::now();
        const BakeResult result =
            bake(traced, surface_, light_.suns, light_.sky, tiles,
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
        BakeRow row{.setting = setting,
                    .seconds = seconds_since(start),
                    .is_extrapolated = result.interrupted,
                    .statistics = tracer->statistics(),
                    .memory = watched.memory(),
                    .tiles_a_direction = watched.tiles_a_direction()};
        if (row.is_extrapolated) {
            const double share = static_cast<double>(progress.directions_done) /
                                 static_cast<double>(progress.directions);
            row.seconds /= share;
        } else if (truth != nullptr) {
            row.difference = compare(result.map.irradiance, result.map.known, *truth);
        }
        return row;
    }

 private:
    const Scene& scene_;
    const SurfaceMap& surface_;
    const Light& light_;
    const Arguments& arguments_;
    app::Instance instance_;
    app::Gpu gpu_;
};

// ---- Tables

constexpr const char* DIFFERENCE_HEADER =
    "       RMSE  rel. %     error   bias %   99 % is   known %";

std::string difference_text(const Difference& difference, const Truth& truth) {
    return formatted(
        "  %9.5f%s %6.3f %9.5f %+8.4f %8.4f %9.3f", difference.rmse,
        difference.is_noise ? "~" : " ", 100.0 * difference.rmse / truth.mean, difference.error,
        100.0 * difference.bias / truth.mean, difference.largest_1 / truth.mean,
        100.0 * static_cast<double>(difference.texels) / static_cast<double>(truth.used_texels));
}

void print_bake_header(const std::string& title) {
    print("\n" + title);
    print(
        "directions  px/texel  max res  pool MiB  seconds   tracing  requests  subdiv.  peak MiB  "
        "dir. MiB  tile MiB  tiles/dir.  Mfragments  repeats  splits" +
        std::string(DIFFERENCE_HEADER));
}

std::string bake_text(const BakeRow& row, const Truth* truth) {
    const TracerStatistics& statistics = row.statistics;
    const auto mib = [](double bytes) { return bytes / static_cast<double>(MIB); };
    std::string text = formatted(
        "%10u  %8.2f  %7.0f  %8.0f %8.3f%s %8.3f  %8.3f  %7.4f  %8.2f  %8.2f  %8.3f  %10.1f  "
        "%10.2f  %7llu %7llu",
        row.setting.directions, double{row.setting.pixels_per_texel},
        double{row.setting.max_resolution}, mib(static_cast<double>(row.setting.pool_bytes)),
        row.seconds, row.is_extrapolated ? "*" : " ", statistics.tracing_seconds,
        statistics.tile_request_seconds, statistics.subdivision_seconds,
        mib(static_cast<double>(statistics.most_pool_bytes)), mib(row.memory.most_bytes),
        mib(row.memory.largest_tile_bytes), row.tiles_a_direction,
        static_cast<double>(statistics.nodes) * 1e-6,
        static_cast<unsigned long long>(statistics.repeated_tiles),
        static_cast<unsigned long long>(statistics.split_tiles));
    if (row.difference && truth != nullptr) {
        text += difference_text(*row.difference, *truth);
    } else if (row.is_extrapolated) {
        text += "  (stopped: the time is extrapolated)";
    }
    return text;
}

Json difference_json(const Difference& difference) {
    return {{"texels", difference.texels}, {"rmse", difference.rmse},
            {"error", difference.error},   {"bias", difference.bias},
            {"p99", difference.largest_1}, {"is_noise", difference.is_noise}};
}

Json bake_json(const std::string& table, const BakeRow& row) {
    Json json{{"table", table},
              {"uniform", row.setting.uniform},
              {"directions", row.setting.directions},
              {"pixels_per_texel", row.setting.pixels_per_texel},
              {"max_resolution", row.setting.max_resolution},
              {"pool_bytes", row.setting.pool_bytes},
              {"seconds", row.seconds},
              {"is_extrapolated", row.is_extrapolated},
              {"tracing_seconds", row.statistics.tracing_seconds},
              {"tile_request_seconds", row.statistics.tile_request_seconds},
              {"subdivision_seconds", row.statistics.subdivision_seconds},
              {"most_pool_bytes", row.statistics.most_pool_bytes},
              {"most_direction_bytes", row.memory.most_bytes},
              {"mean_direction_bytes", row.memory.mean_bytes},
              {"largest_tile_bytes", row.memory.largest_tile_bytes},
              {"tiles_a_direction", row.tiles_a_direction},
              {"tiles", row.statistics.tiles},
              {"pixels", row.statistics.pixels},
              {"fragments", row.statistics.nodes},
              {"repeated_tiles", row.statistics.repeated_tiles},
              {"split_tiles", row.statistics.split_tiles},
              {"submissions", row.statistics.submissions},
              {"longest_submission_seconds", row.statistics.longest_submission_seconds}};
    if (row.difference) {
        json["difference"] = difference_json(*row.difference);
    }
    return json;
}

// ---- Answers

struct CurvePoint {
    double x;
    double y;
};

struct CurveValue {
    double y;
    const char* how;
};

// y at x, both logarithmic: between the neighbours of x, or beyond by the two nearest points.
std::optional<CurveValue> on_curve(std::vector<CurvePoint> points, double x) {
    std::erase_if(points, [](const CurvePoint& p) { return !(p.x > 0.0 && p.y > 0.0); });
    if (points.size() < 2 || !(x > 0.0)) {
        return std::nullopt;
    }
    std::ranges::sort(points, {}, &CurvePoint::x);
    std::size_t i = 1;
    while (i + 1 < points.size() && points[i].x < x) {
        ++i;
    }
    const CurvePoint& a = points[i - 1];
    const CurvePoint& b = points[i];
    if (a.x == b.x) {
        return std::nullopt;
    }
    const double slope = std::log(b.y / a.y) / std::log(b.x / a.x);
    return CurveValue{a.y * std::pow(x / a.x, slope),
                      x >= a.x && x <= b.x ? "interpolated" : "extrapolated"};
}

class Bench {
 public:
    explicit Bench(const Arguments& arguments) : arguments_(arguments) {}

    void run() {
        load();
        if (arguments_.city_triangles == 0) {
            make_truth();
        }
        if (wants("embree")) {
            trace_paths();
        }
        if (arguments_.only != "embree") {
            bake_all();
        }
        if (!arguments_.json.empty()) {
            std::ofstream(arguments_.json) << json_.dump(1) << "\n";
        }
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
        } else if (arguments_.demo) {
            scene_ = demo_scene();
        } else {
            LoadedScene loaded = load_scene(arguments_.scene);
            scene_ = std::move(loaded.scene);
        }
        const double load_seconds = seconds_since(start);
        if (scene_.light_map_coordinates.empty()) {
            throw std::runtime_error("the scene has no light map coordinates");
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
            formatted("scene: %zu triangles, light map %u x %u with %zu covered texels, sky %g %g "
                      "%g, %zu suns, %u bounces; made in %.3f s, its surface in %.3f s",
                      scene_.triangles.size(), surface_.extent.width, surface_.extent.height,
                      covered, double{light_.sky.radiance.r}, double{light_.sky.radiance.g},
                      double{light_.sky.radiance.b}, light_.suns.size(), arguments_.bounces,
                      load_seconds, surface_seconds));
        json_["triangles"] = scene_.triangles.size();
        json_["light_map"] = {surface_.extent.width, surface_.extent.height};
        json_["covered_texels"] = covered;
        json_["bounces"] = arguments_.bounces;
        json_["rows"] = Json::array();
    }

    [[nodiscard]] std::optional<Extent> given_extent() const {
        Extent extent;
        if (arguments_.size.empty()) {
            return std::nullopt;
        }
        const int read =
            std::sscanf(arguments_.size.c_str(), "%ux%u", &extent.width, &extent.height);
        if (read < 1) {
            throw std::runtime_error("--size takes W or WxH");
        }
        extent.height = read == 2 ? extent.height : extent.width;
        return extent;
    }

    void make_truth() {
        truth_ = find_truth(scene_, surface_,
                            {.samples_per_texel = arguments_.truth_samples,
                             .bounces = arguments_.bounces,
                             .sky = light_.sky.radiance,
                             .is_of_texels = arguments_.truth_of_texels,
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
        print(
            "\"error\" is the RMSE less the truth's own; ~: the RMSE is less than twice that. \"99 "
            "% is\": 99 %\nof the texels differ by less of the mean irradiance. \"dir. MiB\": list "
            "heads and nodes of all\ntiles of a direction, the most; \"tile MiB\": of the largest "
            "tile.");
        json_["truth"] = {{"samples_per_texel", arguments_.truth_samples},
                          {"texels", truth_->used_texels},
                          {"mean", truth_->mean},
                          {"error", truth_->error},
                          {"seconds", truth_->seconds},
                          {"rays", truth_->rays}};
    }

    void trace_paths() {
        print("\nPath tracer\nsamples   seconds   Mrays/s" + std::string(DIFFERENCE_HEADER));
        for (const std::uint32_t samples : arguments_.samples) {
            const test::PathTracedMap map = test::trace_paths(scene_, surface_,
                                                              {.samples_per_texel = samples,
                                                               .bounces = arguments_.bounces,
                                                               .sky = light_.sky.radiance,
                                                               .seed = 1});
            const PathRow& row = path_rows_.emplace_back(
                PathRow{.samples = samples,
                        .seconds = map.seconds,
                        .rays = static_cast<double>(map.rays),
                        .difference = compare(map.irradiance, {}, *truth_)});
            print(formatted("%7u  %8.3f  %8.1f", samples, row.seconds,
                            row.rays * 1e-6 / row.seconds) +
                  difference_text(row.difference, *truth_));
            json_["rows"].push_back({{"table", "embree"},
                                     {"samples", samples},
                                     {"seconds", row.seconds},
                                     {"rays", row.rays},
                                     {"difference", difference_json(row.difference)}});
        }
    }

    void bake_all() {
        baker_.emplace(scene_, surface_, light_, arguments_);
        print("\ndevice: " + baker_->device_name());
        json_["device"] = baker_->device_name();
        // Drivers compile and allocate at first.
        (void)baker_->bake_row({.directions = 1, .pool_bytes = pool_bytes()}, nullptr);
        if (arguments_.city_triangles > 0) {
            print_bake_header("City");
            bake_row("city", base());
            print_shares();
            return;
        }
        if (wants("adaptive")) {
            bake_adaptive();
        }
        if (wants("uniform")) {
            print_bake_header("Uniform tiles");
            for (const float pixels : {0.12F, 0.18F, 0.25F, 0.35F, 0.5F, 0.7F, 1.0F}) {
                BakeSetting setting = base();
                setting.uniform = true;
                setting.pixels_per_texel = pixels;
                bake_row("uniform", setting);
            }
        }
        if (wants("memory")) {
            print_bake_header("Memory: adaptive tiles, then uniform ones");
            for (const bool uniform : {false, true}) {
                for (const std::uint64_t mib : {64U, 128U, 256U}) {
                    BakeSetting setting = base();
                    setting.uniform = uniform;
                    setting.directions = arguments_.memory_directions;
                    setting.pool_bytes = mib * MIB;
                    bake_row("memory", setting);
                }
            }
        }
        answer();
    }

    void bake_adaptive() {
        print_bake_header("Adaptive tiles: directions");
        for (const std::uint32_t directions : arguments_.all_directions) {
            BakeSetting setting = base();
            setting.directions = directions;
            bake_row("adaptive", setting);
        }
        print_bake_header("Adaptive tiles: resolution");
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
        return {.directions = arguments_.directions,
                .density_share = arguments_.density_share,
                .pool_bytes = pool_bytes()};
    }

    void bake_row(const std::string& table, const BakeSetting& setting) {
        const Truth* const truth = truth_ ? &*truth_ : nullptr;
        std::vector<BakeRow>& rows = bake_rows_[table];
        rows.push_back(baker_->bake_row(setting, truth));
        print(bake_text(rows.back(), truth));
        json_["rows"].push_back(bake_json(table, rows.back()));
    }

    // ---- Answers

    void answer() {
        print_shares();
        print_convergence();
        print_against_uniform();
        print_against_paths();
    }

    void print_shares() {
        print("\nShare of the tile requests in the bake (of quadtile's part on the GPU)");
        for (const char* const table : {"adaptive", "adaptive resolution", "city"}) {
            for (const BakeRow& row : bake_rows_[table]) {
                if (!row.is_extrapolated) {
                    print(formatted(
                        "%6u directions, %.2f pixels a texel, tiles of %3.0f: %6.2f %% (%.3f %%)",
                        row.setting.directions, double{row.setting.pixels_per_texel},
                        double{row.setting.max_resolution},
                        100.0 * row.statistics.tile_request_seconds / row.seconds,
                        100.0 * row.statistics.subdivision_seconds / row.seconds));
                }
            }
        }
    }

    // Rows whose light is there and not in the truth's own noise.
    [[nodiscard]] std::vector<const BakeRow*> usable(const std::string& table) {
        std::vector<const BakeRow*> rows;
        for (const BakeRow& row : bake_rows_[table]) {
            if (row.difference && row.difference->error > 0.0) {
                rows.push_back(&row);
            }
        }
        return rows;
    }

    void print_convergence() {
        const std::vector<const BakeRow*> rows = usable("adaptive");
        if (rows.size() < 2) {
            return;
        }
        print("\nError by directions N: 1 / sqrt(N) is an exponent of -0.5");
        const auto exponent = [](const BakeRow& a, const BakeRow& b) {
            return std::log(b.difference->error / a.difference->error) /
                   std::log(double(b.setting.directions) / a.setting.directions);
        };
        for (std::size_t i = 1; i < rows.size(); ++i) {
            print(formatted("%6u to %6u: %+.3f%s", rows[i - 1]->setting.directions,
                            rows[i]->setting.directions, exponent(*rows[i - 1], *rows[i]),
                            rows[i]->difference->is_noise ? " ~" : ""));
        }
        const double overall = exponent(*rows.front(), *rows.back());
        print(formatted(
            "%6u to %6u: %+.3f: %s", rows.front()->setting.directions,
            rows.back()->setting.directions, overall,
            overall <= -0.5 ? "falls at least as 1 / sqrt(N)" : "falls slower than 1 / sqrt(N)"));
        json_["exponent"] = overall;
    }

    void print_against_uniform() {
        std::vector<CurvePoint> seconds;
        std::vector<CurvePoint> directions;
        double bytes = 0.0;
        for (const BakeRow* const row : usable("adaptive")) {
            seconds.push_back({row->difference->error, row->seconds});
            directions.push_back(
                {row->difference->error, static_cast<double>(row->setting.directions)});
            bytes = std::max(bytes, row->memory.most_bytes);
        }
        const std::vector<const BakeRow*> rows = usable("uniform");
        if (rows.empty() || seconds.size() < 2) {
            return;
        }
        print(
            "\nUniform tiles against adaptive ones (1 pixel a texel) of the same error: the "
            "directions of\nthese, times, and memory of a direction");
        for (const BakeRow* const row : rows) {
            const auto same = on_curve(seconds, row->difference->error);
            const auto same_directions = on_curve(directions, row->difference->error);
            if (!same || !same_directions) {
                continue;
            }
            print(
                formatted("%.2f pixels a texel: error %.5f, adaptive with %.0f directions (%s): "
                          "%.3f s / %.3f s = %.2f; %.2f MiB / %.2f MiB = %.2f",
                          double{row->setting.pixels_per_texel}, row->difference->error,
                          same_directions->y, same->how, row->seconds, same->y,
                          row->seconds / same->y, row->memory.most_bytes / static_cast<double>(MIB),
                          bytes / static_cast<double>(MIB), row->memory.most_bytes / bytes));
        }
    }

    void print_against_paths() {
        std::vector<CurvePoint> seconds;
        for (const PathRow& row : path_rows_) {
            seconds.push_back({row.difference.error, row.seconds});
        }
        print(seconds.empty() ? "" : "\nPath tracer of the same error");
        for (const BakeRow* const row : usable("adaptive")) {
            if (const auto same = on_curve(seconds, row->difference->error)) {
                print(formatted(
                    "%6u directions: error %.5f%s: path tracer %.3f s (%s) / %.3f s = %.2f",
                    row->setting.directions, row->difference->error,
                    row->difference->is_noise ? "~" : "", same->y, same->how, row->seconds,
                    same->y / row->seconds));
            }
        }
    }

    const Arguments& arguments_;
    Scene scene_;
    Light light_;
    SurfaceMap surface_;
    std::optional<Truth> truth_;
    std::optional<Baker> baker_;
    std::vector<PathRow> path_rows_;
    std::map<std::string, std::vector<BakeRow>> bake_rows_;
    Json json_;
};

void define_options(CLI::App& app, Arguments& arguments) {
    app.add_option("SCENE", arguments.scene, "glTF or OBJ with light map coordinates");
    app.add_flag("--demo", arguments.demo, "Instead of SCENE: the demo's room");
    app.add_option("--city", arguments.city_triangles,
                   "Instead of SCENE: a city of about N triangles, for times and memory only");
    app.add_option("--size", arguments.size, "Texels of the light map: W or WxH");
    app.add_option("--sky", arguments.sky,
                   "Radiance, one number or R,G,B; without it 1, but 0 where the scene shines")
        ->delimiter(',');
    app.add_option("--sun-direction", arguments.sun_direction,
                   "Where the light of a sun goes, X,Y,Z, instead of the scene's suns")
        ->delimiter(',')
        ->expected(3);
    app.add_option("--sun", arguments.sun_irradiance, "Irradiance of the sun");
    app.add_option("--sun-directions", arguments.sun_directions, "Of the bakes, for each sun");
    app.add_option("--bounces", arguments.bounces, "Bounces of the light");
    app.add_option("--only", arguments.only, "A part of the tables")
        ->check(CLI::IsMember({"embree", "adaptive", "uniform", "memory", "all"}));
    app.add_option("--truth-samples", arguments.truth_samples, "Samples a texel of the truth");
    app.add_option("--truth", arguments.truth, "File that keeps the truth");
    app.add_flag("--truth-of-texels", arguments.truth_of_texels,
                 "In the truth surfaces send the mean light of their texels, as in the baker");
    app.add_option("--samples", arguments.samples, "Samples a texel of the path tracer")
        ->delimiter(',');
    app.add_option("--directions", arguments.all_directions,
                   "Of adaptive tiles, a list; other tables take --base-directions")
        ->delimiter(',');
    app.add_option("--base-directions", arguments.directions, "Where other things vary");
    app.add_option("--memory-directions", arguments.memory_directions, "Of the table on memory");
    app.add_option("--memory", arguments.memory_mib, "MiB for list heads and nodes")
        ->check(CLI::Range(16, 65536));
    app.add_option("--density-share", arguments.density_share,
                   "As quadtile-bake has it; 0.999: all but slivers")
        ->check(CLI::Range(0.01F, 0.999F));
    app.add_option("--most-seconds", arguments.most_seconds,
                   "A bake that takes longer is stopped, its time extrapolated");
    app.add_option("--seed", arguments.seed, "Turns the directions of the bakes");
    app.add_option("--json", arguments.json, "File for the rows");
}

}  // namespace
}  // namespace quadtile::baker

int main(int argc, char** argv) {
    quadtile::baker::Arguments arguments;
    CLI::App app("Times, memory and errors of the light map baker");
    app.option_defaults()->always_capture_default();
    quadtile::baker::define_options(app, arguments);
    CLI11_PARSE(app, argc, argv);
    if (arguments.city_triangles > 0) {
        if (app.count("--directions") > 0) {
            arguments.directions = arguments.all_directions.front();
        }
        if (app.count("--most-seconds") == 0) {
            arguments.most_seconds = std::numeric_limits<double>::infinity();
        }
    }
    try {
        quadtile::baker::Bench(arguments).run();
    } catch (const std::exception& error) {
        std::cerr << "quadtile_baker_bench: " << error.what() << std::endl;
        return 1;
    }
}
