#include "report.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace quadtile::baker {

namespace {

using Json = nlohmann::ordered_json;

Json statistics_json(const TracerStatistics& statistics) {
    return {{"tiles", statistics.tiles},
            {"pixels", statistics.pixels},
            {"predicted_nodes", statistics.predicted_nodes},
            {"nodes", statistics.nodes},
            {"repeated_tiles", statistics.repeated_tiles},
            {"split_tiles", statistics.split_tiles},
            {"submissions", statistics.submissions},
            {"longest_submission_seconds", statistics.longest_submission_seconds},
            {"most_pool_bytes", statistics.most_pool_bytes},
            {"tile_request_seconds", statistics.tile_request_seconds},
            {"importance_maps_gpu_seconds", statistics.map_seconds},
            {"subdivision_gpu_seconds", statistics.subdivision_seconds},
            {"tracing_seconds", statistics.tracing_seconds}};
}

std::string formatted(const char* format, auto... values) {
    char text[200];
    std::snprintf(text, sizeof(text), format, values...);
    return text;
}

}  // namespace

std::string report_json(const BakeReport& report) {
    Json stages = Json::array();
    for (const Stage& stage : report.stages) {
        stages.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
    }
    Json passes = Json::array();
    for (const PassReport& pass : report.passes) {
        passes.push_back({{"name", pass.name},
                          {"directions", pass.directions},
                          {"seconds", pass.seconds},
                          {"mean_irradiance", pass.mean_irradiance},
                          {"change", pass.change}});
    }
    const Json json{{"device", report.device},
                    {"interrupted", report.interrupted},
                    {"triangles", report.triangles},
                    {"light_map", {report.light_map.width, report.light_map.height}},
                    {"covered_texels", report.covered_texels},
                    {"known_texels", report.known_texels},
                    {"inside_texels", report.inside_texels},
                    {"overlapping_texels", report.overlapping_texels},
                    {"seams", report.seams},
                    {"options",
                     {{"directions", report.bake.directions},
                      {"direct_directions", report.bake.direct_directions},
                      {"bounces", report.bake.bounces},
                      {"sun_directions", report.bake.sun_directions},
                      {"seed", report.bake.seed},
                      {"directional", report.bake.directional},
                      {"uniform", report.tiles.uniform},
                      {"map_size", report.tiles.map_extent},
                      {"max_tile_resolution", report.tiles.max_resolution},
                      {"max_tile_nodes", report.tiles.max_nodes},
                      {"memory_bytes", report.pool_bytes}}},
                    {"stages", stages},
                    {"passes", passes},
                    {"tracing", statistics_json(report.statistics)},
                    {"warnings", report.warnings}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_summary(const BakeReport& report) {
    std::string text =
        formatted("%zu triangles, %u x %u texels, %zu of them baked, on ", report.triangles,
                  report.light_map.width, report.light_map.height, report.known_texels) +
        report.device + "\n";
    for (const PassReport& pass : report.passes) {
        text += formatted("%-12s %8.2f s", pass.name.c_str(), pass.seconds);
        if (pass.mean_irradiance > 0.0) {
            text += formatted("  mean irradiance %.5g, %+.2g %%", pass.mean_irradiance,
                              100.0 * pass.change / pass.mean_irradiance);
        }
        text += "\n";
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

}  // namespace quadtile::baker
