// A GLFW window with its Vulkan surface and its input for Dear ImGui.

#pragma once

#include "gpu.hpp"

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

}  // namespace quadtile::app
