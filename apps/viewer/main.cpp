// The viewer: in a window, or its picture in a file.

#include "panels.hpp"
#include "run_window.hpp"
#include "viewer.hpp"
#include "window.hpp"

#include "arguments.hpp"
#include "output_file.hpp"
#include "process.hpp"

#include <imgui.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace quadtile::viewer {

namespace {

constexpr vk::Format FORMAT = vk::Format::eR8G8B8A8Unorm;

// Draws the window's picture into a file, without a window. Returns as run_window.
std::uint32_t run_screenshot(const Options& options) {
    const Settings& settings = options.settings;
    const app::Instance instance("quadtile-viewer", {}, options.validation);
    app::Gpu gpu(instance, options.device, {});
    app::Ui ui;
    Viewer viewer(options, [] {});
    const float scale = settings.ui_scale > 0.0F ? settings.ui_scale : 1.0F;
    viewer.set_pixel_scale(scale);
    viewer.attach(gpu, FORMAT);

    const vk::Extent2D extent{settings.window_width, settings.window_height};
    Panels panels(viewer);
    const vk::Rect2D area = panels.map_area(extent, scale);
    viewer.wait_for_map(area);
    viewer.update(area);
    if (!viewer.problem().empty()) {
        throw std::runtime_error(viewer.problem());
    }
    if (options.tile_count && viewer.notice() && viewer.notice()->is_problem) {
        throw std::runtime_error(viewer.notice()->text);
    }

    const auto render_pass =
        app::make_render_pass(gpu.device(), FORMAT, vk::ImageLayout::eTransferSrcOptimal);
    ui.set_scale(scale);
    ui.attach(gpu, *render_pass, 2);
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(extent.width), static_cast<float>(extent.height)};
    // Windows that take their size from their contents have it from the second frame on.
    for (int frame = 0; frame < 3; ++frame) {
        io.DeltaTime = 1.0F / 60.0F;
        ImGui::NewFrame();
        panels.draw(scale);
        ImGui::Render();
        viewer.update(area);
    }
    const app::Picture picture =
        app::render_picture(gpu, FORMAT, extent, [&](vk::CommandBuffer commands) {
            viewer.draw(commands, extent);
            app::Ui::draw(commands);
        });
    app::write_file(options.screenshot, app::encode_png(picture));
    std::fprintf(stderr, "%s: %s by %s on %s\n", options.screenshot.c_str(),
                 app::counted(viewer.summary().header.written, "tile").c_str(),
                 viewer.summary().strategy_name(), viewer.tiles().device().info().name.c_str());
    ui.detach();
    viewer.detach();
    return instance.validation_messages();
}

int run(int argc, char** argv) {
    const ParsedOptions parsed = parse_options(argc, argv);
    if (!parsed.warning.empty()) {
        std::cerr << app::message_line("quadtile-viewer: warning", parsed.warning) << std::endl;
    }
    const Options& options = parsed.options;
    app::check_validation(options.screenshot.empty() ? run_window(options)
                                                     : run_screenshot(options));
    return 0;
}

}  // namespace

}  // namespace quadtile::viewer

int main(int argc, char** argv) {
    return quadtile::app::run_program("quadtile-viewer",
                                      "there is not enough memory for this map; use a smaller one",
                                      [&] { return quadtile::viewer::run(argc, argv); });
}
