// Fitted virtual shadow maps in a renderer: a glTF scene with its lights, in a window or a picture.

#include "show.hpp"

#include "output_file.hpp"
#include "platform.hpp"
#include "process.hpp"
#include "swapchain.hpp"

#include <exception>
#include <iostream>
#include <stdexcept>

namespace quadtile::shadow {
namespace {

Show load_show(const Options& options) {
    baker::LoadedScene loaded =
        baker::load_scene(options.scene, baker::LightMapCoordinates::ignore);
    app::check_files(file_arguments(options), loaded.files);
    Show show{.name = app::text_of(options.scene.filename()),
              .geometry = make_geometry(loaded.scene)};
    if (options.camera) {
        show.camera = *options.camera;
        show.camera.position = glm::dvec3(show.camera.position) - loaded.scene.origin;
    } else if (loaded.scene.camera) {
        show.camera = look(loaded.scene.camera->position, loaded.scene.camera->target);
        show.camera.vertical_field_degrees = loaded.scene.camera->vertical_field_degrees;
    } else {
        show.camera = aerial_view(show.geometry.bounds);
    }
    show.camera.nearest = nearest_in(show.geometry.bounds);
    show.lights =
        lights_of(loaded.scene, show.geometry.bounds, options.sun_levels_extent, loaded.warnings);
    add_moving_boxes(show.geometry, options.moving);
    for (const std::string& warning : loaded.warnings) {
        std::cerr << app::message_line("quadtile-shadow: warning", warning) << std::endl;
    }
    return show;
}

std::uint32_t write_picture(const Options& options, const Show& show) {
    constexpr int FRAMES = 4;  // edges of shadows are found in the frames before
    app::OutputFile file(options.screenshot);
    const app::Instance instance("quadtile-shadow", {}, options.validation);
    {
        app::Gpu gpu(instance, {}, {});
        const quadtile::Device device = quadtile::Device::adopt(gpu.for_quadtile());
        const vk::Extent2D extent = app::checked_extent(gpu, options.extent);
        Renderer renderer(gpu, device, show.geometry, extent, shadow_options(show));
        FrameSettings settings = first_frame(options, show);
        for (int frame = 0; frame < FRAMES; ++frame) {
            gpu.run([&](vk::CommandBuffer commands) { renderer.record(commands, settings); });
        }
        const std::vector<std::byte> pixels =
            gpu.download(renderer.targets().colour, vk::ImageLayout::eGeneral, 4);
        file.write(app::encode_png({.width = extent.width,
                                    .height = extent.height,
                                    .components = 4,
                                    .samples = pixels.data()}));
    }
    file.commit();
    return instance.validation_messages();
}

int run(int argc, char** argv) {
    const Options options = parse_options(argc, argv);
    const Show show = load_show(options);  // before anything is written or opened
    std::uint32_t messages = 0;
    try {
        messages =
            options.screenshot.empty() ? run_window(options, show) : write_picture(options, show);
    } catch (const vk::OutOfDeviceMemoryError&) {
        throw std::runtime_error(
            "the device does not have enough memory; make the picture smaller with --size");
    } catch (const std::exception& error) {
        if (!app::is_device_loss(error)) {
            throw;
        }
        throw std::runtime_error("the device was lost (" + std::string(error.what()) +
                                 "); try a smaller --size, or another QUADTILE_DEVICE");
    }
    app::check_validation(messages);
    return 0;
}

}  // namespace

// ---- What the picture and the window share

ShadowOptions shadow_options(const Show& show) {
    ShadowOptions options{.lights = layers_of(show.lights)};
    constexpr std::uint32_t MOST_TEXELS = 1U << 22U;  // of all importance maps
    while (options.lights * options.map_extent * options.map_extent > MOST_TEXELS) {
        options.map_extent /= 2;
    }
    return options;
}

FrameSettings first_frame(const Options& options, const Show& show) {
    return {.camera = show.camera,
            .lights = show.lights,
            .filter = options.filter,
            .shows_tiles = options.shows_tiles};
}

}  // namespace quadtile::shadow

int main(int argc, char** argv) {
    return quadtile::app::run_program("quadtile-shadow",
                                      "there is not enough memory for this scene",
                                      [&] { return quadtile::shadow::run(argc, argv); });
}
