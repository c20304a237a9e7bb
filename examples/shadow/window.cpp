#include "show.hpp"

#include "quadtile_shadow_example_shaders.hpp"

#include "window.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

namespace quadtile::shadow {

namespace {

using Clock = std::chrono::steady_clock;

// ---- The panel

void show_filters(FrameSettings& settings) {
    for (const auto& [name, filter] : FILTERS) {
        if (ImGui::RadioButton(std::string(name).c_str(), settings.filter == filter)) {
            settings.filter = filter;
        }
        ImGui::SameLine();
    }
    ImGui::TextUnformatted("filter (H)");
}

void show_sun(Light& sun) {
    const glm::vec3 to_sun = -glm::normalize(sun.direction);
    float azimuth = glm::degrees(std::atan2(to_sun.x, to_sun.z));
    float elevation = glm::degrees(std::asin(to_sun.y));
    bool has_moved = ImGui::SliderFloat("sun's azimuth", &azimuth, -180.0F, 180.0F, "%.1f");
    has_moved |= ImGui::SliderFloat("sun's elevation", &elevation, 1.0F, 89.0F, "%.1f");
    if (has_moved) {
        const glm::vec2 angles = glm::radians(glm::vec2(azimuth, elevation));
        sun.direction = -glm::vec3(std::sin(angles.x) * std::cos(angles.y), std::sin(angles.y),
                                   std::cos(angles.x) * std::cos(angles.y));
    }
}

void show_statistics(const Renderer& renderer) {
    const ShadowHeader header = renderer.header();
    const Timings times = renderer.timings();
    const std::uint32_t cells = shadow_atlas_cells(shadow_parameters(renderer.targets().options));
    ImGui::Text("GPU, us: depth %.0f, fit %.0f, cull %.0f,", times.depth, times.fit, times.cull);
    ImGui::Text("    shadow maps %.0f, picture %.0f", times.maps, times.shade);
    ImGui::Text("%u tiles, %u drawn in this frame, %u whole", header.tiles, header.render_count,
                header.static_count);
    ImGui::Text("%.0f %% of the atlas, resolution / %.2f", 100.0 * header.used_cells / cells,
                static_cast<double>(header.factor));
}

// ---- The window

// Steering of a camera by keys and mouse.
class Steering {
 public:
    // The camera crosses a scene with these bounds in about 20 seconds.
    Steering(GLFWwindow* window, const ShadowBox& bounds) : window_(window) {
        constexpr float SECONDS_ACROSS = 20.0F;
        const glm::vec3 size = high_of(bounds) - low_of(bounds);
        units_per_second_ = std::max({size.x, size.y, size.z}) / SECONDS_ACROSS;
    }

    void take_key(int key, int event) {
        if (event == GLFW_RELEASE) {
            held_.erase(key);
        } else {
            held_.insert(key);
        }
    }

    // Turns by the mouse while its right button is held. Moves by W, A, S, D, Q and E, faster with
    // Shift. If `has_mouse` or `has_keys` is false, the panel has them, and they do nothing here.
    void move(Camera& camera, float seconds, bool has_mouse, bool has_keys) {
        turn(camera, has_mouse);
        constexpr float FASTER = 4.0F;
        const bool is_fast = is_held(GLFW_KEY_LEFT_SHIFT) || is_held(GLFW_KEY_RIGHT_SHIFT);
        const bool is_command = is_held(GLFW_KEY_LEFT_CONTROL) || is_held(GLFW_KEY_RIGHT_CONTROL);
        if (has_keys && !is_command) {
            fly(camera, seconds * units_per_second_ * (is_fast ? FASTER : 1.0F));
        }
    }

 private:
    void turn(Camera& camera, bool has_mouse);
    void fly(Camera& camera, float distance) const;
    [[nodiscard]] bool is_held(int key) const { return held_.contains(key); }

    GLFWwindow* window_;
    float units_per_second_;
    std::set<int> held_;              // keys
    std::optional<glm::dvec2> last_;  // of the mouse, while it turns the camera
};

class Window : public app::WindowProgram {
 public:
    Window(const Options& options, const Show& show)
        : WindowProgram("quadtile-shadow", options.extent, {}, options.validation),
          options_(options),
          show_(show),
          steering_(window(), show.geometry.bounds),
          settings_(first_frame(options, show)) {
        glfwSetWindowTitle(window(), (show.name + " - quadtile-shadow").c_str());
    }

 private:
    void attach() override {
        on_device_.emplace(gpu(), show_, options_.extent, swapchain().render_pass());
    }
    void detach() override { on_device_.reset(); }

    void update() override;
    void draw_panels() override;
    void draw(vk::CommandBuffer commands) override;
    void note_frame(bool is_shown) override {
        if (is_shown && options_.log) {
            log();
        }
    }

    void take_key(int key, int event, int modifiers) override;
    void log();

    struct OnDevice {
        OnDevice(app::Gpu& gpu, const Show& show, vk::Extent2D extent, vk::RenderPass pass);

        quadtile::Device device;
        app::ProgramInterface picture;  // shows Targets::colour
        Renderer renderer;
        vk::UniquePipeline show_picture;
        vk::ImageView shown;  // by the descriptor of `picture`
    };

    const Options& options_;
    const Show& show_;
    std::optional<OnDevice> on_device_;
    Steering steering_;
    FrameSettings settings_;
    bool is_paused_ = false;
    bool has_lamps_ = true;  // spot and point lights are on
    bool shows_panel_ = true;
    Clock::time_point last_frame_ = Clock::now();
    float seconds_ = 0.0F;  // from frame to frame
    std::string logged_;
};

// ---- The camera

void Steering::turn(Camera& camera, bool has_mouse) {
    const bool is_held =
        glfwGetMouseButton(window_, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS && (has_mouse || last_);
    if (is_held != last_.has_value()) {
        glfwSetInputMode(window_, GLFW_CURSOR, is_held ? GLFW_CURSOR_DISABLED : GLFW_CURSOR_NORMAL);
    }
    if (!is_held) {
        last_.reset();
        return;
    }
    glm::dvec2 place(0.0);
    glfwGetCursorPos(window_, &place.x, &place.y);
    constexpr float DEGREES_PER_UNIT = 0.15F;
    const glm::vec2 moved = DEGREES_PER_UNIT * glm::vec2(place - last_.value_or(place));
    last_ = place;
    camera.yaw_degrees -= moved.x;
    camera.pitch_degrees = std::clamp(camera.pitch_degrees - moved.y, -89.0F, 89.0F);
}

void Steering::fly(Camera& camera, float distance) const {
    const auto along = [this](int forwards, int backwards) {
        return static_cast<float>(is_held(forwards)) - static_cast<float>(is_held(backwards));
    };
    constexpr glm::vec3 UP(0.0F, 1.0F, 0.0F);
    const glm::vec3 forward = camera.forward();
    const glm::vec3 to_right = glm::normalize(glm::cross(forward, UP));
    camera.position +=
        distance * (along(GLFW_KEY_W, GLFW_KEY_S) * forward +
                    along(GLFW_KEY_D, GLFW_KEY_A) * to_right + along(GLFW_KEY_E, GLFW_KEY_Q) * UP);
}

// ---- The device

Window::OnDevice::OnDevice(app::Gpu& gpu, const Show& show, vk::Extent2D extent,
                           vk::RenderPass pass)
    : device(quadtile::Device::adopt(gpu.for_quadtile())),
      picture(
          gpu.make_interface(vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment,
                             {vk::DescriptorType::eSampledImage})),
      renderer(gpu, device, show.geometry, extent, shadow_options(show)),
      show_picture(gpu.make_draw_pipeline(
          *picture.layout, pass,
          {.vertex_shader = app::PICTURE_VERT, .fragment_shader = app::PICTURE_FRAG})) {}

// ---- A frame

void Window::update() {
    const Clock::time_point now = Clock::now();
    seconds_ = std::chrono::duration<float>(now - std::exchange(last_frame_, now)).count();
    constexpr float LONGEST_STEP = 0.25F;  // nothing jumps
    const float step = std::min(seconds_, LONGEST_STEP);
    const ImGuiIO& io = ImGui::GetIO();
    steering_.move(settings_.camera, step, !io.WantCaptureMouse, !io.WantTextInput);
    settings_.second += is_paused_ ? 0.0F : step;
    for (Light& light : settings_.lights) {
        light.is_on = has_lamps_ || light.kind == Light::Kind::sun;
    }
    Renderer& renderer = on_device_->renderer;
    renderer.configure(swapchain().extent(), renderer.targets().options);
    const vk::ImageView picture = *renderer.targets().colour.view;
    if (picture != std::exchange(on_device_->shown, picture)) {
        gpu().wait_idle();  // the last frame may still use the descriptor
        on_device_->picture.write(0, picture, vk::ImageLayout::eGeneral);
    }
    gpu().run([&](vk::CommandBuffer commands) { renderer.record(commands, settings_); });
}

void Window::draw_panels() {
    if (!shows_panel_) {
        return;
    }
    ImGui::SetNextWindowPos({10.0F * scale(), 10.0F * scale()}, ImGuiCond_Always);
    ImGui::SetNextWindowBgAlpha(0.85F);
    ImGui::Begin("Shadows", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                     ImGuiWindowFlags_NoMove);
    show_filters(settings_);
    ImGui::Checkbox("tiles (T)", &settings_.shows_tiles);
    ImGui::SameLine();
    ImGui::Checkbox("lamps (L)", &has_lamps_);
    if (show_.geometry.masked_clusters > 0) {
        ImGui::SameLine();
        ImGui::Checkbox("leaves (F)", &settings_.has_leaves);
    }
    if (!show_.geometry.moving.empty()) {
        ImGui::SameLine();
        ImGui::Checkbox("pause (space)", &is_paused_);
    }
    if (settings_.lights.front().kind == Light::Kind::sun) {
        ImGui::PushItemWidth(150.0F * scale());
        show_sun(settings_.lights.front());
        ImGui::PopItemWidth();
    }
    ImGui::Separator();
    ImGui::Text("%.1f ms from frame to frame", 1000.0 * static_cast<double>(seconds_));
    show_statistics(on_device_->renderer);
    ImGui::Separator();
    ImGui::TextUnformatted("W A S D Q E, Shift: fly; right button: turn; Tab: panel");
    ImGui::End();
}

void Window::draw(vk::CommandBuffer commands) {
    set_viewport(commands, {.extent = swapchain().extent()});
    on_device_->picture.bind(commands, *on_device_->show_picture, vk::PipelineBindPoint::eGraphics);
    commands.draw(4, 1, 0, 0);
}

// ---- Keys

void Window::take_key(int key, int event, int modifiers) {
    steering_.take_key(key, event);
    if (event != GLFW_PRESS || ImGui::GetIO().WantTextInput) {
        return;
    }
    const bool has_control = (modifiers & GLFW_MOD_CONTROL) != 0;
    if (key == GLFW_KEY_TAB) {
        shows_panel_ = !shows_panel_;
    } else if (key == GLFW_KEY_SPACE) {
        is_paused_ = !is_paused_;
    } else if (key == GLFW_KEY_Q && has_control) {
        quit();
    } else if (key == GLFW_KEY_T && !has_control) {
        settings_.shows_tiles = !settings_.shows_tiles;
    } else if (key == GLFW_KEY_L && !has_control) {
        has_lamps_ = !has_lamps_;
    } else if (key == GLFW_KEY_F && !has_control) {
        settings_.has_leaves = !settings_.has_leaves;
    } else if (key == GLFW_KEY_H && !has_control) {
        settings_.filter =
            FILTERS[(static_cast<std::size_t>(settings_.filter) + 1) % FILTERS.size()].value;
    }
}

void Window::log() {
    const vk::Extent2D extent = swapchain().extent();
    const Camera& camera = settings_.camera;
    std::array<char, 200> text{};
    std::snprintf(text.data(), text.size(),
                  "on screen: %s, %s, %u x %u, at %.3f %.3f %.3f, looking %.2f %.2f",
                  std::string(app::name_in(FILTERS, settings_.filter)).c_str(),
                  settings_.shows_tiles ? "tiles" : "shaded", extent.width, extent.height,
                  static_cast<double>(camera.position.x), static_cast<double>(camera.position.y),
                  static_cast<double>(camera.position.z), static_cast<double>(camera.yaw_degrees),
                  static_cast<double>(camera.pitch_degrees));
    if (logged_ != text.data()) {
        logged_ = text.data();
        std::fprintf(stderr, "%s\n", logged_.c_str());
    }
}

}  // namespace

std::uint32_t run_window(const Options& options, const Show& show) {
    return Window(options, show).run();
}

}  // namespace quadtile::shadow
