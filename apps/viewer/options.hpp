// The command line of the viewer.

#pragma once

#include "map_statistics.hpp"
#include "settings.hpp"

#include "arguments.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

using app::UsageError;

struct Options {
    std::vector<std::filesystem::path> files;  // empty: the demo's map
    std::string channel;                       // as in load_map
    Settings settings;                         // appearance of the last run, with the arguments
    bool chooses_threshold = false;            // no threshold was given: make one for the map
    std::optional<std::uint64_t> tile_count;   // --find-tiles: make the threshold for so many tiles
    bool keeps_settings = true;                // in settings_path(), which is not empty then
    std::filesystem::path screenshot;          // empty: a window
    std::filesystem::path list;  // with screenshot: the list as .json or .csv; empty: none
    std::uint32_t width = 1600;  // of the screenshot, pixels
    std::uint32_t height = 1000;
    std::optional<float> zoom;            // pixels per texel; none: fit
    std::optional<TexelPosition> centre;  // texel in the picture's middle; none: the map's middle
    std::optional<TexelPosition> pin;     // texel whose tile is pinned
    bool panel = false;                   // --panel: the screenshot shows the panel
    bool validation = false;              // validation layer; its messages fail the run
    bool log = false;                     // log each action on standard error
    bool log_places = false;              // log the place of each control, too
};

// Parses the arguments. Reads the appearance of the last run, unless --no-settings or --screenshot
// is given. If settings cannot be read, reports that in `warning` and uses defaults. Throws
// UsageError, and PrintedText for --help and --version.
struct ParsedOptions {
    Options options;
    std::string warning;  // problem with the settings; empty: none
};
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

// ---- Modes; each function returns the number of messages of the validation layer

// Runs in a window until the user quits. Throws std::runtime_error if there is no window system, or
// no device for it; the message names --screenshot.
std::uint32_t run_window(const Options& options);

// Draws a picture into a file, without a window. Also writes its list if options.list is not empty.
std::uint32_t run_screenshot(const Options& options);

}  // namespace quadtile::viewer
