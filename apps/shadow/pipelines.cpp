#include "pipelines.hpp"

#include "geometry.hpp"

#include <array>
#include <cstddef>
#include <vector>

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

vk::UniqueShaderModule make_shader(vk::Device device, app::SpirV words) {
    return device.createShaderModuleUnique({.codeSize = words.size_bytes(), .pCode = words.data()});
}

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

vk::UniquePipeline make_pipeline(vk::Device device, vk::PipelineLayout layout,
                                 vk::RenderPass render_pass, const DrawState& state) {
    std::vector<vk::UniqueShaderModule> modules;
    std::vector<vk::PipelineShaderStageCreateInfo> stages;
    const auto add_stage = [&](vk::ShaderStageFlagBits stage, app::SpirV words) {
        modules.push_back(make_shader(device, words));
        stages.push_back({.stage = stage, .module = *modules.back(), .pName = "main"});
    };
    add_stage(vk::ShaderStageFlagBits::eVertex, state.vertex_shader);
    if (!state.fragment_shader.empty()) {
        add_stage(vk::ShaderStageFlagBits::eFragment, state.fragment_shader);
    }

    const vk::VertexInputBindingDescription vertex{.stride = sizeof(Vertex)};
    const std::array<vk::VertexInputAttributeDescription, 2> attributes{
        {{.location = 0,
          .format = vk::Format::eR32G32B32Sfloat,
          .offset = offsetof(Vertex, position)},
         {.location = 1,
          .format = vk::Format::eR8G8B8A8Unorm,
          .offset = offsetof(Vertex, colour)}}};
    const bool has_vertices = state.vertex_attributes > 0;
    const vk::PipelineVertexInputStateCreateInfo input{
        .vertexBindingDescriptionCount = has_vertices ? 1U : 0U,
        .pVertexBindingDescriptions = &vertex,
        .vertexAttributeDescriptionCount = state.vertex_attributes,
        .pVertexAttributeDescriptions = attributes.data()};
    const vk::PipelineInputAssemblyStateCreateInfo assembly{
        .topology = has_vertices ? vk::PrimitiveTopology::eTriangleList
                                 : vk::PrimitiveTopology::eTriangleStrip};
    const vk::PipelineViewportStateCreateInfo viewport{.viewportCount = 1, .scissorCount = 1};
    const vk::PipelineRasterizationStateCreateInfo rasterization{
        .depthClampEnable = state.clamps_depth ? VK_TRUE : VK_FALSE, .lineWidth = 1.0F};
    const vk::PipelineMultisampleStateCreateInfo multisample{};
    const vk::PipelineDepthStencilStateCreateInfo depth{
        .depthTestEnable = VK_TRUE, .depthWriteEnable = VK_TRUE, .depthCompareOp = state.compare};
    using Component = vk::ColorComponentFlagBits;
    const std::vector<vk::PipelineColorBlendAttachmentState> blends(
        state.colours,
        {.colorWriteMask = Component::eR | Component::eG | Component::eB | Component::eA});
    const auto blend = vk::PipelineColorBlendStateCreateInfo{}.setAttachments(blends);
    const std::array dynamic_states{vk::DynamicState::eViewport, vk::DynamicState::eScissor};
    const auto dynamic = vk::PipelineDynamicStateCreateInfo{}.setDynamicStates(dynamic_states);
    const auto info = vk::GraphicsPipelineCreateInfo{.pVertexInputState = &input,
                                                     .pInputAssemblyState = &assembly,
                                                     .pViewportState = &viewport,
                                                     .pRasterizationState = &rasterization,
                                                     .pMultisampleState = &multisample,
                                                     .pDepthStencilState = &depth,
                                                     .pColorBlendState = &blend,
                                                     .pDynamicState = &dynamic,
                                                     .layout = layout,
                                                     .renderPass = render_pass}
                          .setStages(stages);
    return device.createGraphicsPipelineUnique({}, info).value;
}

}  // namespace quadtile::shadow
