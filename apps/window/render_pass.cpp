#include "render_pass.hpp"

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
    // Before: the semaphore of a swapchain's image, or the copy of the last picture. After: such a
    // copy.
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

}  // namespace quadtile::app
