// The command line, and what is shown: a scene with its lights and the first camera.

#pragma once

#include "renderer.hpp"

#include "arguments.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::shadow {

// ---- The command line

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

// ---- What is shown

struct Show {
    std::string name;
    Geometry geometry;
    std::vector<Light> lights;
    Camera camera;
};

// Returns the options of the renderer: those of the library, with layers for all lights.
[[nodiscard]] ShadowOptions shadow_options(const Show& show);

[[nodiscard]] FrameSettings first_frame(const Options& options, const Show& show);

// Shows the scene in a window, until the user leaves. Returns the number of messages of the
// validation layer. Throws std::runtime_error if there is no window system or no device for it; the
// message names --screenshot.
[[nodiscard]] std::uint32_t run_window(const Options& options, const Show& show);

}  // namespace quadtile::shadow
