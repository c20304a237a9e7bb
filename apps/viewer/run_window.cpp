#include "run_window.hpp"

#include "panels.hpp"
#include "viewer.hpp"
#include "window.hpp"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_vulkan.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

namespace quadtile::viewer {

namespace {

using Clock = std::chrono::steady_clock;

// Resources of one device, in the order of their making.
struct OnDevice {
    OnDevice(const app::Instance& instance, const std::string& select, vk::SurfaceKHR surface,
             vk::Extent2D extent)
        : gpu(instance, select, surface), swapchain(gpu, surface, extent) {}
    app::Gpu gpu;
    app::Swapchain swapchain;
};

class WindowedViewer {
 public:
    explicit WindowedViewer(const Options& options);
    ~WindowedViewer();
    WindowedViewer(const WindowedViewer&) = delete;
    WindowedViewer& operator=(const WindowedViewer&) = delete;

    void run();
    [[nodiscard]] const Settings& settings() const { return viewer_.settings; }
    [[nodiscard]] std::uint32_t validation_messages() const {
        return instance_.validation_messages();
    }

 private:
    void open_device();
    void close_device();
    void recover_from_loss(const char* reason);
    [[nodiscard]] bool has_to_draw() const;
    void wait_for_events();
    void follow_size();
    void frame();
    void report_latency(Clock::time_point start);
    [[nodiscard]] float scale() const;

    void watch_events();
    static void note_event(GLFWwindow* window);
    static void drop(GLFWwindow* window, int count, const char** paths);
    static void take_key(GLFWwindow* window, int key, int code, int event, int modifiers);

    Options options_;
    app::WindowSystem system_;
    app::WindowHandle window_;
    app::Instance instance_;
    vk::UniqueSurfaceKHR surface_;
    app::Ui ui_;
    std::optional<app::InputBackend> input_;
    Viewer viewer_;
    Panels panels_;
    std::unique_ptr<OnDevice> on_device_;
    std::string title_;
    // Frames that panels need to settle after an event.
    static constexpr int SETTLING_FRAMES = 3;
    int frames_to_draw_ = SETTLING_FRAMES;
    std::uint64_t reported_list_ = 0;
    Clock::time_point events_time_;
    Clock::time_point last_loss_;
};

WindowedViewer::WindowedViewer(const Options& options)
    : options_(options),
      window_(app::make_window({options.settings.window_width, options.settings.window_height},
                               "quadtile")),
      instance_("quadtile-viewer", app::WindowSystem::instance_extensions(), options.validation),
      surface_(app::make_surface(instance_, window_.get())),
      viewer_(options, [] { glfwPostEmptyEvent(); }),
      panels_(viewer_) {
    glfwSetWindowUserPointer(window_.get(), this);
    watch_events();
    input_.emplace(window_.get());
    ui_.set_scale(scale());
    viewer_.set_pixel_scale(scale());
    open_device();
}

WindowedViewer::~WindowedViewer() {
    close_device();
}

// ---- The device

void WindowedViewer::open_device() {
    try {
        on_device_ = std::make_unique<OnDevice>(instance_, options_.device, *surface_,
                                                app::framebuffer_extent(window_.get()));
        ui_.attach(on_device_->gpu, on_device_->swapchain.render_pass(),
                   on_device_->swapchain.image_count());
        viewer_.attach(on_device_->gpu, on_device_->swapchain.format());
    } catch (...) {
        close_device();  // the old device's resources must not outlive it
        throw;
    }
    frames_to_draw_ = SETTLING_FRAMES;
}

void WindowedViewer::close_device() {
    if (on_device_) {
        on_device_->gpu.wait_idle();
    }
    viewer_.detach();
    ui_.detach();
    on_device_.reset();
}

void WindowedViewer::recover_from_loss(const char* reason) {
    const Clock::time_point now = Clock::now();
    if (last_loss_ != Clock::time_point() && now - last_loss_ < std::chrono::minutes(1)) {
        throw std::runtime_error("the device was lost twice within a minute: " +
                                 std::string(reason));
    }
    last_loss_ = now;
    close_device();
    open_device();
    viewer_.notify("the device was lost and opened again: " + std::string(reason), true);
}

// ---- The window

float WindowedViewer::scale() const {
    if (viewer_.settings.ui_scale > 0.0F) {
        return viewer_.settings.ui_scale;
    }
    return app::content_scale(window_.get());
}

// Notes events: GLFW does not tell whether its wait has ended by an event or the timeout.
void WindowedViewer::watch_events() {
    GLFWwindow* const window = window_.get();
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { note_event(w); });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { note_event(w); });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { note_event(w); });
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { note_event(w); });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { note_event(w); });
    glfwSetWindowRefreshCallback(window, note_event);
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { note_event(w); });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { note_event(w); });
    glfwSetKeyCallback(window, take_key);
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned int) { note_event(w); });
    glfwSetDropCallback(window, drop);
}

void WindowedViewer::note_event(GLFWwindow* window) {
    auto& self = *static_cast<WindowedViewer*>(glfwGetWindowUserPointer(window));
    self.frames_to_draw_ = SETTLING_FRAMES;
}

void WindowedViewer::drop(GLFWwindow* window, int count, const char** paths) {
    auto& self = *static_cast<WindowedViewer*>(glfwGetWindowUserPointer(window));
    self.viewer_.open({paths, paths + count});
    note_event(window);
}

void WindowedViewer::take_key(GLFWwindow* window, int key, int /*code*/, int event, int modifiers) {
    auto& self = *static_cast<WindowedViewer*>(glfwGetWindowUserPointer(window));
    if (event != GLFW_RELEASE) {
        self.panels_.press({key, modifiers, event == GLFW_REPEAT});
    }
    note_event(window);
}

bool WindowedViewer::has_to_draw() const {
    return frames_to_draw_ > 0 || viewer_.is_busy() || panels_.is_animated();
}

void WindowedViewer::wait_for_events() {
    if (has_to_draw()) {
        glfwPollEvents();
    }
    while (!has_to_draw() && glfwWindowShouldClose(window_.get()) == GLFW_FALSE) {
        constexpr double LONGEST_WAIT_SECONDS = 0.25;  // for notices, which end
        glfwWaitEventsTimeout(LONGEST_WAIT_SECONDS);
        viewer_.watch_file();
    }
    frames_to_draw_ = std::max(0, frames_to_draw_ - 1);
    events_time_ = Clock::now();
}

void WindowedViewer::follow_size() {
    const vk::Extent2D extent = app::framebuffer_extent(window_.get());
    if (extent != on_device_->swapchain.extent()) {
        on_device_->swapchain.resize(extent);
    }
    int width = 0;
    int height = 0;
    glfwGetWindowSize(window_.get(), &width, &height);
    if (width <= 0 || height <= 0) {
        return;
    }
    // If screen coordinates are pixels, GLFW multiplies the requested size by the display's scale
    // (GLFW_SCALE_TO_MONITOR). Without this division the window would grow from run to run.
    float x = 1.0F;
    float y = 1.0F;
    if (static_cast<std::uint32_t>(width) == extent.width) {
        glfwGetWindowContentScale(window_.get(), &x, &y);
    }
    const auto asked_for = [](int size, float scale) {
        const float asked = std::round(static_cast<float>(size) / scale);
        return static_cast<std::uint32_t>(
            std::clamp(asked, 1.0F, static_cast<float>(MAX_WINDOW_EXTENT)));
    };
    viewer_.settings.window_width = asked_for(width, x);
    viewer_.settings.window_height = asked_for(height, y);
}

void WindowedViewer::frame() {
    app::Swapchain& swapchain = on_device_->swapchain;
    if (ui_.follow_scale(scale(), on_device_->gpu, swapchain)) {
        viewer_.set_pixel_scale(scale());
    }
    follow_size();
    if (swapchain.extent().width == 0 || swapchain.extent().height == 0) {
        return;  // minimised meanwhile
    }
    // Updates before the panels, which show the state, and after them, for their changes.
    viewer_.update(panels_.map_area(swapchain.extent(), scale()));
    ImGui_ImplVulkan_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    panels_.draw(scale());
    ImGui::Render();
    viewer_.apply_settings(panels_.map_area(swapchain.extent(), scale()));
    if (title_ != viewer_.title()) {
        title_ = viewer_.title();
        glfwSetWindowTitle(window_.get(), title_.c_str());
    }
    const bool shown = swapchain.show([&](vk::CommandBuffer commands) {
        viewer_.draw(commands, swapchain.extent());
        app::Ui::draw(commands);
    });
    if (!shown) {
        swapchain.resize(app::framebuffer_extent(window_.get()));
        frames_to_draw_ = SETTLING_FRAMES;
    } else if (options_.log) {
        report_latency(events_time_);
    }
}

// Reports the time from the events that changed a setting until the picture is shown.
void WindowedViewer::report_latency(Clock::time_point start) {
    if (reported_list_ == viewer_.list_number()) {
        return;
    }
    reported_list_ = viewer_.list_number();
    on_device_->gpu.wait_idle();
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    std::fprintf(stderr, "on screen after %.1f ms\n", elapsed.count());
}

void WindowedViewer::run() {
    while (glfwWindowShouldClose(window_.get()) == GLFW_FALSE && !panels_.wants_to_quit()) {
        wait_for_events();
        try {
            const vk::Extent2D extent = app::framebuffer_extent(window_.get());
            if (extent.width == 0 || extent.height == 0) {  // minimised
                glfwWaitEvents();
                frames_to_draw_ = SETTLING_FRAMES;
                continue;
            }
            frame();
        } catch (const vk::SurfaceLostKHRError&) {
            close_device();
            surface_.reset();
            surface_ = app::make_surface(instance_, window_.get());
            open_device();
        } catch (const std::exception& error) {
            if (!app::is_device_loss(error)) {
                throw;
            }
            recover_from_loss(error.what());
        }
    }
    close_device();  // while the validation layer's messages still count
}

}  // namespace

std::uint32_t run_window(const Options& options) {
    WindowedViewer viewer(options);
    viewer.run();
    if (options.keeps_settings) {
        save_settings(appearance(viewer.settings()), settings_path());
    }
    return viewer.validation_messages();
}

}  // namespace quadtile::viewer
