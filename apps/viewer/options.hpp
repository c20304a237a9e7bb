// The command line of the viewer.

#pragma once

#include "settings.hpp"

#include "arguments.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

struct Options {
    std::vector<std::filesystem::path> files;  // empty: the demo's map
    std::string channel;                       // as in load_map
    Settings settings;  // those of --settings or the look of the last run, with the arguments
    bool chooses_threshold = false;           // no threshold was given: make one for the map
    std::optional<std::uint64_t> tile_count;  // --find-tiles: make the threshold for so many tiles
    bool keeps_settings = true;               // in settings_path(), which is not empty then
    std::string device;                       // as in DeviceOptions::select
    std::filesystem::path screenshot;         // empty: a window
    bool validation = false;                  // validation layer; its messages fail the run
    bool log = false;                         // log each action on standard error
};

// Parses the arguments. Reads the file of --settings; or, for a window, the look of the last run.
// If that cannot be read, reports it in `warning` and uses defaults. Throws UsageError, and
// PrintedText for --help and --version.
struct ParsedOptions {
    Options options;
    std::string warning;  // problem with the look of the last run; empty: none
};
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace quadtile::viewer
