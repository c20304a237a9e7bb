#include "subdivide_map.hpp"

#include "draw_tiles.hpp"
#include "open_device.hpp"

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/tiler.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace quadtile::app {

TileList subdivide_map(const MapView& map, const SubdivisionRequest& request) {
    try {  // a list of another length than the map has levels
        request.threshold->check_fits(map.shape);
    } catch (const Error& error) {
        throw UsageError(std::string("--level-thresholds: ") + error.what());
    }
    if (request.strategy == Strategy::reference) {
        const Stopwatch watch;
        TileList list = reference::subdivide(map, *request.threshold, request.options);
        list.report.stages.push_back(watch.stage("subdivide"));
        return list;
    }
    const Stopwatch device_watch;
    const Device device = open_device(request.device, "--strategy reference");
    const StageTime opening = device_watch.stage("open the device");
    const Stopwatch tiler_watch;
    Tiler tiler(device, {request.strategy, request.subtree_levels});
    const StageTime making = tiler_watch.stage("make a tiler");
    TileList list = tiler.subdivide(map, *request.threshold, request.options);
    list.report.stages.insert(list.report.stages.begin(), {opening, making});
    return list;
}

void write_image(OutputFile& file, const MapView& map, const std::vector<Tile>& tiles) {
    file.write(encode_png(draw_tiles(map, tiles)));
}

std::unique_ptr<TraceFile> open_trace(const SubdivisionRequest& request, const StageTime& load) {
    return request.trace.empty() ? nullptr
                                 : std::make_unique<TraceFile>(request.trace.string(), load.start);
}

void write_trace(TraceFile* trace, const TileList& list, const StageTime& load,
                 const StageTime& write) {
    if (trace == nullptr) {
        return;
    }
    const std::string track = "quadtile";
    trace->add({&load, 1}, track);
    trace->add(list.report.stages, track);
    trace->add({&write, 1}, track);
    trace->close();
}

std::string describe_run(const TileList& list, const StageTime& load, const StageTime& write) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(3);
    const auto line = [&](const std::string& name) -> std::ostream& {
        return text << std::left << std::setw(24) << name << std::right;
    };
    const auto clamped = std::ranges::count_if(list.tiles, &Tile::clamped);
    const RunReport& report = list.report;
    const std::string device = report.device.empty() ? "none (host)" : report.device;

    line("map") << list.shape.width << " x " << list.shape.height << " texels\n";
    line("device") << device << "\n";
    line("strategy") << name_in(STRATEGIES, report.strategy)
                     << (report.strategy_reason.empty() ? "" : ": " + report.strategy_reason)
                     << "\n";
    if (list.threshold_factor != 1.0F) {
        line("thresholds times") << list.threshold_factor << "\n";
    }
    line("tiles") << list.tiles.size() << "\n";
    const std::vector<std::uint64_t> counts = list.tiles_per_level();
    for (std::size_t level = counts.size(); level-- > 0;) {
        line("  of level " + std::to_string(level)) << counts[level] << "\n";
    }
    line("clamped tiles") << clamped << "\n";
    line("NaN texels") << list.nan_texels << "\n";
    line("buffer repeats") << report.buffer_repeats << "\n";
    std::vector<StageTime> stages = report.stages;
    stages.insert(stages.begin(), load);
    stages.push_back(write);
    for (const StageTime& stage : stages) {
        line(stage.stage) << stage.milliseconds << (stage.on_gpu ? " ms on the GPU\n" : " ms\n");
    }
    return text.str();
}

}  // namespace quadtile::app
