#include "window.hpp"

#include "platform.hpp"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_vulkan.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

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

std::span<const char* const> instance_extensions() {
    std::uint32_t count = 0;
    const char** const names = glfwGetRequiredInstanceExtensions(&count);
    if (names == nullptr) {
        throw std::runtime_error(
            "no Vulkan driver that draws in windows was found (Debian: mesa-vulkan-drivers)");
    }
    return {names, count};
}

GLFWwindow* make_window(vk::Extent2D extent, const char* title) {
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    GLFWwindow* const window = glfwCreateWindow(
        static_cast<int>(extent.width), static_cast<int>(extent.height), title, nullptr, nullptr);
    if (window == nullptr) {
        throw_no_window(glfw_problem());
    }
    constexpr int SMALLEST = 320;
    glfwSetWindowSizeLimits(window, SMALLEST, SMALLEST / 2, GLFW_DONT_CARE, GLFW_DONT_CARE);
    return window;
}

// Returns the size in pixels; 0 if the window is minimised.
vk::Extent2D framebuffer_extent(GLFWwindow* window) {
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(window, &width, &height);
    return {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

vk::UniqueSurfaceKHR make_surface(const Instance& instance, GLFWwindow* window) {
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    const VkResult result = glfwCreateWindowSurface(instance.handle(), window, nullptr, &surface);
    if (result != VK_SUCCESS) {
        throw_no_window("no surface: " + vk::to_string(static_cast<vk::Result>(result)));
    }
    return vk::UniqueSurfaceKHR(surface, instance.handle());
}

int printed_key(int key, int code) {
    const bool has_character =
        key == GLFW_KEY_UNKNOWN || (key >= GLFW_KEY_APOSTROPHE && key <= GLFW_KEY_WORLD_2);
    const char* const name = has_character ? glfwGetKeyName(key, code) : nullptr;
    if (name == nullptr || static_cast<unsigned char>(name[0]) >= 0x80U) {
        return key;
    }
    if (std::isalpha(name[0]) != 0) {
        return GLFW_KEY_A + (std::tolower(name[0]) - 'a');
    }
    return key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? GLFW_KEY_UNKNOWN : key;
}

bool is_empty(vk::Extent2D extent) {
    return extent.width == 0 || extent.height == 0;
}

}  // namespace

WindowProgram::WindowSystem::WindowSystem() {
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

WindowProgram::WindowProgram(const char* name, vk::Extent2D extent, std::string device,
                             bool validation)
    : device_(std::move(device)),
      window_(make_window(extent, name)),
      instance_(name, instance_extensions(), validation),
      surface_(make_surface(instance_, window_.get())) {
    glfwSetWindowUserPointer(window_.get(), this);
    watch_events();
    ui_.emplace(window_.get());
}

// ---- Events

void WindowProgram::watch_events() {
    GLFWwindow* const window = window_.get();
    static const auto of = [](GLFWwindow* w) -> WindowProgram& {
        return *static_cast<WindowProgram*>(glfwGetWindowUserPointer(w));
    };
    glfwSetCursorPosCallback(window, [](auto* w, double, double) { of(w).note_event(); });
    glfwSetMouseButtonCallback(window, [](auto* w, int, int, int) { of(w).note_event(); });
    glfwSetScrollCallback(window, [](auto* w, double, double) { of(w).note_event(); });
    glfwSetCursorEnterCallback(window, [](auto* w, int) { of(w).note_event(); });
    glfwSetWindowFocusCallback(window, [](auto* w, int) { of(w).note_event(); });
    glfwSetWindowRefreshCallback(window, [](auto* w) { of(w).note_event(); });
    glfwSetFramebufferSizeCallback(window, [](auto* w, int, int) { of(w).note_event(); });
    glfwSetWindowContentScaleCallback(window, [](auto* w, float, float) { of(w).note_event(); });
    glfwSetCharCallback(window, [](auto* w, unsigned int typed) {
        of(w).take_character(typed);
        of(w).note_event();
    });
    glfwSetKeyCallback(window, [](auto* w, int key, int code, int event, int modifiers) {
        of(w).take_key(printed_key(key, code), event, modifiers);
        of(w).note_event();
    });
    glfwSetDropCallback(window, [](auto* w, int count, const char** paths) {
        std::vector<std::filesystem::path> files(static_cast<std::size_t>(count));
        std::transform(paths, paths + count, files.begin(), app::path_of);
        of(w).take_files(files);
        of(w).note_event();
    });
}

float WindowProgram::scale() const {
    float x = 1.0F;
    float y = 1.0F;
    glfwGetWindowContentScale(window_.get(), &x, &y);
    return std::max(x, y);
}

bool WindowProgram::is_minimised() const {
    return is_empty(framebuffer_extent(window_.get())) ||
           glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == GLFW_TRUE;
}

// ---- The device

void WindowProgram::close_device() {
    if (gpu_) {
        gpu_->wait_idle();
    }
    detach();
    ui_->detach();
    swapchain_.reset();
    gpu_.reset();
}

// ---- Frames

std::uint32_t WindowProgram::run() {
    try {
        gpu_.emplace(instance_, device_, *surface_);
        swapchain_.emplace(*gpu_, *surface_, framebuffer_extent(window_.get()));
        attach();
        while (glfwWindowShouldClose(window_.get()) == GLFW_FALSE && !quits_) {
            if (is_minimised()) {
                glfwWaitEvents();
                note_event();
                continue;
            }
            wait_for_events();
            frame();
        }
    } catch (...) {
        close_device();  // its resources must not outlive it
        throw;
    }
    close_device();  // while the validation layer's messages still count
    return instance_.validation_messages();
}

void WindowProgram::frame() {
    ui_->follow_scale(scale(), *gpu_, *swapchain_);
    const vk::Extent2D extent = framebuffer_extent(window_.get());
    if (extent != swapchain_->extent()) {
        swapchain_->resize(extent);
    }
    if (is_empty(swapchain_->extent())) {
        return;  // minimised meanwhile
    }
    update();
    ImGui_ImplVulkan_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    draw_panels();
    ImGui::Render();
    apply_panels();
    const bool is_shown = swapchain_->show([&](vk::CommandBuffer commands) {
        draw(commands);
        Ui::draw(commands);
    });
    if (!is_shown) {
        swapchain_->resize(framebuffer_extent(window_.get()));
    }
    note_frame(is_shown);
}

// ---- Dear ImGui

namespace {

#if QUADTILE_HAS_FONT
constexpr unsigned char FONT[] = {
#include "font.inc"
};
#endif

// Latin, dashes and dots, arrows, comparisons, ticks.
constexpr std::array<ImWchar, 11> GLYPHS{0x0020, 0x00ff, 0x2010, 0x2026, 0x2190, 0x2193,
                                         0x2264, 0x2265, 0x2713, 0x2717, 0};

void build_font(float scale) {
    ImFontAtlas& fonts = *ImGui::GetIO().Fonts;
    fonts.Clear();
    ImFontConfig config;
#if QUADTILE_HAS_FONT
    config.FontDataOwnedByAtlas = false;
    config.GlyphRanges = GLYPHS.data();
    // Dear ImGui only reads the font, despite the type.
    for (const float size : {14.0F, 22.0F}) {  // 22: for large numbers
        fonts.AddFontFromMemoryTTF(const_cast<unsigned char*>(FONT), sizeof(FONT),
                                   std::round(size * scale), &config);
    }
#else
    config.SizePixels = std::round(13.0F * scale);
    fonts.AddFontDefault(&config);
#endif
    fonts.Build();
}

void set_style(float scale) {
    ImGuiStyle style;
    ImGui::StyleColorsDark(&style);
    style.WindowRounding = 0.0F;
    style.FrameRounding = 3.0F;
    style.GrabRounding = 3.0F;
    style.PopupRounding = 4.0F;
    style.WindowBorderSize = 0.0F;
    style.FramePadding = {6.0F, 3.0F};
    style.ItemSpacing = {6.0F, 5.0F};
    const auto set = [&](ImGuiCol colour, float red, float green, float blue, float alpha = 1.0F) {
        style.Colors[colour] = {red, green, blue, alpha};
    };
    set(ImGuiCol_WindowBg, 0.13F, 0.135F, 0.15F);
    set(ImGuiCol_PopupBg, 0.15F, 0.155F, 0.17F, 0.98F);
    set(ImGuiCol_FrameBg, 0.20F, 0.21F, 0.235F);
    set(ImGuiCol_FrameBgHovered, 0.25F, 0.27F, 0.31F);
    set(ImGuiCol_FrameBgActive, 0.28F, 0.31F, 0.36F);
    set(ImGuiCol_Header, 0.18F, 0.19F, 0.215F);
    set(ImGuiCol_HeaderHovered, 0.24F, 0.27F, 0.32F);
    set(ImGuiCol_HeaderActive, 0.26F, 0.30F, 0.37F);
    set(ImGuiCol_Button, 0.22F, 0.29F, 0.38F);
    set(ImGuiCol_ButtonHovered, 0.27F, 0.37F, 0.50F);
    set(ImGuiCol_ButtonActive, 0.30F, 0.43F, 0.60F);
    set(ImGuiCol_SliderGrab, 0.42F, 0.56F, 0.75F);
    set(ImGuiCol_SliderGrabActive, 0.52F, 0.68F, 0.90F);
    set(ImGuiCol_CheckMark, 0.55F, 0.75F, 1.0F);
    style.ScaleAllSizes(scale);
    ImGui::GetStyle() = style;
}

}  // namespace

Ui::Ui(GLFWwindow* window) : has_window_(window != nullptr) {
    ImGui::CreateContext();
    if (has_window_) {
        ImGui_ImplGlfw_InitForVulkan(window, true);
    }
    ImGui::GetIO().IniFilename = nullptr;  // settings are the program's
    set_scale(1.0F);
}

Ui::~Ui() {
    detach();
    if (has_window_) {
        ImGui_ImplGlfw_Shutdown();
    }
    ImGui::DestroyContext();
}

void Ui::set_scale(float scale) {
    if (scale != scale_) {
        build_font(scale);
        set_style(scale);
        scale_ = scale;
    }
}

void Ui::attach(Gpu& gpu, vk::RenderPass render_pass, std::uint32_t image_count) {
    const vk::DescriptorPoolSize size{vk::DescriptorType::eCombinedImageSampler, 1};
    descriptor_pool_ = gpu.device().createDescriptorPoolUnique(vk::DescriptorPoolCreateInfo{
        .flags = vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet, .maxSets = 1}
                                                                   .setPoolSizes(size));
    ImGui_ImplVulkan_InitInfo info{};
    info.Instance = gpu.instance();
    info.PhysicalDevice = gpu.physical_device();
    info.Device = gpu.device();
    info.QueueFamily = gpu.queue_family();
    info.Queue = gpu.queue();
    info.DescriptorPool = *descriptor_pool_;
    info.MinImageCount = 2;
    info.ImageCount = std::max(2U, image_count);
    info.CheckVkResultFn = [](VkResult result) {
        vk::resultCheck(static_cast<vk::Result>(result), "Dear ImGui");
    };
    is_attached_ = true;  // attach() may fail halfway
    ImGui_ImplVulkan_Init(&info, render_pass);
    gpu.run([](vk::CommandBuffer commands) { ImGui_ImplVulkan_CreateFontsTexture(commands); });
    ImGui_ImplVulkan_DestroyFontUploadObjects();
}

void Ui::follow_scale(float scale, Gpu& gpu, const Swapchain& swapchain) {
    if (!is_attached_ || scale != scale_) {
        gpu.wait_idle();
        detach();
        set_scale(scale);
        attach(gpu, swapchain.render_pass(), swapchain.image_count());
    }
}

void Ui::detach() {
    if (is_attached_) {
        ImGui_ImplVulkan_Shutdown();
        is_attached_ = false;
    }
    descriptor_pool_.reset();
}

void Ui::draw(vk::CommandBuffer commands) {
    ImGui_ImplVulkan_RenderDrawData(ImGui::GetDrawData(), commands);
}

}  // namespace quadtile::app
