#include "report.hpp"

#include "platform.hpp"
#include "process.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>

namespace quadtile::baker {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TracerStatistics, tiles, pixels, predicted_nodes, nodes,
                                   repeated_tiles, most_pool_bytes, map_seconds, cull_seconds,
                                   rasterise_seconds, walk_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stage, name, seconds)

namespace {

using Json = nlohmann::ordered_json;

Json percent_json(const std::optional<double>& share) {
    return share ? Json(100.0 * *share) : Json();
}

std::string formatted(const char* format, auto... values) {
    char text[200];
    std::snprintf(text, sizeof(text), format, values...);
    return text;
}

}  // namespace

std::string report_json(const BakeReport& report) {
    Json passes = Json::array();
    for (const PassReport& pass : report.passes) {
        passes.push_back({{"name", pass.name},
                          {"directions", pass.directions},
                          {"seconds", pass.seconds},
                          {"mean_irradiance", pass.mean_irradiance},
                          {"change", pass.change},
                          {"noise_percent", percent_json(pass.noise)}});
    }
    const Json json{{"device", report.device},
                    {"ranks", report.ranks},
                    {"interrupted", report.interrupted},
                    {"triangles", report.triangles},
                    {"light_map", {report.light_map.width, report.light_map.height}},
                    {"pages", report.pages},
                    {"quantity", name_of(report.quantity)},
                    {"rgbm_range", report.rgbm_range ? Json(*report.rgbm_range) : Json()},
                    {"covered_texels", report.covered_texels},
                    {"known_texels", report.known_texels},
                    {"inside_texels", report.inside_texels},
                    {"overlapping_texels", report.overlapping_texels},
                    {"seams", report.seams},
                    {"noise_percent", percent_json(report.noise)},
                    {"denoised_noise_percent", percent_json(report.denoised)},
                    {"options",
                     {{"directions", report.bake.directions},
                      {"direct_directions", report.bake.direct_directions},
                      {"noise_percent", 100.0 * report.bake.noise},
                      {"bounces", report.bake.bounces},
                      {"sun_directions", report.bake.sun_directions},
                      {"lamp_points", report.bake.lamp_points},
                      {"seed", report.bake.seed},
                      {"directional", report.bake.directional},
                      {"memory_bytes", report.pool_bytes}}},
                    {"stages", nlohmann::json(report.stages)},
                    {"passes", passes},
                    {"tracing", nlohmann::json(report.statistics)},
                    {"warnings", report.warnings}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_summary(const BakeReport& report) {
    const std::string holds =
        "the lightmap holds " + name_of(report.quantity) +
        (report.rgbm_range ? formatted(" = (RGB * A)^2 * %.9g\n", *report.rgbm_range) : "\n");
    if (report.passes.empty()) {
        return holds;
    }
    std::string text = formatted("%zu triangles, ", report.triangles) +
                       (report.pages == 1 ? "" : formatted("%u pages of ", report.pages)) +
                       formatted("%u x %u texels, %zu of them baked, on ", report.light_map.width,
                                 report.light_map.height, report.known_texels) +
                       report.device + "\n" + holds;
    for (const PassReport& pass : report.passes) {
        text += formatted("%-12s %8.2f s", pass.name.c_str(), pass.seconds);
        if (pass.mean_irradiance > 0.0) {
            text += formatted("  mean irradiance %.5g", pass.mean_irradiance);
        }
        if (pass.change > 0.0 && pass.change < pass.mean_irradiance) {
            text += formatted(", %.2g %% of it new", 100.0 * pass.change / pass.mean_irradiance);
        }
        if (pass.noise) {
            text += formatted(", noise %.2g %%", 100.0 * *pass.noise);
        }
        text += "\n";
    }
    if (report.noise) {
        text +=
            formatted("noise of the lightmap: %.2g %% of its mean light", 100.0 * *report.noise);
        text += report.denoised
                    ? formatted(", %.2g %% after the denoiser\n", 100.0 * *report.denoised)
                    : "\n";
    }
    const TracerStatistics& statistics = report.statistics;
    text += formatted("%llu tiles, %.4g fragments (%.4g predicted), %llu tiles repeated, ",
                      static_cast<unsigned long long>(statistics.tiles),
                      static_cast<double>(statistics.nodes), statistics.predicted_nodes,
                      static_cast<unsigned long long>(statistics.repeated_tiles));
    text += formatted("%.1f MiB of lists\n",
                      static_cast<double>(statistics.most_pool_bytes) / (1U << 20U));
    return text;
}

namespace {

using namespace std::chrono_literals;

// Returns "12 s", "3 min 20 s" or "2 h 5 min".
std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
    if (whole < 60) {
        return std::to_string(whole) + " s";
    }
    if (whole < 3600) {
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    }
    return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

double share_of(const BakeProgress& progress) {
    return progress.directions == 0 ? 1.0
                                    : static_cast<double>(progress.directions_done) /
                                          static_cast<double>(progress.directions);
}

}  // namespace

std::string progress_text(const BakeProgress& progress, std::uint32_t width) {
    const double share = share_of(progress);
    const auto filled = static_cast<std::uint32_t>(share * width);
    char percent[8];
    std::snprintf(percent, sizeof(percent), "%3d %%", static_cast<int>(100.0 * share));
    std::string text = "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " +
                       percent + "  " + progress.pass;
    const auto done_now =
        static_cast<double>(progress.directions_done - progress.resumed_directions);
    const auto left = static_cast<double>(progress.directions - progress.directions_done);
    if (done_now > 0.0 && progress.seconds > 0.5) {
        text += ", " + duration_text(left * progress.seconds / done_now) + " left";
    }
    if (progress.noise) {
        text += formatted(", noise so far %.2g %%", 100.0 * *progress.noise);
    }
    return text;
}

ProgressLine::ProgressLine(bool quiet)
    : quiet_(quiet),
      is_terminal_(app::platform::is_terminal(2)),
      last_time_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
    end();
}

void ProgressLine::show(const BakeProgress& progress) {
    if (quiet_) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (is_terminal_) {
        if (!is_open_ || now - last_time_ >= 100ms) {
            // The end of the line may still hold a longer one.
            std::fprintf(stderr, "\r%s\033[K", progress_text(progress).c_str());
            std::fflush(stderr);
            is_open_ = true;
            last_time_ = now;
        }
        return;
    }
    const auto tenth = static_cast<std::uint64_t>(10.0 * share_of(progress));
    if (tenth != last_tenth_ || now - last_time_ >= 60s) {
        std::fprintf(stderr, "%s\n", progress_text(progress).c_str());
        last_tenth_ = tenth;
        last_time_ = now;
    }
}

void ProgressLine::end() {
    if (is_open_) {
        std::fprintf(stderr, "\r\033[K");
        std::fflush(stderr);
        is_open_ = false;
    }
}

std::jthread tell_if_long(std::string what) {
    return std::jthread([what = std::move(what)](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        (void)std::condition_variable_any().wait_for(lock, stop, std::chrono::seconds(2),
                                                     [] { return false; });
        if (!stop.stop_requested()) {
            std::cerr << app::message_line("quadtile-bake", what) << std::endl;
        }
    });
}

}  // namespace quadtile::baker
