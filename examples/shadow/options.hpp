// The command line.

#pragma once

#include "targets.hpp"

#include "arguments.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace quadtile::shadow {

constexpr std::array<app::Named<Filter>, 3> FILTERS{
    {{"hard", Filter::hard}, {"3x3", Filter::box}, {"soft", Filter::soft}}};

struct Options {
    std::filesystem::path scene;
    std::filesystem::path screenshot;  // empty: a window
    vk::Extent2D extent{1280, 720};    // of the window or the picture
    std::optional<Camera> camera;      // default: above the scene
    Filter filter = Filter::box;
    bool shows_tiles = false;
    float sun_levels_extent = 0.0F;  // as for lights_of
    std::uint32_t moving = 0;        // boxes
    bool validation = false;
    bool log = false;
};

// Parses the command line. Throws app::PrintedText for --help and --version, app::UsageError for
// wrong arguments.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

// Returns the files that SCENE and the options name.
[[nodiscard]] std::vector<app::FileArgument> file_arguments(const Options& options);

}  // namespace quadtile::shadow
