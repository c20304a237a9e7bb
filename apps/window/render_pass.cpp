#include "render_pass.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quadtile::app {

vk::UniqueRenderPass make_render_pass(vk::Device device, vk::Format format,
                                      vk::ImageLayout final_layout) {
    const vk::AttachmentDescription colour{.format = format,
                                           .loadOp = vk::AttachmentLoadOp::eClear,
                                           .storeOp = vk::AttachmentStoreOp::eStore,
                                           .stencilLoadOp = vk::AttachmentLoadOp::eDontCare,
                                           .stencilStoreOp = vk::AttachmentStoreOp::eDontCare,
                                           .finalLayout = final_layout};
    const vk::AttachmentReference reference{.layout = vk::ImageLayout::eColorAttachmentOptimal};
    const vk::SubpassDescription subpass{.colorAttachmentCount = 1,
                                         .pColorAttachments = &reference};
    using Access = vk::AccessFlagBits;
    using PipelineStage = vk::PipelineStageFlagBits;
    // Before the pass: the semaphore of a swapchain's image, or the copy of the last picture. After
    // it: the copy of this picture.
    const std::array<vk::SubpassDependency, 2> dependencies{
        {{.srcSubpass = VK_SUBPASS_EXTERNAL,
          .dstSubpass = 0,
          .srcStageMask = PipelineStage::eColorAttachmentOutput | PipelineStage::eTransfer,
          .dstStageMask = PipelineStage::eColorAttachmentOutput,
          .srcAccessMask = Access::eColorAttachmentWrite,
          .dstAccessMask = Access::eColorAttachmentWrite},
         {.srcSubpass = 0,
          .dstSubpass = VK_SUBPASS_EXTERNAL,
          .srcStageMask = PipelineStage::eColorAttachmentOutput,
          .dstStageMask = PipelineStage::eTransfer,
          .srcAccessMask = Access::eColorAttachmentWrite,
          .dstAccessMask = Access::eTransferRead}}};
    return device.createRenderPassUnique(
        vk::RenderPassCreateInfo{}.setAttachments(colour).setSubpasses(subpass).setDependencies(
            dependencies));
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

}  // namespace quadtile::app
