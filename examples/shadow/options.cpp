#include "show.hpp"

#include "parse_arguments.hpp"

#include <quadtile/version.h>

#include <string>

namespace quadtile::shadow {

namespace {

constexpr std::uint32_t LARGEST_EXTENT = 16384;
constexpr float FARTHEST = 1e9F;  // greater numbers have too few digits
constexpr float LEAST_EXTENT = 1e-9F;
constexpr std::uint32_t MOST_MOVING = 10'000;

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    CLI::App app("Shows a scene with fitted virtual shadow maps, in a window or into a picture",
                 "quadtile-shadow");
    Options options;
    std::string size;
    std::array<float, 5> camera{};
    app.footer(
        "Example: quadtile-shadow examples/shadow/court.glb --moving 8\n"
        "Exit status: 0, 1 (failed; standard error says why) or 2 (wrong arguments)");
    app.set_version_flag("--version", "quadtile-shadow " QUADTILE_VERSION_STRING,
                         "Print the version");
    app.add_option("SCENE", options.scene, "glTF 2.0 (.glb, .gltf) or OBJ (.obj), with its lights")
        ->type_name("")
        ->required();
    app::OptionGroup group(app, "Options");
    group.add("--screenshot", options.screenshot, "FILE.png",
              "Write a picture instead of opening a window");
    group.add("--size", size, "WxH", "Size of the window or the picture; default: 1280x720");
    group.add("--camera", camera, "X,Y,Z,YAW,PITCH",
              "Position, and degrees to the left of -z and upwards; default: above the scene",
              app::within(-FARTHEST, FARTHEST));
    group.add_choice("--filter", options.filter, FILTERS, "NAME",
                     "hard (the nearest texel), 3x3 (default), or soft (as wide as the penumbra)");
    group.add_flag("--tiles", options.shows_tiles, "Draw the tiles in the colours of their levels");
    group.add("--sun-levels", options.sun_levels_extent, "EXTENT",
              "Use maps of the sun around the camera, for large worlds: the first is EXTENT wide, "
              "each next one twice as wide; default: one map of the scene",
              app::within(LEAST_EXTENT, FARTHEST));
    group.add("--moving", options.moving, "N", "Number of moving boxes in the scene; default: 0",
              app::within(0U, MOST_MOVING));
    group.add_flag("--validation", options.validation,
                   "Turn on Vulkan's validation layer; fail if it objects");
    group.add_flag("--log", options.log, "Print what the window shows");
    return app::parse_arguments(app, argc, argv, [&] {
        if (!size.empty()) {
            const app::Size extent = app::parse_size("--size", size, LARGEST_EXTENT, false);
            options.extent = vk::Extent2D{extent.width, extent.height};
        }
        if (app.count("--camera") > 0) {
            options.camera = Camera{.position = {camera[0], camera[1], camera[2]},
                                    .yaw_degrees = camera[3],
                                    .pitch_degrees = camera[4]};
        }
        app::check_files(file_arguments(options));
        app::check_ending("--screenshot", options.screenshot, {"png"});
        return options;
    });
}

std::vector<app::FileArgument> file_arguments(const Options& options) {
    return {{"SCENE", options.scene, false}, {"--screenshot", options.screenshot, true}};
}

}  // namespace quadtile::shadow
