#include "commands.hpp"

#include "draw_tiles.hpp"
#include "glsl_file.hpp"
#include "kept_pipelines.hpp"
#include "output_file.hpp"
#include "platform.hpp"
#include "process.hpp"
#include "save_image.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/tiler.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

namespace quadtile::app {

namespace {

void print_warning(Severity severity, std::string_view message) {
    if (severity != Severity::info) {
        std::cerr << message_line("quadtile: warning", message) + "\n";
    }
}

}  // namespace

Device open_device(const std::string& select, const std::string& without) {
    const std::vector<std::byte> pipelines = kept_pipelines();
    try {
        DeviceOptions options;
        options.select = select;
        options.log = print_warning;
        options.pipeline_cache = pipelines;
        options.check = DeviceCheck::automatic;
        return Device::create(options);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::no_device) {
            throw;
        }
        throw Error(error.code(),
                    std::string(error.what()) + "; " + without + " works without a device",
                    error.vk_result());
    }
}

// ---- Parts of `tiles` and `demo`: subdivide a map, write the result, report about it

namespace {

// Measures the time since its construction.
class Stopwatch {
 public:
    [[nodiscard]] StageTime stage(const std::string& name) const {
        const std::chrono::duration<double, std::milli> elapsed =
            std::chrono::steady_clock::now() - start_;
        return {name, elapsed.count(), false, start_};
    }

 private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Subdivides on the host for Strategy::reference, without Vulkan; otherwise on the chosen device.
TileList subdivide_map(const MapView& map, const Threshold& threshold,
                       const TilesRequest& request) {
    if (request.strategy == Strategy::reference) {
        const Stopwatch watch;
        TileList list = reference::subdivide(map, threshold, request.options);
        list.report.stages.push_back(watch.stage("subdivide"));
        return list;
    }
    const Stopwatch device_watch;
    const Device device = open_device(request.device, "'quadtile tiles' with --strategy reference");
    const StageTime opening = device_watch.stage("open the device");
    const Stopwatch tiler_watch;
    Tiler tiler(device, {request.strategy, request.subtree_levels});
    const StageTime making = tiler_watch.stage("make a tiler");
    TileList list = tiler.subdivide(map, threshold, request.options);
    list.report.stages.insert(list.report.stages.begin(), {opening, making});
    keep_pipelines(device);
    return list;
}

// Returns the stages in Chrome's trace-event format. Times count from the start of `load`.
std::string trace_of(const TileList& list, const StageTime& load, const StageTime& write) {
    using Microseconds = std::chrono::duration<double, std::micro>;
    using nlohmann::json;
    json events = json::array();
    for (const auto& [thread, name] : {std::pair{1, "quadtile"}, std::pair{2, "quadtile, GPU"}}) {
        events.push_back({{"ph", "M"},
                          {"pid", 1},
                          {"tid", thread},
                          {"name", "thread_name"},
                          {"args", {{"name", name}}}});
    }
    std::vector<StageTime> stages = list.report.stages;
    stages.insert(stages.begin(), load);
    stages.push_back(write);
    for (const StageTime& stage : stages) {
        events.push_back({{"ph", "X"},
                          {"pid", 1},
                          {"tid", stage.on_gpu ? 2 : 1},
                          {"name", stage.stage},
                          {"ts", Microseconds(stage.start - load.start).count()},
                          {"dur", 1000.0 * stage.milliseconds}});
    }
    return events.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

// Returns a line for each number of --stats, with the stages before and after those of the list.
// `channel`: that of the map; empty: it is no file's.
std::string describe_run(const TileList& list, const std::string& channel, const StageTime& load,
                         const StageTime& write) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(3);
    const auto line = [&](const std::string& name) -> std::ostream& {
        return text << std::left << std::setw(24) << name << std::right;
    };
    const auto clamped = std::ranges::count_if(list.tiles, &Tile::clamped);
    const RunReport& report = list.report;
    const std::string device = report.device.empty() ? "none (host)" : report.device;

    line("map") << list.shape.width << " x " << list.shape.height << " texels\n";
    if (!channel.empty()) {
        line("channel") << channel << "\n";
    }
    line("device") << device << "\n";
    line("strategy") << name_in(STRATEGIES, report.strategy)
                     << (report.strategy_reason.empty() ? "" : ": " + report.strategy_reason)
                     << "\n";
    if (list.threshold_factor != 1.0F) {
        line("thresholds times") << list.threshold_factor << "\n";
    }
    line("tiles") << list.tiles.size() << "\n";
    if (list.balance != Balance::none) {
        line("balance") << name_in(BALANCES, list.balance) << "\n";
    }
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

// ---- tiles

std::string text_of_size(const MapShape& shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " texels";
}

// Returns the channel that counts fragments: no other one may stand for it.
std::string fragments_channel(const std::filesystem::path& file) {
    const std::vector<std::string> channels = channels_of(file);
    if (channels.size() > 1 && std::ranges::find(channels, "count") == channels.end()) {
        throw UsageError("--fragments '" + text_of(file) + "' has the channels " +
                         joined(channels) + "; name the one that counts fragments 'count'");
    }
    return channels.size() > 1 ? "count" : "";
}

Threshold memory_threshold(const ThresholdRequest& request, const MapShape& shape) {
    const LoadedMap fragments = load_map(request.fragments, fragments_channel(request.fragments));
    if (fragments.shape.width != shape.width || fragments.shape.height != shape.height) {
        throw UsageError("--fragments: '" + text_of(request.fragments) + "' has " +
                         text_of_size(fragments.shape) + ", but INPUT has " + text_of_size(shape) +
                         "; give a file of the same size");
    }
    try {
        return Threshold::memory(request.memory[0], request.memory[1], fragments.view());
    } catch (const Error& error) {
        throw std::runtime_error("cannot use '" + text_of(request.fragments) +
                                 "': " + error.what());
    }
}

// A list may be shorter or longer than the map has levels.
Threshold level_thresholds(std::vector<float> levels, const MapShape& shape) {
    const std::size_t count = std::size_t{top_level(shape.width, shape.height)} + 1;
    levels.resize(std::max(levels.size(), count), levels.back());
    try {
        Threshold threshold = Threshold::per_level(std::move(levels));
        threshold.check_fits(shape);
        return threshold;
    } catch (const Error& error) {
        throw UsageError(std::string("--level-thresholds: ") + error.what());
    }
}

// Reads `glsl` if the threshold is a function.
Threshold threshold_of(const ThresholdRequest& request, const MapShape& shape, GlslFile& glsl) {
    if (!request.glsl.empty()) {
        glsl = read_glsl_file(request.glsl, GlslKind::threshold);
        return Threshold::function(glsl.text, request.glsl_parameters);
    }
    if (!request.fragments.empty()) {
        return memory_threshold(request, shape);
    }
    if (!request.per_level.empty()) {
        return level_thresholds(request.per_level, shape);
    }
    return request.constant ? Threshold::constant(*request.constant)
                            : Threshold::max_resolution(request.max_resolution.value());
}

// Returns the list that it has written.
TileList make_tiles(const TilesRequest& request) {
    const Stopwatch load_watch;
    const LoadedMap map = load_map(request.input, request.channel);
    if (map.is_guess) {
        print_warning(Severity::warning,
                      "'" + text_of(request.input) + "' has several layers, parts or channels; '" +
                          map.channel + "' is read, and --channel chooses another: " +
                          joined(channels_of(request.input)));
    }
    GlslFile glsl;
    const Threshold threshold = threshold_of(request.threshold, map.shape, glsl);
    const StageTime load = load_watch.stage("load");

    TileList list = [&] {
        try {
            return subdivide_map(map.view(), threshold, request);
        } catch (const Error& error) {
            throw glsl.with_name(error);
        }
    }();
    const Stopwatch write_watch;
    std::vector<OutputFile> files;
    files.reserve(3);
    OutputFile* const trace = request.trace.empty() ? nullptr : &files.emplace_back(request.trace);
    if (!request.image.empty()) {
        files.emplace_back(request.image).write(encode_png(draw_tiles(map.view(), list.tiles)));
    }
    // Standard output comes last: what it takes stays.
    OutputFile& output = files.emplace_back(request.output.empty() ? OutputFile::standard_output()
                                                                   : OutputFile(request.output));
    write_tiles(list, request.format.value_or(TileFormat::json),
                [&](std::string_view bytes) { output.write(bytes); });
    if (trace != nullptr) {
        trace->write(trace_of(list, load, write_watch.stage("write")));
    }
    OutputFile::commit_all(files);
    const StageTime write = write_watch.stage("write");
    if (request.stats) {
        std::cerr << describe_run(list, map.channel, load, write);
    }
    return list;
}

}  // namespace

void run(const TilesRequest& request) {
    (void)make_tiles(request);
}

// ---- demo

namespace {

std::string summary(const TileList& list, const TilesRequest& request) {
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
         << " texels into " << counted(list.tiles.size(), "tile") << " of "
         << counted(levels, "size") << ", " << std::fixed << std::setprecision(1) << subdivision
         << " ms on " << (list.report.device.empty() ? "the host" : list.report.device) << " ("
         << name_in(STRATEGIES, list.report.strategy) << ").\n"
         << "  " << text_of(request.output) << "  the tiles\n"
         << "  " << text_of(request.image) << "  the map (bright: more texels needed) and the "
         << "tiles' outlines\n"
         << "  " << text_of(request.input) << "  the map, for 'quadtile tiles'\n";
    return text.str();
}

}  // namespace

void run_demo() {
    TilesRequest request;
    request.input = demo_map_path();
    request.output = "tiles.json";
    request.image = "tiles.png";
    request.threshold.max_resolution = 16.0F;
    const TileList list = make_tiles(request);
    OutputFile output = OutputFile::standard_output();
    output.write(summary(list, request));
    output.commit();
}

// ---- devices

namespace {

std::string version_text(std::uint32_t version) {
    return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
           std::to_string(VK_API_VERSION_MINOR(version)) + "." +
           std::to_string(VK_API_VERSION_PATCH(version));
}

void describe(std::ostream& text, const DeviceInfo& info) {
    const auto line = [&](const char* name) -> std::ostream& {
        return text << "    " << std::left << std::setw(32) << name;
    };
    const auto feature = [&](const char* name, bool on) {
        line(name) << (on ? "yes" : "no") << "\n";
    };
    text << info.index << ": " << info.name << "\n";
    line("type") << info.type << "\n";
    line("driver") << info.driver << "\n";
    line("Vulkan") << version_text(info.api_version) << "\n";
    line("subgroup size") << info.subgroup_size << "\n";
    feature("subgroup operations", info.features.subgroup_operations);
    feature("min/max sampler", info.features.sampler_minmax);
    feature("storage image dynamic indexing", info.features.storage_image_dynamic_indexing);
    feature("hand-over between workgroups", info.features.hand_over);
    feature("timestamps", info.timestamps);
    line("largest map") << info.max_map_extent << " x " << info.max_map_extent << " texels, "
                        << info.max_layers << " layers\n";
    line("longest tile list") << info.max_tiles << " tiles\n";
    line("device memory") << (info.local_memory_bytes >> 20U) << " MiB\n";
    for (const std::string& fault : info.faults) {
        line("fault") << fault << "\n";
    }
    for (const std::string& rejection : info.rejections) {
        line("not usable") << rejection << "\n";
    }
}

}  // namespace

void run_devices(bool check) {
    const std::vector<DeviceInfo> devices = Device::enumerate();
    std::ostringstream text;
    for (const DeviceInfo& info : devices) {
        DeviceInfo checked = info;
        std::string result;
        if (check && info.usable()) {
            try {
                const Device device = Device::create(
                    {.select = std::to_string(info.index), .check = DeviceCheck::always});
                checked = device.info();
                result = checked.faults.empty() ? "passed" : "passed without what is faulty";
            } catch (const Error& error) {
                result = std::string("failed: ") + error.what();
            }
        }
        describe(text, checked);
        if (!result.empty()) {
            text << "    " << std::left << std::setw(32) << "check" << result << "\n";
        }
    }
    OutputFile output = OutputFile::standard_output();
    output.write(text.str());
    // Throws if there is no usable device.
    const DeviceInfo chosen = Device::create().info();
    output.write("chosen: " + std::to_string(chosen.index) + " (" + chosen.name + ")\n");
    output.commit();
}

}  // namespace quadtile::app
