#include "commands.hpp"
#include "demo_map.hpp"
#include "save_image.hpp"
#include "subdivide_map.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>

namespace quadtile::app {

namespace {

std::string summary(const TileList& list, const DemoRequest& request) {
    std::uint32_t levels = 0;
    for (const std::uint64_t count : list.tiles_per_level()) {
        levels += count > 0 ? 1 : 0;
    }
    double on_host = 0.0;
    double on_gpu = 0.0;
    for (const StageTime& stage : list.report.stages) {
        (stage.on_gpu ? on_gpu : on_host) += stage.milliseconds;
    }
    const double subdivision = on_gpu > 0.0 ? on_gpu : on_host;
    std::ostringstream text;
    text << "Subdivided a map of " << list.shape.width << " x " << list.shape.height
         << " texels into " << list.tiles.size() << " tiles of " << levels << " sizes, "
         << std::fixed << std::setprecision(1) << subdivision << " ms on "
         << (list.report.device.empty() ? "the host" : list.report.device) << " ("
         << name_in(STRATEGIES, list.report.strategy) << ").\n"
         << "  " << request.output.string() << "  the tiles\n"
         << "  " << request.image.string() << "  the map (bright: more texels needed) and the "
         << "tiles' outlines\n";
    if (!request.map.empty()) {
        text << "  " << request.map.string() << "  the map, for 'quadtile tiles'\n";
    }
    return text.str();
}

}  // namespace

void run(const DemoRequest& request) {
    const Stopwatch load_watch;
    const std::vector<float> texels = render_demo_map(request.size);
    const MapView map = view_of(texels, request.size, request.size);
    const StageTime load = load_watch.stage("load");

    SubdivisionRequest subdivision = request.subdivision;
    if (!subdivision.threshold) {
        subdivision.threshold = Threshold::max_resolution(DEMO_MAX_RESOLUTION);
    }
    const TileList list = subdivide_map(map, subdivision);

    const auto trace = open_trace(subdivision, load);
    const Stopwatch write_watch;
    OutputFile output(request.output);
    write_tiles(list, request.format, [&](std::string_view bytes) { output.write(bytes); });
    OutputFile image(request.image);
    write_image(image, map, list.tiles);
    if (!request.map.empty()) {
        OutputFile map_file(request.map);
        map_file.write(request.map.extension() == ".exr" ? encode_exr(map) : encode_pfm(map));
        map_file.commit();
    }
    output.commit();
    image.commit();
    const StageTime write = write_watch.stage("write");
    if (subdivision.stats) {
        std::cerr << describe_run(list, load, write);
    }
    write_trace(trace.get(), list, load, write);

    OutputFile standard_output = OutputFile::standard_output();
    standard_output.write(summary(list, request));
    standard_output.commit();
}

}  // namespace quadtile::app
