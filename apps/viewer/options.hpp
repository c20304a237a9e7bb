// The command line of the viewer: from arguments to what to do.

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
    std::vector<std::filesystem::path> files;  // none: the demo's map
    std::string channel;                       // as in load_map
    Settings settings;                         // the look of the last run, changed by the arguments
    bool chooses_threshold = false;            // none was given: it is to be made for the map
    std::optional<std::uint64_t> tile_count;   // --find-tiles: make the threshold for so many tiles
    bool keeps_settings = true;                // in settings_path(), which is not empty then
    std::filesystem::path screenshot;          // empty: a window
    std::filesystem::path list;  // with screenshot: the list as .json or .csv; empty: none
    std::uint32_t width = 1600;  // of the screenshot, pixels
    std::uint32_t height = 1000;
    std::optional<float> zoom;            // pixels per texel; none: fit
    std::optional<TexelPosition> centre;  // texel in the middle of the picture; none: the map's
    std::optional<TexelPosition> pin;     // texel whose tile is pinned
    bool panel = false;                   // --panel: in the screenshot, too
    bool validation = false;              // validation layer; its messages fail the run
    bool log = false;                     // a line on standard error for all that happens
    bool log_places = false;              // and where each control is
};

// Reads the appearance that the last run has left, too, unless --no-settings or --screenshot is
// given. Settings that cannot be read are reported in `warning` and count as none. Throws
// UsageError, and PrintedText for --help and --version.
struct ParsedOptions {
    Options options;
    std::string warning;  // about the settings; empty: none
};
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

// ---- The two ways to run; both return the messages of the validation layer

// In a window, until the user leaves. Throws std::runtime_error where there is no window system, or
// no device for it; the message names --screenshot.
std::uint32_t run_window(const Options& options);

// Draws a picture into a file, without a window, and its list where that is asked for.
std::uint32_t run_screenshot(const Options& options);

}  // namespace quadtile::viewer
