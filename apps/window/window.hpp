// A window by GLFW, and what Vulkan and Dear ImGui need of it.

#pragma once

#include "gpu.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <memory>
#include <span>

namespace quadtile::app {

// GLFW, from its start to its end. Throws std::runtime_error where there is no window system; the
// message names --screenshot, which all programs with windows have.
class WindowSystem {
 public:
    WindowSystem();
    ~WindowSystem() { glfwTerminate(); }
    WindowSystem(const WindowSystem&) = delete;
    WindowSystem& operator=(const WindowSystem&) = delete;

    // For Instance. Throws std::runtime_error where no driver draws in windows.
    [[nodiscard]] static std::span<const char* const> instance_extensions();
};

struct WindowDeleter {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowHandle = std::unique_ptr<GLFWwindow, WindowDeleter>;

// `extent` in pixels of a display of 96 dots per inch. Throws std::runtime_error as WindowSystem.
[[nodiscard]] WindowHandle make_window(vk::Extent2D extent, const char* title);

// In pixels; 0 where it is minimised.
[[nodiscard]] vk::Extent2D framebuffer_extent(GLFWwindow* window);

// What one pixel of a display of 96 dots per inch has become.
[[nodiscard]] float content_scale(GLFWwindow* window);

// Throws std::runtime_error as WindowSystem.
[[nodiscard]] vk::UniqueSurfaceKHR make_surface(const Instance& instance, GLFWwindow* window);

// What Dear ImGui is told of the window, from its start to its end.
class InputBackend {
 public:
    // Calls the callbacks that the window has, too.
    explicit InputBackend(GLFWwindow* window);
    ~InputBackend();
    InputBackend(const InputBackend&) = delete;
    InputBackend& operator=(const InputBackend&) = delete;
};

}  // namespace quadtile::app
