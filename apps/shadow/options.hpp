// Command line of quadtile-shadow.

#pragma once

#include "frame_settings.hpp"

#include "gpu.hpp"

#include "arguments.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::shadow {

using app::UsageError;

// Display of one picture of the renderer, or of two.
enum class Display {
    shaded,
    tiles,
    error,
    sides,  // the same view twice: shaded, and with its errors
};

// Names of --technique, --filter and --picture.
constexpr std::array<app::Named<Technique>, 5> TECHNIQUES{
    {{"fitted", Technique::fitted},
     {"single", Technique::single},
     {"cascades", Technique::cascades},
     {"stable-cascades", Technique::stable_cascades},
     {"rays", Technique::rays}}};
constexpr std::array<app::Named<Filter>, 3> FILTERS{
    {{"hard", Filter::hard}, {"3x3", Filter::box}, {"soft", Filter::soft}}};
constexpr std::array<app::Named<Display>, 4> DISPLAYS{{{"shaded", Display::shaded},
                                                       {"tiles", Display::tiles},
                                                       {"error", Display::error},
                                                       {"sides", Display::sides}}};

struct Options {
    std::filesystem::path scene;           // empty: a generated city
    std::uint64_t city_triangles = 20000;  // of the generated city
    std::optional<glm::vec3> sun;          // direction of its light; default: the scene's sun
    std::vector<Light> spots;              // spots and point lights
    float sun_radius_degrees = 0.27F;
    float spot_radius = 0.1F;  // units of the world
    float nearest_extent = 0;  // of the sun's levels; 0: one map of the whole scene
    std::uint32_t levels = 4;  // of the sun, with levels
    std::uint32_t moving = 0;  // boxes

    vk::Extent2D extent{1280, 720};  // of the window or the pictures
    ShadowOptions shadows;           // all but `lights`
    Technique technique = Technique::fitted;
    Display display = Display::shaded;
    std::optional<Technique> other;  // in the right half of the picture
    Filter filter = Filter::box;
    std::uint32_t samples = 16;  // rays to a light with an extent
    bool panel = false;          // in pictures

    std::optional<Camera> camera;  // default: on the flight, or above the scene
    std::optional<float> at;       // second of the flight
    bool flies = false;            // along the flight

    std::string device;  // as DeviceOptions::select
    bool validation = false;
    bool log = false;

    std::filesystem::path screenshot;     // empty: a window, or `record`
    std::filesystem::path record;         // folder for one picture per frame; empty: none
    float frames_per_second = 60.0F;      // time step of moving objects in pictures
    std::optional<std::uint32_t> frames;  // of pictures; default: 2, or the whole flight
    std::filesystem::path report;         // JSON; empty: none
};

// Returns the files that SCENE and the options name.
[[nodiscard]] std::vector<app::FileArgument> file_arguments(const Options& options);

// Parses the command line. Throws PrintedText for --help and --version. Throws UsageError, also for
// shadow options that the library refuses, and if an output file is also another file.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace quadtile::shadow
