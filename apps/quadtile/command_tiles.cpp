#include "commands.hpp"
#include "load_map.hpp"
#include "subdivide_map.hpp"

#include <iostream>

namespace quadtile::app {

void run_tiles(const TilesRequest& request) {
    const Stopwatch load_watch;
    const LoadedMap map = load_map(request.input, request.channel);
    const double load = load_watch.milliseconds();

    const TileList list = subdivide_map(map.view(), request.subdivision);

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
    if (request.subdivision.stats) {
        std::cerr << describe_run(list, load, write_watch.milliseconds());
    }
}

}  // namespace quadtile::app
