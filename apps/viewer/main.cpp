// The viewer: in a window, or its picture in a file.

#include "panels.hpp"
#include "viewer.hpp"
#include "window.hpp"

#include "arguments.hpp"
#include "output_file.hpp"
#include "platform.hpp"
#include "process.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace quadtile::viewer {

namespace {

// ---- In a window

using Clock = std::chrono::steady_clock;

class WindowedViewer : public app::WindowProgram {
 public:
    explicit WindowedViewer(const Options& options)
        : WindowProgram("quadtile-viewer",
                        {options.settings.window_width, options.settings.window_height},
                        options.device, options.validation),
          logs_(options.log),
          viewer_(options, [] { glfwPostEmptyEvent(); }),
          panels_(viewer_) {}

    [[nodiscard]] const Settings& settings() const { return viewer_.settings; }

 private:
    void attach() override { viewer_.attach(gpu(), swapchain().format()); }
    void detach() override { viewer_.detach(); }

    void wait_for_events() override;
    void update() override;
    void draw_panels() override { panels_.draw(scale()); }
    void apply_panels() override;
    void draw(vk::CommandBuffer commands) override { viewer_.draw(commands, swapchain().extent()); }
    void note_frame(bool is_shown) override;

    void note_event() override { frames_to_draw_ = SETTLING_FRAMES; }
    void take_key(int key, int event, int modifiers) override {
        if (event != GLFW_RELEASE) {
            panels_.press({key, modifiers}, event == GLFW_REPEAT);
        }
    }
    void take_character(unsigned int character) override {
        panels_.press({.character = character});
    }
    void take_files(const std::vector<std::filesystem::path>& dropped) override {
        viewer_.open(dropped);
    }

    [[nodiscard]] float scale() const override {
        const float chosen = viewer_.settings.ui_scale;
        return chosen > 0.0F ? chosen : WindowProgram::scale();
    }
    [[nodiscard]] vk::Rect2D map_area() const {
        return panels_.map_area(swapchain().extent(), scale());
    }
    [[nodiscard]] bool has_to_draw() const;
    void keep_size();

    bool logs_;
    Viewer viewer_;
    Panels panels_;
    std::string title_;
    // Frames that panels need to settle after an event.
    static constexpr int SETTLING_FRAMES = 3;
    int frames_to_draw_ = SETTLING_FRAMES;
    std::uint64_t reported_list_ = 0;
    Clock::time_point events_time_;
};

bool WindowedViewer::has_to_draw() const {
    return frames_to_draw_ > 0 || viewer_.is_busy() || panels_.is_animated();
}

// GLFW does not tell whether its wait has ended by an event or the timeout.
void WindowedViewer::wait_for_events() {
    if (has_to_draw()) {
        glfwPollEvents();
    }
    while (!has_to_draw() && glfwWindowShouldClose(window()) == GLFW_FALSE) {
        constexpr double LONGEST_WAIT_SECONDS = 0.25;  // for notices, which end
        glfwWaitEventsTimeout(LONGEST_WAIT_SECONDS);
        viewer_.watch_file();
    }
    frames_to_draw_ = std::max(0, frames_to_draw_ - 1);
    events_time_ = Clock::now();
}

void WindowedViewer::keep_size() {
    int width = 0;
    int height = 0;
    glfwGetWindowSize(window(), &width, &height);
    if (width <= 0 || height <= 0) {
        return;
    }
    // If screen coordinates are pixels, GLFW multiplies the requested size by the display's scale
    // (GLFW_SCALE_TO_MONITOR). Without this division the window would grow from run to run.
    float x = 1.0F;
    float y = 1.0F;
    if (static_cast<std::uint32_t>(width) == swapchain().extent().width) {
        glfwGetWindowContentScale(window(), &x, &y);
    }
    const auto asked_for = [](int size, float scale) {
        const float asked = std::round(static_cast<float>(size) / scale);
        return static_cast<std::uint32_t>(
            std::clamp(asked, 1.0F, static_cast<float>(MAX_WINDOW_EXTENT)));
    };
    viewer_.settings.window_width = asked_for(width, x);
    viewer_.settings.window_height = asked_for(height, y);
}

// Updates before the panels, which show the state, and after them, for their changes.
void WindowedViewer::update() {
    viewer_.set_pixel_scale(scale());
    keep_size();
    viewer_.update(map_area());
}

void WindowedViewer::apply_panels() {
    viewer_.apply_settings(map_area());
    if (title_ != viewer_.title()) {
        title_ = viewer_.title();
        glfwSetWindowTitle(window(), title_.c_str());
    }
    if (panels_.wants_to_quit()) {
        quit();
    }
}

// Reports the time from the events that changed a setting until the picture is shown.
void WindowedViewer::note_frame(bool is_shown) {
    if (!is_shown) {
        note_event();
    } else if (logs_ && reported_list_ != viewer_.list_number()) {
        reported_list_ = viewer_.list_number();
        gpu().wait_idle();
        const std::chrono::duration<double, std::milli> elapsed = Clock::now() - events_time_;
        std::fprintf(stderr, "on screen after %.1f ms\n", elapsed.count());
    }
}

// Runs until the user quits. Returns the number of messages of the validation layer.
std::uint32_t run_window(const Options& options) {
    WindowedViewer viewer(options);
    const std::uint32_t messages = viewer.run();
    if (options.keeps_settings) {
        save_settings(appearance(viewer.settings()), settings_path());
    }
    return messages;
}

// ---- Into a file

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
    viewer.files().wait();
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
    std::fprintf(stderr, "%s: %s by %s on %s\n", app::text_of(options.screenshot).c_str(),
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
