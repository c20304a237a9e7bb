// The command line of quadtile-shadow: from arguments to what to do.

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

// What is shown: a picture of the renderer, or two.
enum class Display {
    shaded,
    tiles,
    error,
    sides,  // the same view twice: shaded, and with its errors
};

// The names of --technique, --filter and --picture.
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
    std::filesystem::path scene;           // empty: one that is made here
    std::uint64_t city_triangles = 20000;  // of the city that is made then
    std::optional<glm::vec3> sun;          // the direction of its light; else the scene's
    std::vector<Light> spots;              // and point lights
    float sun_radius_degrees = 0.27F;
    float spot_radius = 0.1F;  // units of the world
    float nearest_extent = 0;  // of the sun's levels; 0: one map of all of the scene
    std::uint32_t levels = 4;  // of the sun, then
    std::uint32_t moving = 0;  // boxes

    vk::Extent2D extent{1280, 720};  // of the window or the pictures
    ShadowOptions shadows;           // all but `lights`
    Technique technique = Technique::fitted;
    Display display = Display::shaded;
    std::optional<Technique> other;  // in the right half of the picture
    Filter filter = Filter::box;
    std::uint32_t samples = 16;  // of rays to a light that has an extent
    bool panel = false;          // in pictures, too

    std::optional<Camera> camera;  // else on the flight, or above the scene
    std::optional<float> at;       // second of the flight
    bool flies = false;            // along the flight; else the camera stays

    std::string device;  // as DeviceOptions::select
    bool validation = false;
    bool log = false;

    std::filesystem::path screenshot;     // empty: a window, or `record`
    std::filesystem::path record;         // folder for a picture of each frame; empty: none
    float frames_per_second = 60.0F;      // of what moves in pictures
    std::optional<std::uint32_t> frames;  // for pictures; else 2, or the whole flight
    std::filesystem::path report;         // JSON; empty: none
};

// What SCENE and options name.
[[nodiscard]] std::vector<app::FileArgument> file_arguments(const Options& options);

// Throws PrintedText for --help and --version; UsageError, also for shadows that the library does
// not make, and where a file that is written is another one, too.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace quadtile::shadow
