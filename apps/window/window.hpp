// A GLFW window with its Vulkan surface, and Dear ImGui: its input, fonts, style and drawing.

#pragma once

#include "gpu.hpp"
#include "swapchain.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <memory>
#include <span>

namespace quadtile::app {

// The use of GLFW. Throws std::runtime_error if there is no window system; the message names
// --screenshot, which all programs with windows have.
class WindowSystem {
 public:
    WindowSystem();
    ~WindowSystem() { glfwTerminate(); }
    WindowSystem(const WindowSystem&) = delete;
    WindowSystem& operator=(const WindowSystem&) = delete;

    // Returns the extensions for Instance. Throws std::runtime_error if no driver draws in windows.
    [[nodiscard]] static std::span<const char* const> instance_extensions();
};

struct WindowDeleter {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowHandle = std::unique_ptr<GLFWwindow, WindowDeleter>;

// `extent`: pixels of a display of 96 dots per inch. Throws std::runtime_error as WindowSystem.
[[nodiscard]] WindowHandle make_window(vk::Extent2D extent, const char* title);

// Returns the size in pixels; 0 if the window is minimised.
[[nodiscard]] vk::Extent2D framebuffer_extent(GLFWwindow* window);

// Returns the pixels of the display per pixel of a display of 96 dots per inch.
[[nodiscard]] float content_scale(GLFWwindow* window);

// Throws std::runtime_error as WindowSystem.
[[nodiscard]] vk::UniqueSurfaceKHR make_surface(const Instance& instance, GLFWwindow* window);

// Passes input of the window to Dear ImGui.
class InputBackend {
 public:
    // Also calls the callbacks that the window already has.
    explicit InputBackend(GLFWwindow* window);
    ~InputBackend();
    InputBackend(const InputBackend&) = delete;
    InputBackend& operator=(const InputBackend&) = delete;
};

// The context of Dear ImGui; there is one. Mouse and keys come from InputBackend, or not at all.
class Ui {
 public:
    Ui();
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    // Sets the size of fonts and panels: pixels of this display per pixel of a display of 96 dots
    // per inch. Call it between detach() and attach().
    void set_scale(float scale);
    [[nodiscard]] float scale() const { return scale_; }

    // Attaches a device. draw() needs render passes that are compatible with `render_pass`.
    void attach(Gpu& gpu, vk::RenderPass render_pass, std::uint32_t image_count);
    // Attaches the window again if the scale has changed. Returns whether it has.
    bool follow_scale(float scale, Gpu& gpu, const Swapchain& swapchain);
    // Detaches the device. Call it when drawing has finished, before the device is destroyed.
    void detach();

    // Draws. Call it within a render pass, after ImGui::Render.
    static void draw(vk::CommandBuffer commands);

 private:
    float scale_ = 0.0F;
    bool is_attached_ = false;
    vk::UniqueDescriptorPool descriptor_pool_;
};

}  // namespace quadtile::app
