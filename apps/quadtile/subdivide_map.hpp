// What `tiles` and `demo` do alike: subdivide a map, write the result, tell about it.

#pragma once

#include "commands.hpp"
#include "output_file.hpp"

#include <chrono>

namespace quadtile::app {

// On the host for Strategy::reference, which touches no Vulkan; else on the chosen device.
[[nodiscard]] TileList subdivide_map(const MapView& map, const SubdivisionRequest& request);

// Writes the picture of the map into a file that is still to be committed.
void write_image(OutputFile& file, const MapView& map, const std::vector<Tile>& tiles);

// The line for each number of --stats. `load` and `write` in milliseconds.
[[nodiscard]] std::string describe_run(const TileList& list, double load, double write);

[[nodiscard]] const char* name_of(Strategy strategy) noexcept;

// Milliseconds since it was made.
class Stopwatch {
 public:
    [[nodiscard]] double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
            .count();
    }

 private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace quadtile::app
