#include "swapchain.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quadtile::app {

// ---- Render pass and pictures

vk::UniqueRenderPass make_render_pass(vk::Device device, vk::Format format,
                                      vk::ImageLayout final_layout) {
    return make_render_pass(device, std::array{cleared(format, final_layout)});
}

namespace {

Picture to_picture(const std::byte* texels, vk::Format format, vk::Extent2D extent) {
    const bool is_bgr = format == vk::Format::eB8G8R8A8Unorm;
    Picture picture(extent.width, extent.height);
    for (Rgb& pixel : picture.pixels) {
        for (std::size_t i = 0; i < 3; ++i) {
            pixel[is_bgr ? 2 - i : i] = static_cast<std::uint8_t>(texels[i]);
        }
        texels += 4;
    }
    return picture;
}

}  // namespace

void begin_with_background(vk::CommandBuffer commands, vk::RenderPass pass,
                           vk::Framebuffer framebuffer, vk::Extent2D extent) {
    const std::array<vk::ClearValue, 1> background{{{.color = {BACKGROUND}}}};
    begin_render_pass(commands, pass, framebuffer, extent, background);
}

vk::Extent2D checked_extent(const Gpu& gpu, vk::Extent2D extent) {
    const vk::PhysicalDeviceLimits limits = gpu.physical_device().getProperties().limits;
    const std::uint32_t largest = std::min(limits.maxFramebufferWidth, limits.maxImageDimension2D);
    if (extent.width > largest || extent.height > largest) {
        throw std::runtime_error("a picture of " + std::to_string(extent.width) + " x " +
                                 std::to_string(extent.height) +
                                 " pixels is too large for the device, which takes " +
                                 std::to_string(largest) + " on a side");
    }
    return extent;
}

Picture render_picture(Gpu& gpu, vk::Format format, vk::Extent2D extent,
                       const std::function<void(vk::CommandBuffer)>& draw) {
    (void)checked_extent(gpu, extent);
    using Layout = vk::ImageLayout;
    const auto render_pass = make_render_pass(gpu.device(), format, Layout::eTransferSrcOptimal);
    const Image image = gpu.make_image(
        extent, format,
        vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferSrc,
        vk::ImageViewType::e2D);
    const auto framebuffer = gpu.make_framebuffer(*render_pass, extent, std::array{*image.view});
    gpu.run([&](vk::CommandBuffer commands) {
        begin_with_background(commands, *render_pass, *framebuffer, extent);
        draw(commands);
        commands.endRenderPass();
    });
    return to_picture(gpu.download(image, Layout::eTransferSrcOptimal, 4).data(), format, extent);
}

// ---- Swapchain

namespace {

constexpr std::uint64_t LONGEST_ACQUIRE_NANOSECONDS = 1'000'000'000;  // then show() is asked again

// Chooses a format that stores colours as they are, since the shaders encode them.
vk::SurfaceFormatKHR choose_format(vk::PhysicalDevice device, vk::SurfaceKHR surface) {
    const auto formats = device.getSurfaceFormatsKHR(surface);
    for (const vk::Format wanted : {vk::Format::eB8G8R8A8Unorm, vk::Format::eR8G8B8A8Unorm}) {
        const auto found = std::ranges::find(formats, wanted, &vk::SurfaceFormatKHR::format);
        if (found != formats.end()) {
            return *found;
        }
    }
    throw std::runtime_error(
        "the window system takes no pictures of 8 bits per channel from this device; --screenshot "
        "draws without a window");
}

std::uint32_t choose_image_count(const vk::SurfaceCapabilitiesKHR& surface) {
    const std::uint32_t wanted = surface.minImageCount + 1;
    return surface.maxImageCount == 0 ? wanted : std::min(wanted, surface.maxImageCount);
}

}  // namespace

Swapchain::Swapchain(Gpu& gpu, vk::SurfaceKHR surface, vk::Extent2D extent)
    : gpu_(gpu),
      surface_(surface),
      format_(choose_format(gpu.physical_device(), surface)),
      render_pass_(make_render_pass(gpu.device(), format_.format, vk::ImageLayout::ePresentSrcKHR)),
      command_pool_(gpu.device().createCommandPoolUnique(
          {.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
           .queueFamilyIndex = gpu.queue_family()})) {
    for (Frame& frame : frames_) {
        frame.commands = std::move(gpu.device().allocateCommandBuffersUnique(
            {.commandPool = *command_pool_, .commandBufferCount = 1})[0]);
        frame.acquired = gpu.device().createSemaphoreUnique({});
        frame.done = gpu.device().createFenceUnique({.flags = vk::FenceCreateFlagBits::eSignaled});
    }
    resize(extent);
}

Swapchain::~Swapchain() {
    gpu_.wait_idle();
}

void Swapchain::resize(vk::Extent2D extent) {
    gpu_.wait_idle();
    const auto surface = gpu_.physical_device().getSurfaceCapabilitiesKHR(surface_);
    constexpr std::uint32_t AS_THE_SWAPCHAIN = 0xffffffffU;
    extent_ = surface.currentExtent;
    if (extent_.width == AS_THE_SWAPCHAIN) {
        const auto& [least, most] = std::pair(surface.minImageExtent, surface.maxImageExtent);
        extent_ = vk::Extent2D{std::clamp(extent.width, least.width, most.width),
                               std::clamp(extent.height, least.height, most.height)};
    }
    if (extent_.width == 0 || extent_.height == 0) {
        return;  // minimised in the meantime: show() must not be called before the next resize()
    }
    images_.clear();
    swapchain_ = gpu_.device().createSwapchainKHRUnique(
        {.surface = surface_,
         .minImageCount = choose_image_count(surface),
         .imageFormat = format_.format,
         .imageColorSpace = format_.colorSpace,
         .imageExtent = extent_,
         .imageArrayLayers = 1,
         .imageUsage = vk::ImageUsageFlagBits::eColorAttachment,
         .imageSharingMode = vk::SharingMode::eExclusive,
         .preTransform = surface.currentTransform,
         .compositeAlpha = vk::CompositeAlphaFlagBitsKHR::eOpaque,
         .presentMode = vk::PresentModeKHR::eFifo,
         .clipped = VK_TRUE,
         .oldSwapchain = *swapchain_});
    make_images();
}

void Swapchain::make_images() {
    const vk::Device device = gpu_.device();
    for (const vk::Image image : device.getSwapchainImagesKHR(*swapchain_)) {
        PresentedImage presented;
        presented.view = device.createImageViewUnique({.image = image,
                                                       .viewType = vk::ImageViewType::e2D,
                                                       .format = format_.format,
                                                       .subresourceRange = COLOUR_RANGE});
        presented.framebuffer =
            gpu_.make_framebuffer(*render_pass_, extent_, std::array{*presented.view});
        presented.drawn = device.createSemaphoreUnique({});
        images_.push_back(std::move(presented));
    }
}

bool Swapchain::show(const std::function<void(vk::CommandBuffer)>& draw) try {
    const Frame& frame = frames_[frame_];
    gpu_.wait(*frame.done);
    const auto [acquired, index] = gpu_.device().acquireNextImageKHR(
        *swapchain_, LONGEST_ACQUIRE_NANOSECONDS, *frame.acquired);
    if (acquired == vk::Result::eTimeout) {
        return false;
    }
    const PresentedImage& image = images_[index];
    gpu_.device().resetFences(*frame.done);
    frame.commands->begin(
        vk::CommandBufferBeginInfo{.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    begin_with_background(*frame.commands, *render_pass_, *image.framebuffer, extent_);
    draw(*frame.commands);
    frame.commands->endRenderPass();
    frame.commands->end();

    const vk::PipelineStageFlags wait_stage = vk::PipelineStageFlagBits::eColorAttachmentOutput;
    gpu_.queue().submit(vk::SubmitInfo{.pWaitDstStageMask = &wait_stage}
                            .setWaitSemaphores(*frame.acquired)
                            .setCommandBuffers(*frame.commands)
                            .setSignalSemaphores(*image.drawn),
                        *frame.done);
    frame_ = (frame_ + 1) % FRAMES_IN_FLIGHT;
    const vk::Result presented = gpu_.queue().presentKHR(vk::PresentInfoKHR{.pImageIndices = &index}
                                                             .setWaitSemaphores(*image.drawn)
                                                             .setSwapchains(*swapchain_));
    return acquired == vk::Result::eSuccess && presented == vk::Result::eSuccess;
} catch (const vk::OutOfDateKHRError&) {
    return false;
}

}  // namespace quadtile::app
