#include "panels.hpp"

#include "frame_clock.hpp"
#include "swapchain.hpp"
#include "ui.hpp"
#include "window.hpp"

#include <quadtile/error.hpp>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_vulkan.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

namespace quadtile::shadow {

namespace {

using Clock = std::chrono::steady_clock;

class Window {
 public:
    Window(const Options& options, const Show& show);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    void run();
    [[nodiscard]] std::uint32_t validation_messages() const {
        return instance_.validation_messages();
    }

 private:
    static void take_key(GLFWwindow* window, int key, int code, int event, int modifiers);
    void frame();
    void steer(float seconds);
    void configure();
    void log_display();
    [[nodiscard]] bool is_minimised() const;
    void count_frame();
    [[nodiscard]] vk::Extent2D picture_area() const {
        return panels_.picture_area(swapchain_.extent(), ui_.scale());
    }

    const Options& options_;
    const Show& show_;
    app::WindowSystem system_;
    app::WindowHandle window_;
    app::Instance instance_;
    vk::UniqueSurfaceKHR surface_;
    app::Gpu gpu_;
    app::Swapchain swapchain_;
    app::Ui ui_;
    std::optional<app::InputBackend> input_;
    Session session_;
    Controls controls_;
    Panels panels_;
    Steering steering_;
    std::optional<Clock::time_point> last_frame_;
    FrameClock frame_clock_;
    std::string logged_;
    std::string logged_pick_;
};

Window::Window(const Options& options, const Show& show)
    : options_(options),
      show_(show),
      window_(app::make_window(options.extent, "quadtile-shadow")),
      instance_("quadtile-shadow", app::WindowSystem::instance_extensions(), options.validation),
      surface_(app::make_surface(instance_, window_.get())),
      gpu_(instance_, options.device, *surface_),
      swapchain_(gpu_, *surface_, app::framebuffer_extent(window_.get())),
      session_(gpu_, show, swapchain_.render_pass(), options.extent, options),
      controls_(options, show),
      panels_(controls_, show, session_.device_name()),
      steering_(window_.get()) {
    glfwSetWindowTitle(window_.get(), (show.name + " - quadtile-shadow").c_str());
    glfwSetWindowUserPointer(window_.get(), this);
    glfwSetKeyCallback(window_.get(), take_key);  // which the backend calls, too
    input_.emplace(window_.get());
    ui_.follow_scale(app::content_scale(window_.get()), gpu_, swapchain_);
}

Window::~Window() {
    // After a loss of the device nothing is left to wait for.
    (void)VULKAN_HPP_DEFAULT_DISPATCHER.vkDeviceWaitIdle(gpu_.device());
    ui_.detach();
}

void Window::take_key(GLFWwindow* window, int key, int /*code*/, int event, int modifiers) {
    auto& self = *static_cast<Window*>(glfwGetWindowUserPointer(window));
    if (event != GLFW_PRESS || ImGui::GetIO().WantTextInput) {
        return;
    }
    if (key == GLFW_KEY_C) {
        self.steering_.toggle_capture();
    }
    self.panels_.press(key, modifiers);
}

bool Window::is_minimised() const {
    const vk::Extent2D extent = app::framebuffer_extent(window_.get());
    return extent.width == 0 || extent.height == 0 ||
           glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == GLFW_TRUE;
}

// Counts a frame; the first one, and one after a pause, have no duration.
void Window::count_frame() {
    const Clock::time_point now = Clock::now();
    if (last_frame_) {
        frame_clock_.add(std::chrono::duration<float>(now - *last_frame_).count());
    }
    last_frame_ = now;
}

// Steers the camera, which pauses the flight.
void Window::steer(float seconds) {
    controls_.advance(seconds, show_.flight);
    const ImGuiIO& io = ImGui::GetIO();
    if (steering_.move(controls_.settings.camera, seconds, controls_.units_per_second,
                       !io.WantCaptureMouse, !io.WantTextInput)) {
        controls_.follows_flight = false;
    }
}

// Configures the session; refused options are shown, and change nothing.
void Window::configure() {
    try {
        session_.configure(picture_area(), controls_.shown(), controls_.shadows);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::invalid_argument) {
            throw;
        }
        controls_.problem = error.what();
        if (options_.log) {
            std::fprintf(stderr, "problem: %s\n", error.what());
        }
        controls_.shadows = session_.shadows();
        session_.configure(picture_area(), controls_.shown(), controls_.shadows);
    }
}

void Window::log_display() {
    const vk::Extent2D extent = session_.picture_extent();
    const std::string text =
        std::string(app::name_in(TECHNIQUES, controls_.settings.technique)) + ", " +
        std::string(app::name_in(DISPLAYS, controls_.display)) + ", " +
        std::string(app::name_in(FILTERS, controls_.settings.filter)) + ", " +
        (controls_.follows_flight ? "on the flight" : "steered") +
        (controls_.is_paused ? ", paused" : "") +
        (controls_.other ? ", beside " + std::string(app::name_in(TECHNIQUES, *controls_.other))
                         : "") +
        ", " + std::to_string(extent.width) + " x " + std::to_string(extent.height) + ", " +
        std::to_string(controls_.shadows.max_tiles) + " tiles";
    if (panels_.picked_text() != logged_pick_) {
        logged_pick_ = panels_.picked_text();
        std::fprintf(stderr, "picked: %s\n",
                     logged_pick_.empty() ? "nothing" : logged_pick_.c_str());
    }
    if (text == logged_) {
        return;
    }
    logged_ = text;
    const Camera& camera = controls_.settings.camera;
    std::fprintf(stderr, "on screen: %s, at %.3f %.3f %.3f, looking %.2f %.2f\n", text.c_str(),
                 static_cast<double>(camera.position.x), static_cast<double>(camera.position.y),
                 static_cast<double>(camera.position.z), static_cast<double>(camera.yaw_degrees),
                 static_cast<double>(camera.pitch_degrees));
}

void Window::frame() {
    ui_.follow_scale(app::content_scale(window_.get()), gpu_, swapchain_);
    const vk::Extent2D extent = app::framebuffer_extent(window_.get());
    if (extent != swapchain_.extent()) {
        swapchain_.resize(extent);
    }
    if (swapchain_.extent().width == 0 || swapchain_.extent().height == 0) {
        return;  // minimised meanwhile
    }
    count_frame();
    steer(frame_clock_.step_seconds());
    configure();
    session_.draw(controls_.settings, controls_.samples,
                  static_cast<std::uint32_t>(controls_.mark_pixels));
    panels_.add_frame(session_.statistics(), frame_clock_.frame_milliseconds());
    // The panels know the frame that they lie over.
    ImGui_ImplVulkan_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    panels_.draw(session_, ui_.scale());
    ImGui::Render();
    const bool shown = swapchain_.show([&](vk::CommandBuffer commands) {
        session_.compose(commands, swapchain_.extent(),
                         panels_.insets(session_, swapchain_.extent(), ui_.scale()));
        app::Ui::draw(commands);
    });
    if (!shown) {
        swapchain_.resize(app::framebuffer_extent(window_.get()));
    } else if (options_.log) {
        log_display();
    }
}

void Window::run() {
    while (glfwWindowShouldClose(window_.get()) == GLFW_FALSE && !controls_.wants_to_quit) {
        if (is_minimised()) {
            glfwWaitEvents();
            last_frame_.reset();
            continue;
        }
        glfwPollEvents();
        frame();
    }
}

}  // namespace

std::uint32_t run_window(const Options& options) {
    const Show show = load_show(options);
    Window window(options, show);
    window.run();
    return window.validation_messages();
}

}  // namespace quadtile::shadow
