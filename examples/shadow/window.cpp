#include "panel.hpp"
#include "show.hpp"
#include "steering.hpp"

#include "quadtile_shadow_example_shaders.hpp"

#include "window.hpp"

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
    void open_surface();
    void close_surface();
    void frame();
    void draw_scene();
    void draw_panel();
    [[nodiscard]] bool is_minimised() const;
    static void take_key(GLFWwindow* window, int key, int code, int event, int modifiers);
    void act(char letter);
    void log();

    const Options& options_;
    app::WindowSystem system_;
    app::WindowHandle window_;
    app::Instance instance_;
    vk::UniqueSurfaceKHR surface_;
    app::Gpu gpu_;
    quadtile::Device device_;
    app::ProgramInterface picture_;  // shows Targets::colour
    Renderer renderer_;
    std::optional<app::Swapchain> swapchain_;
    vk::UniquePipeline show_picture_;
    vk::ImageView shown_;     // by the descriptor of picture_
    bool has_shown_ = false;  // a frame on this surface
    app::Ui ui_;
    std::optional<app::InputBackend> input_;
    Steering steering_;
    PanelState state_;
    std::optional<Clock::time_point> last_frame_;
    bool wants_to_quit_ = false;
    std::string logged_;
};

Window::Window(const Options& options, const Show& show)
    : options_(options),
      window_(app::make_window(options.extent, "quadtile-shadow")),
      instance_("quadtile-shadow", app::WindowSystem::instance_extensions(), options.validation),
      surface_(app::make_surface(instance_, window_.get())),
      gpu_(instance_, {}, *surface_),
      device_(quadtile::Device::adopt(gpu_.for_quadtile())),
      picture_(
          gpu_.make_interface(vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment,
                              {vk::DescriptorType::eSampledImage})),
      renderer_(gpu_, device_, show.geometry, options.extent, shadow_options(show)),
      steering_(window_.get(), show.geometry.bounds),
      state_{.settings = first_frame(options, show), .has_moving = !show.geometry.moving.empty()} {
    glfwSetWindowTitle(window_.get(), (show.name + " - quadtile-shadow").c_str());
    glfwSetWindowUserPointer(window_.get(), this);
    glfwSetKeyCallback(window_.get(), take_key);  // which the backend calls, too
    input_.emplace(window_.get());
    open_surface();
}

Window::~Window() {
    close_surface();
}

// ---- The surface, which a window system may take away

void Window::open_surface() {
    if (!surface_) {
        surface_ = app::make_surface(instance_, window_.get());
    }
    swapchain_.emplace(gpu_, *surface_, app::framebuffer_extent(window_.get()));
    has_shown_ = false;
    show_picture_ = gpu_.make_draw_pipeline(
        *picture_.layout, swapchain_->render_pass(),
        {.vertex_shader = app::PICTURE_VERT, .fragment_shader = app::PICTURE_FRAG});
}

void Window::close_surface() {
    gpu_.wait_idle();
    ui_.detach();
    show_picture_.reset();
    swapchain_.reset();
    surface_.reset();
}

void Window::run() {
    while (glfwWindowShouldClose(window_.get()) == GLFW_FALSE && !wants_to_quit_) {
        if (is_minimised()) {
            glfwWaitEvents();
            last_frame_.reset();
            continue;
        }
        glfwPollEvents();
        try {
            frame();
        } catch (const vk::SurfaceLostKHRError&) {
            if (!has_shown_) {
                throw;  // a new surface does not help
            }
            close_surface();
            open_surface();
        }
    }
}

bool Window::is_minimised() const {
    const vk::Extent2D extent = app::framebuffer_extent(window_.get());
    return extent.width == 0 || extent.height == 0 ||
           glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == GLFW_TRUE;
}

// ---- A frame

void Window::frame() {
    ui_.follow_scale(app::content_scale(window_.get()), gpu_, *swapchain_);
    const vk::Extent2D extent = app::framebuffer_extent(window_.get());
    if (extent != swapchain_->extent()) {
        swapchain_->resize(extent);
    }
    if (swapchain_->extent().width == 0 || swapchain_->extent().height == 0) {
        return;  // minimised meanwhile
    }
    draw_scene();
    draw_panel();
    const bool shown = swapchain_->show([&](vk::CommandBuffer commands) {
        set_viewport(commands, {.extent = swapchain_->extent()});
        picture_.bind(commands, *show_picture_, vk::PipelineBindPoint::eGraphics);
        commands.draw(4, 1, 0, 0);
        app::Ui::draw(commands);
    });
    if (!shown) {
        swapchain_->resize(app::framebuffer_extent(window_.get()));
        return;
    }
    has_shown_ = true;
    if (options_.log) {
        log();
    }
}

void Window::draw_scene() {
    const Clock::time_point now = Clock::now();
    const float seconds =
        last_frame_ ? std::chrono::duration<float>(now - *last_frame_).count() : 0.0F;
    last_frame_ = now;
    constexpr float LONGEST_STEP = 0.25F;  // nothing jumps
    const float step = std::min(seconds, LONGEST_STEP);
    const ImGuiIO& io = ImGui::GetIO();
    steering_.move(state_.settings.camera, step, !io.WantCaptureMouse, !io.WantTextInput);
    state_.settings.second += state_.is_paused ? 0.0F : step;
    renderer_.configure(swapchain_->extent(), renderer_.targets().options);
    const vk::ImageView picture = *renderer_.targets().colour.view;
    if (picture != shown_) {
        gpu_.wait_idle();  // the last frame may still use the descriptor
        picture_.write(0, picture, vk::ImageLayout::eGeneral);
        shown_ = picture;
    }
    gpu_.run([&](vk::CommandBuffer commands) { renderer_.record(commands, state_.settings); });
    state_.frame_milliseconds = 1000.0F * seconds;
    state_.timings = renderer_.timings();
    state_.header = renderer_.header();
    state_.atlas_cells = shadow_atlas_cells(shadow_parameters(renderer_.targets().options));
}

void Window::draw_panel() {
    ImGui_ImplVulkan_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    if (state_.shows_panel) {
        show_panel(state_, ui_.scale());
    }
    ImGui::Render();
}

// ---- Keys

void Window::take_key(GLFWwindow* window, int key, int code, int event, int modifiers) {
    auto& self = *static_cast<Window*>(glfwGetWindowUserPointer(window));
    const std::optional<char> letter = self.steering_.take_key(key, code, event);
    if (event != GLFW_PRESS || ImGui::GetIO().WantTextInput) {
        return;
    }
    if (key == GLFW_KEY_TAB) {
        self.state_.shows_panel = !self.state_.shows_panel;
    } else if (key == GLFW_KEY_SPACE) {
        self.state_.is_paused = !self.state_.is_paused;
    } else if (letter == 'q' && (modifiers & GLFW_MOD_CONTROL) != 0) {
        self.wants_to_quit_ = true;
    } else if (letter && (modifiers & GLFW_MOD_CONTROL) == 0) {
        self.act(*letter);
    }
}

void Window::act(char letter) {
    FrameSettings& settings = state_.settings;
    if (letter == 't') {
        settings.shows_tiles = !settings.shows_tiles;
    } else if (letter == 'h') {
        settings.filter =
            FILTERS[(static_cast<std::size_t>(settings.filter) + 1) % FILTERS.size()].value;
    }
}

void Window::log() {
    const FrameSettings& settings = state_.settings;
    const Camera& camera = settings.camera;
    std::array<char, 200> text{};
    std::snprintf(text.data(), text.size(),
                  "on screen: %s, %s, %u x %u, at %.3f %.3f %.3f, looking %.2f %.2f",
                  std::string(app::name_in(FILTERS, settings.filter)).c_str(),
                  settings.shows_tiles ? "tiles" : "shaded", renderer_.targets().extent.width,
                  renderer_.targets().extent.height, static_cast<double>(camera.position.x),
                  static_cast<double>(camera.position.y), static_cast<double>(camera.position.z),
                  static_cast<double>(camera.yaw_degrees),
                  static_cast<double>(camera.pitch_degrees));
    if (logged_ != text.data()) {
        logged_ = text.data();
        std::fprintf(stderr, "%s\n", logged_.c_str());
    }
}

}  // namespace

std::uint32_t run_window(const Options& options, const Show& show) {
    Window window(options, show);
    window.run();
    return window.validation_messages();
}

}  // namespace quadtile::shadow
