#include "offscreen.hpp"

#include "render_pass.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quadtile::app {

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
    const auto framebuffer = gpu.device().createFramebufferUnique(vk::FramebufferCreateInfo{
        .renderPass = *render_pass, .width = extent.width, .height = extent.height, .layers = 1}
                                                                      .setAttachments(*image.view));
    const Buffer buffer =
        gpu.make_buffer(vk::DeviceSize{4} * extent.width * extent.height,
                        vk::BufferUsageFlagBits::eTransferDst, MemoryUse::readback);
    gpu.run([&](vk::CommandBuffer commands) {
        const vk::ClearValue background{.color = {BACKGROUND}};
        commands.beginRenderPass(vk::RenderPassBeginInfo{.renderPass = *render_pass,
                                                         .framebuffer = *framebuffer,
                                                         .renderArea = {.extent = extent}}
                                     .setClearValues(background),
                                 vk::SubpassContents::eInline);
        draw(commands);
        commands.endRenderPass();
        const vk::BufferImageCopy whole{
            .imageSubresource = {.aspectMask = vk::ImageAspectFlagBits::eColor, .layerCount = 1},
            .imageExtent = {extent.width, extent.height, 1}};
        commands.copyImageToBuffer(*image.handle, Layout::eTransferSrcOptimal, *buffer.handle,
                                   whole);
        memory_barrier(commands,
                       {vk::PipelineStageFlagBits::eTransfer, vk::AccessFlagBits::eTransferWrite},
                       HOST_READS);
    });
    return to_picture(buffer.mapped, format, extent);
}

}  // namespace quadtile::app
