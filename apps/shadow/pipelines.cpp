#include "pipelines.hpp"

#include "geometry.hpp"

#include <array>
#include <cstddef>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;

constexpr auto DEPTH_STAGES = Stage::eEarlyFragmentTests | Stage::eLateFragmentTests;
constexpr auto DEPTH_ACCESSES =
    Access::eDepthStencilAttachmentRead | Access::eDepthStencilAttachmentWrite;

vk::AttachmentDescription cleared(vk::Format format, Layout final_layout) {
    return {.format = format,
            .loadOp = vk::AttachmentLoadOp::eClear,
            .storeOp = vk::AttachmentStoreOp::eStore,
            .stencilLoadOp = vk::AttachmentLoadOp::eDontCare,
            .stencilStoreOp = vk::AttachmentStoreOp::eDontCare,
            .initialLayout = Layout::eUndefined,
            .finalLayout = final_layout};
}

constexpr vk::VertexInputBindingDescription VERTEX{.stride = sizeof(Vertex)};
constexpr std::array<vk::VertexInputAttributeDescription, 2> ATTRIBUTES{
    {{.location = 0, .format = vk::Format::eR32G32B32Sfloat, .offset = offsetof(Vertex, position)},
     {.location = 1, .format = vk::Format::eR8G8B8A8Unorm, .offset = offsetof(Vertex, colour)}}};

}  // namespace

vk::UniqueRenderPass make_surface_pass(vk::Device device) {
    const std::array attachments{cleared(DEPTH_FORMAT, Layout::eDepthStencilReadOnlyOptimal),
                                 cleared(ALBEDO_FORMAT, Layout::eGeneral),
                                 cleared(NORMAL_FORMAT, Layout::eGeneral)};
    const vk::AttachmentReference depth{0, Layout::eDepthStencilAttachmentOptimal};
    const std::array<vk::AttachmentReference, 2> colours{
        {{1, Layout::eColorAttachmentOptimal}, {2, Layout::eColorAttachmentOptimal}}};
    const auto subpass =
        vk::SubpassDescription{.pDepthStencilAttachment = &depth}.setColorAttachments(colours);
    const auto stages = DEPTH_STAGES | Stage::eColorAttachmentOutput;
    const auto writes = Access::eDepthStencilAttachmentWrite | Access::eColorAttachmentWrite;
    const std::array<vk::SubpassDependency, 2> dependencies{
        {{.srcSubpass = VK_SUBPASS_EXTERNAL,
          .dstSubpass = 0,
          .srcStageMask = stages | Stage::eComputeShader | Stage::eTransfer,
          .dstStageMask = stages,
          .srcAccessMask = writes,
          .dstAccessMask = writes | Access::eDepthStencilAttachmentRead},
         {.srcSubpass = 0,
          .dstSubpass = VK_SUBPASS_EXTERNAL,
          .srcStageMask = stages,
          .dstStageMask = Stage::eComputeShader,
          .srcAccessMask = writes,
          .dstAccessMask = Access::eShaderRead}}};
    return device.createRenderPassUnique(vk::RenderPassCreateInfo{}
                                             .setAttachments(attachments)
                                             .setSubpasses(subpass)
                                             .setDependencies(dependencies));
}

vk::UniqueRenderPass make_atlas_pass(vk::Device device, AtlasContents contents) {
    vk::AttachmentDescription attachment =
        cleared(DEPTH_FORMAT, Layout::eDepthStencilReadOnlyOptimal);
    if (contents == AtlasContents::kept) {
        attachment.loadOp = vk::AttachmentLoadOp::eLoad;
        attachment.initialLayout = Layout::eDepthStencilReadOnlyOptimal;
    }
    const vk::AttachmentReference depth{0, Layout::eDepthStencilAttachmentOptimal};
    const vk::SubpassDescription subpass{.pDepthStencilAttachment = &depth};
    const std::array<vk::SubpassDependency, 2> dependencies{
        {{.srcSubpass = VK_SUBPASS_EXTERNAL,
          .dstSubpass = 0,
          .srcStageMask = DEPTH_STAGES | Stage::eComputeShader,
          .dstStageMask = DEPTH_STAGES,
          .srcAccessMask = Access::eDepthStencilAttachmentWrite,
          .dstAccessMask = DEPTH_ACCESSES},
         {.srcSubpass = 0,
          .dstSubpass = VK_SUBPASS_EXTERNAL,
          .srcStageMask = DEPTH_STAGES,
          .dstStageMask = Stage::eComputeShader | Stage::eFragmentShader,
          .srcAccessMask = Access::eDepthStencilAttachmentWrite,
          .dstAccessMask = Access::eShaderRead}}};
    return device.createRenderPassUnique(vk::RenderPassCreateInfo{}
                                             .setAttachments(attachment)
                                             .setSubpasses(subpass)
                                             .setDependencies(dependencies));
}

vk::PipelineVertexInputStateCreateInfo vertices_with(std::uint32_t attributes) {
    return {.vertexBindingDescriptionCount = 1,
            .pVertexBindingDescriptions = &VERTEX,
            .vertexAttributeDescriptionCount = attributes,
            .pVertexAttributeDescriptions = ATTRIBUTES.data()};
}

}  // namespace quadtile::shadow
