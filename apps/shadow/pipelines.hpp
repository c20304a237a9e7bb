// Render passes and vertices for what is drawn with a depth buffer.

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

// Vertices for DrawState, with 1: Vertex::position; 2: colour, too.
[[nodiscard]] vk::PipelineVertexInputStateCreateInfo vertices_with(std::uint32_t attributes);

}  // namespace quadtile::shadow
