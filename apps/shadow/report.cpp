#include "report.hpp"

#include "options_json.hpp"

#include <cstdlib>

namespace quadtile::shadow {

namespace {

using Json = nlohmann::ordered_json;

Json tiles_json(const ShadowHeader& header) {
    return {{"count", header.tiles},
            {"kept", header.kept},
            {"added", header.added},
            {"removed", header.removed},
            {"resized", header.resized},
            {"rendered", header.render_count},
            {"repacked", (header.flags & SHADOW_REPACKED) != 0},
            {"instances", header.instances},
            {"factor", header.factor},
            {"used_cells", header.used_cells}};
}

Json difference_json(const MaskDifference& difference) {
    return {{"surface_pixels", difference.surface_pixels},
            {"wrong", difference.wrong},
            {"wrongly_lit", difference.wrongly_lit},
            {"wrongly_shadowed", difference.wrongly_shadowed}};
}

Json frame_json(const ReportedFrame& frame) {
    const glm::vec3& position = frame.camera.position;
    const Timings& timings = frame.statistics.timings;
    Json json{{"flight_second", frame.flight_second},
              {"camera",
               {position.x, position.y, position.z, frame.camera.yaw_degrees,
                frame.camera.pitch_degrees}},
              {"gpu_microseconds",
               {{"depth", timings.depth},
                {"fit", timings.fit},
                {"cull", timings.cull},
                {"maps", timings.maps},
                {"shade", timings.shade}}}};
    if (frame.statistics.header) {
        json["tiles"] = tiles_json(*frame.statistics.header);
    }
    if (frame.statistics.difference) {
        json["error"] = difference_json(*frame.statistics.difference);
    }
    return json;
}

}  // namespace

std::string report_json(const Report& report) {
    const Options& options = report.options;
    Json frames = Json::array();
    for (const ReportedFrame& frame : report.frames) {
        frames.push_back(frame_json(frame));
    }
    const Json json{{"scene", report.show.name},
                    {"triangles", report.show.geometry.indices.size() / 3},
                    {"flight", report.show.flight.name},
                    {"device", report.device},
                    {"size", {options.extent.width, options.extent.height}},
                    {"technique", name_of(options.technique)},
                    {"picture", name_of(options.display)},
                    {"filtered", options.filtered},
                    {"shadows", options_json(options.shadows)},
                    {"atlas_cells", shadow_atlas_cells(shadow_parameters(options.shadows))},
                    {"warnings", report.show.warnings},
                    {"frames", frames}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace quadtile::shadow
