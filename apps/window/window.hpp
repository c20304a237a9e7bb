// A GLFW window with its device, and Dear ImGui: its input, fonts, style and drawing.

#pragma once

#include "gpu.hpp"
#include "swapchain.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::app {

// The context of Dear ImGui; there is one.
class Ui {
 public:
    // Mouse and keys come from `window`; null: there are none. Also calls the callbacks that the
    // window already has.
    explicit Ui(GLFWwindow* window = nullptr);
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    // Sets the size of fonts and panels: pixels of this display per pixel of a display of 96 dots
    // per inch. Call it between detach() and attach().
    void set_scale(float scale);

    // Attaches a device. draw() needs render passes that are compatible with `render_pass`.
    void attach(Gpu& gpu, vk::RenderPass render_pass, std::uint32_t image_count);
    // Attaches the swapchain's device, unless it is attached with this scale.
    void follow_scale(float scale, Gpu& gpu, const Swapchain& swapchain);
    // Detaches the device. Call it when drawing has finished, before the device is destroyed.
    void detach();

    // Draws. Call it within a render pass, after ImGui::Render.
    static void draw(vk::CommandBuffer commands);

 private:
    bool has_window_;
    float scale_ = 0.0F;
    bool is_attached_ = false;
    vk::UniqueDescriptorPool descriptor_pool_;
};

// A program in a window. It draws frames until the user leaves. Constructor and run() throw
// std::runtime_error if there is no window system, or no device for it; the message names
// --screenshot, which all programs with windows have.
class WindowProgram {
 public:
    // `extent`: pixels of a display of 96 dots per inch. `device`: as in DeviceOptions::select.
    WindowProgram(const char* name, vk::Extent2D extent, std::string device, bool validation);
    virtual ~WindowProgram() = default;
    WindowProgram(const WindowProgram&) = delete;
    WindowProgram& operator=(const WindowProgram&) = delete;

    // Returns the number of messages of the validation layer.
    std::uint32_t run();

 protected:
    [[nodiscard]] GLFWwindow* window() const { return window_.get(); }
    [[nodiscard]] Gpu& gpu() { return *gpu_; }
    [[nodiscard]] const Swapchain& swapchain() const { return *swapchain_; }
    void quit() { quits_ = true; }

    // ---- The device. detach() also follows an attach() that has failed.
    virtual void attach() = 0;
    virtual void detach() = 0;

    // ---- A frame, in this order
    virtual void wait_for_events() { glfwPollEvents(); }
    virtual void update() {}
    virtual void draw_panels() = 0;  // between ImGui::NewFrame and ImGui::Render
    virtual void apply_panels() {}
    virtual void draw(vk::CommandBuffer commands) = 0;  // within the swapchain's render pass
    virtual void note_frame(bool /*is_shown*/) {}

    // ---- Events
    virtual void note_event() {}  // of any kind
    // GLFW names keys by their place on a US keyboard; here `key` is the one with the letter that
    // the keyboard's layout has there. Layouts of other scripts have no Latin letters: its place.
    virtual void take_key(int key, int event, int modifiers) = 0;
    virtual void take_character(unsigned int /*typed*/) {}
    virtual void take_files(const std::vector<std::filesystem::path>& /*dropped*/) {}

    // Returns the pixels of the display per pixel of a display of 96 dots per inch.
    [[nodiscard]] virtual float scale() const;

 private:
    // The use of GLFW.
    struct WindowSystem {
        WindowSystem();
        ~WindowSystem() { glfwTerminate(); }
        WindowSystem(const WindowSystem&) = delete;
        WindowSystem& operator=(const WindowSystem&) = delete;
    };
    struct WindowDeleter {
        void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
    };

    void watch_events();
    void close_device();
    [[nodiscard]] bool is_minimised() const;
    void frame();

    std::string device_;
    WindowSystem system_;
    std::unique_ptr<GLFWwindow, WindowDeleter> window_;
    Instance instance_;
    vk::UniqueSurfaceKHR surface_;
    std::optional<Ui> ui_;
    std::optional<Gpu> gpu_;
    std::optional<Swapchain> swapchain_;
    bool quits_ = false;
};

}  // namespace quadtile::app
