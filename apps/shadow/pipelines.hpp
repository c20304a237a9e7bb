// Render passes and pipelines for what is drawn with a depth buffer.

#pragma once

#include "gpu.hpp"

namespace quadtile::shadow {

constexpr vk::Format DEPTH_FORMAT = vk::Format::eD32Sfloat;
constexpr vk::Format ALBEDO_FORMAT = vk::Format::eR8G8B8A8Unorm;
constexpr vk::Format NORMAL_FORMAT = vk::Format::eR16G16B16A16Sfloat;

// The camera's view: depth, albedo, normals; all cleared. Left in the layouts of Pictures, and
// visible to COMPUTE_SHADER / SHADER_READ.
[[nodiscard]] vk::UniqueRenderPass make_surface_pass(vk::Device device);

// Depths of shadow maps: cleared, or what is there is kept. Left and, where it is kept, found in
// DEPTH_STENCIL_READ_ONLY_OPTIMAL; visible to COMPUTE_SHADER and FRAGMENT_SHADER / SHADER_READ. All
// that is read of it before must have been ordered before COMPUTE_SHADER.
enum class AtlasContents { cleared, kept };
[[nodiscard]] vk::UniqueRenderPass make_atlas_pass(vk::Device device, AtlasContents contents);

// How something is drawn, from both sides.
struct DrawState {
    app::SpirV vertex_shader;
    app::SpirV fragment_shader;           // none: depth alone
    std::uint32_t vertex_attributes = 0;  // 1: Vertex::position; 2: colour, too; 0: a strip of none
    std::uint32_t colours = 0;            // that are written
    vk::CompareOp compare = vk::CompareOp::eLess;
    bool clamps_depth = false;  // else what is nearer or farther is cut off
};
// Viewport and scissor are dynamic.
[[nodiscard]] vk::UniquePipeline make_pipeline(vk::Device device, vk::PipelineLayout layout,
                                               vk::RenderPass render_pass, const DrawState& state);

}  // namespace quadtile::shadow
