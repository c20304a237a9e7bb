#include "commands.hpp"
#include "glsl_file.hpp"
#include "subdivide_map.hpp"

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>

#include <iostream>

namespace quadtile::app {

namespace {

std::string text_of_size(const MapShape& shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " texels";
}

Threshold memory_threshold(const MemoryRequest& request, const MapShape& shape) {
    const LoadedMap fragments = load_map(request.fragments);
    if (fragments.shape.width != shape.width || fragments.shape.height != shape.height) {
        throw UsageError("--fragments: '" + request.fragments.string() + "' has " +
                         text_of_size(fragments.shape) + ", but INPUT has " + text_of_size(shape) +
                         "; give a file of the same size");
    }
    try {
        return Threshold::memory(request.max_resolution, request.nodes, fragments.view());
    } catch (const Error& error) {
        throw std::runtime_error("cannot use '" + request.fragments.string() +
                                 "': " + error.what());
    }
}

Threshold function_threshold(const FunctionRequest& request, GlslFile& file) {
    file = read_glsl_file(request.glsl, GlslKind::threshold);
    return Threshold::function(file.compiled.empty()
                                   ? ThresholdFunction::from_glsl(file.text)
                                   : ThresholdFunction::from_compiled(file.compiled),
                               request.parameters);
}

}  // namespace

void run(const TilesRequest& request) {
    const Stopwatch load_watch;
    const LoadedMap map = load_map(request.input, request.channel);
    SubdivisionRequest subdivision = request.subdivision;
    if (request.memory) {
        subdivision.threshold = memory_threshold(*request.memory, map.shape);
    }
    GlslFile glsl;
    if (request.function) {
        subdivision.threshold = function_threshold(*request.function, glsl);
    }
    const StageTime load = load_watch.stage("load");

    const TileList list = [&] {
        try {
            return subdivide_map(map.view(), subdivision);
        } catch (const Error& error) {
            throw glsl.with_name(error);
        }
    }();

    const auto trace = open_trace(subdivision, load);
    const Stopwatch write_watch;
    // Both files are complete before the first of them appears.
    OutputFile output =
        request.output.empty() ? OutputFile::standard_output() : OutputFile(request.output);
    std::optional<OutputFile> image;
    if (!request.image.empty()) {
        image.emplace(request.image);
        write_image(*image, map.view(), list.tiles);
    }
    write_tiles(list, request.format, [&](std::string_view bytes) { output.write(bytes); });
    output.commit();
    if (image) {
        image->commit();
    }
    const StageTime write = write_watch.stage("write");
    if (subdivision.stats) {
        std::cerr << describe_run(list, load, write);
    }
    write_trace(trace.get(), list, load, write);
}

}  // namespace quadtile::app
