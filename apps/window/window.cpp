#include "window.hpp"

#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quadtile::app {

namespace {

// Last error of GLFW, which reports errors by a callback.
std::string& glfw_problem() {
    static std::string problem;
    return problem;
}

[[noreturn]] void throw_no_window(const std::string& reason) {
    throw std::runtime_error("there is no window system to open a window in (" + reason +
                             "); --screenshot OUT.png draws without one");
}

}  // namespace

WindowSystem::WindowSystem() {
    glfwSetErrorCallback([](int /*code*/, const char* text) { glfw_problem() = text; });
    if (glfwInit() == GLFW_FALSE) {
        throw_no_window(glfw_problem());
    }
    if (glfwVulkanSupported() == GLFW_FALSE) {
        const std::string reason = glfw_problem();
        glfwTerminate();
        throw std::runtime_error("Vulkan cannot draw in windows here (" + reason +
                                 "); --screenshot OUT.png draws without one");
    }
}

std::span<const char* const> WindowSystem::instance_extensions() {
    std::uint32_t count = 0;
    const char** const names = glfwGetRequiredInstanceExtensions(&count);
    if (names == nullptr) {
        throw std::runtime_error(
            "no Vulkan driver that draws in windows was found (Debian: mesa-vulkan-drivers)");
    }
    return {names, count};
}

WindowHandle make_window(vk::Extent2D extent, const char* title) {
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    WindowHandle window(glfwCreateWindow(static_cast<int>(extent.width),
                                         static_cast<int>(extent.height), title, nullptr, nullptr));
    if (!window) {
        throw_no_window(glfw_problem());
    }
    constexpr int SMALLEST = 320;
    glfwSetWindowSizeLimits(window.get(), SMALLEST, SMALLEST / 2, GLFW_DONT_CARE, GLFW_DONT_CARE);
    return window;
}

vk::Extent2D framebuffer_extent(GLFWwindow* window) {
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(window, &width, &height);
    return {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

float content_scale(GLFWwindow* window) {
    float x = 1.0F;
    float y = 1.0F;
    glfwGetWindowContentScale(window, &x, &y);
    return std::max(x, y);
}

vk::UniqueSurfaceKHR make_surface(const Instance& instance, GLFWwindow* window) {
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    const VkResult result = glfwCreateWindowSurface(instance.handle(), window, nullptr, &surface);
    if (result != VK_SUCCESS) {
        throw_no_window("no surface: " + vk::to_string(static_cast<vk::Result>(result)));
    }
    return vk::UniqueSurfaceKHR(surface, instance.handle());
}

InputBackend::InputBackend(GLFWwindow* window) {
    ImGui_ImplGlfw_InitForVulkan(window, true);
}

InputBackend::~InputBackend() {
    ImGui_ImplGlfw_Shutdown();
}

}  // namespace quadtile::app
