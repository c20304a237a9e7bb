// What `tiles` and `demo` do alike: subdivide a map, write the result, tell about it.

#pragma once

#include "commands.hpp"
#include "output_file.hpp"

#include <quadtile/trace.hpp>

#include <chrono>
#include <memory>

namespace quadtile::app {

// On the host for Strategy::reference, which touches no Vulkan; else on the chosen device.
[[nodiscard]] TileList subdivide_map(const MapView& map, const SubdivisionRequest& request);

// Writes the picture of the map into a file that is still to be committed.
void write_image(OutputFile& file, const MapView& map, const std::vector<Tile>& tiles);

// The line for each number of --stats: also of the stages before and after those of the list.
[[nodiscard]] std::string describe_run(const TileList& list, const StageTime& load,
                                       const StageTime& write);

// What --trace asks for, if anything, empty: to be opened when all inputs have been read. Times
// count from the start of `load`.
[[nodiscard]] std::unique_ptr<TraceFile> open_trace(const SubdivisionRequest& request,
                                                    const StageTime& load);
void write_trace(TraceFile* trace, const TileList& list, const StageTime& load,
                 const StageTime& write);

// From its making on.
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

}  // namespace quadtile::app
